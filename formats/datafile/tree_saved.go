package datafile

import (
	"context"
	"encoding/json"

	"recfs/cache"
	"recfs/formats"
)

// smallIndex is how much data a file must announce for its problems to be
// kept on disk: less is inflated as fast as a file is opened.
const smallIndex = 8 << 20

// indexRevision is raised whenever a scan of the same file would find other
// problems or say them in other words, or they are saved in another form.
const indexRevision = 3

// A findings is the problems of index.json, and the bytes that they were found in.
type findings struct {
	problems problemList
	seal     formats.Seal
}

// A savedIndex is what is kept on disk of a scan. Everything in front of the
// problems must fit for them to be true again.
type savedIndex struct {
	Revision int
	Seal     formats.Seal
	MaxData  int64
	Problems problemList
}

// problems remembers the problems of index.json, on disk if they take a while to find.
func (v *view) problems() *cache.Memo[struct{}, findings] {
	return cache.NewMemo(v.cache, v.findProblems).Durable(v.indexName, v.encodeIndex, v.decodeIndex)
}

func (v *view) indexName(struct{}) string {
	size := int64(0)
	for _, d := range v.r.Data {
		size += d.Size
	}
	if v.src.ID == "" || size < smallIndex {
		return ""
	}
	return v.src.ID + "/" + formatName
}

func (v *view) encodeIndex(f findings) []byte {
	b, err := json.Marshal(savedIndex{indexRevision, f.seal, v.r.MaxData, f.problems})
	if err != nil {
		return nil
	}
	return b
}

func (v *view) decodeIndex(ctx context.Context, _ struct{}, b []byte) (findings, int64, error) {
	var saved savedIndex
	if err := json.Unmarshal(b, &saved); err != nil {
		return findings{}, 0, err
	}
	if saved.Revision != indexRevision || saved.MaxData != v.r.MaxData {
		return findings{}, 0, formats.ErrOther
	}
	fit, _, err := saved.Seal.Fit(ctx, v.src)
	if err != nil {
		return findings{}, 0, err
	}
	if fit != formats.Same {
		return findings{}, 0, formats.ErrOther
	}
	saved.Seal.Stamp = v.src.Stamp
	return findings{saved.Problems, saved.Seal}, saved.Problems.cost(), nil
}
