package teehistorian

import (
	"bytes"
	"context"

	"recfs/nodes"
)

// A parted is a file that is made in parts, as that of a long recording takes more memory than its index.
type parted int

const (
	logParts     parted = iota // events.txt, a part for each group of lines
	playersParts               // players.json, one for each staysPerPart stays
)

// staysPerPart stays give some 80 KiB of text.
const staysPerPart = 256

// partsKept is how many parts of a file stay in memory behind the one that is read: it is mostly read from end to end, and
// then the kernel has its pages.
const partsKept = 8

// A partKey names a part of a file.
type partKey struct {
	file parted
	n    int
}

func (t *tree) partedFile(file parted) nodes.File {
	return nodes.Opened(func(ctx context.Context) (nodes.Content, error) {
		sizes, err := t.sizes.Get(ctx, file)
		if err != nil {
			return nil, err
		}
		p := nodes.NewPieces(func(ctx context.Context, n int) ([]byte, error) {
			t.parts.Drop(partKey{file, n - partsKept})
			return t.parts.Get(ctx, partKey{file, n})
		})
		for _, size := range sizes {
			p.Add(size)
		}
		return p, nil
	})
}

// loadPartSizes returns the sizes of the parts of a file, of events.txt up to the one that is held back.
func (t *tree) loadPartSizes(ctx context.Context, file parted) ([]int64, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	n := len(r.idx.lines)
	if file == playersParts {
		n = max(1, (len(r.idx.stays)+staysPerPart-1)/staysPerPart)
	}
	sizes := make([]int64, 0, n)
	for k, whole := 0, true; k < n && whole; k++ {
		var b []byte
		if b, whole, err = r.part(ctx, partKey{file, k}); err != nil {
			return nil, 0, err
		}
		sizes = append(sizes, int64(len(b)))
	}
	return sizes, int64(8 * cap(sizes)), ctx.Err()
}

func (t *tree) loadPart(ctx context.Context, k partKey) ([]byte, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	b, _, err := r.part(ctx, k)
	return b, int64(cap(b)), err
}

// part makes a part of a file. It is not whole if what follows it is held back.
func (r *recording) part(ctx context.Context, k partKey) (b []byte, whole bool, err error) {
	if k.file == logParts {
		return r.log(ctx, k.n)
	}
	b, err = r.players(k.n)
	return b, true, err
}

// players makes part n of players.json: the document of its stays, whose list goes on in the next part.
func (r *recording) players(n int) ([]byte, error) {
	first := n * staysPerPart
	end := min(first+staysPerPart, len(r.idx.stays))
	b, err := nodes.MarshalIndented(playersJSON(r, first, end))
	if err != nil {
		return nil, err
	}
	if end < len(r.idx.stays) {
		b = append(bytes.TrimSuffix(b, []byte("\n  ]\n}\n")), ',')
	}
	if first > 0 {
		b = bytes.TrimPrefix(b, []byte("{\n  \"players\": ["))
	}
	return b, nil
}
