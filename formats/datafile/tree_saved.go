package datafile

import (
	"context"
	"strconv"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

// smallIndex is how much data a file must announce for its problems to be kept on disk: less is
// inflated as fast as a file is opened.
const smallIndex = 8 << 20

// A findings is the problems of index.json, and the bytes that they were found in.
type findings struct {
	problems problemList
	seal     formats.Seal
}

// problems remembers the problems of index.json, on disk if they take a while to find.
func (v *view) problems() *cache.Memo[struct{}, findings] {
	encode := func(f findings) []byte { return f.encode() }
	return cache.NewMemo(v.cache, v.findProblems).Durable(v.indexName, encode, v.resumeIndex)
}

// indexName has the limit of data items, on which the problems depend.
func (v *view) indexName(struct{}) string {
	size := int64(0)
	for _, d := range v.r.Data {
		size += d.Size
	}
	if size < smallIndex {
		return ""
	}
	return v.src.IndexName(formatName, strconv.FormatInt(v.r.MaxData, 10))
}

// encode returns what is kept on disk.
//
//	| head | count | problem … |
func (f findings) encode() []byte {
	w := indexfile.NewWriter(f.seal, 2*indexfile.HeadSize)
	w.Count(len(f.problems))
	for i := range f.problems {
		w.Problem(&f.problems[i])
	}
	return w.Bytes()
}

// decodeFindings reads what encode wrote.
func decodeFindings(saved []byte) (findings, error) {
	r, seal := indexfile.Open(formatName, saved)
	f := findings{make(problemList, r.Count(indexfile.MinProblem)), seal}
	for i := range f.problems {
		f.problems[i] = r.Problem()
	}
	return f, r.Close()
}

// resumeIndex uses the saved problems if the file is the one that they were found in.
func (v *view) resumeIndex(ctx context.Context, _ struct{}, saved []byte) (findings, int64, error) {
	f, err := decodeFindings(saved)
	if err != nil {
		return findings{}, 0, err
	}
	fit, _, err := f.seal.Fit(ctx, v.src)
	if err != nil {
		return findings{}, 0, err
	}
	if fit != formats.Same {
		return findings{}, 0, formats.ErrOther
	}
	f.seal.Stamp = v.src.Stamp
	return f, f.problems.cost(), nil
}
