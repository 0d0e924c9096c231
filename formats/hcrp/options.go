package hcrp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// Options say how recordings are opened. The zero value works.
type Options struct {
	Schemas  []*Schema        // event schemas, in the order in which they are tried
	DictDirs []formats.Folder // directories with dictionaries, searched before those beside the recording
	Limits   Limits

	zstd *wire.Zstd // shared by recordings without a dictionary; nil: each has its own
}

// variant tells apart options that make different trees of a recording.
func (o Options) variant() string {
	h := sha256.New()
	fmt.Fprintln(h, o.Limits, o.DictDirs)
	for _, s := range o.Schemas {
		h.Write(s.sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Limits bound what a recording can make its reader do. Zero means the default.
type Limits struct {
	Metadata int64 // bytes; 16 MiB
	Index    int64 // bytes; 64 MiB
	Body     int64 // decompressed bytes of one chunk; 64 MiB
	Window   int64 // bytes of a zstd window; 64 MiB
	Depth    int   // of NBT; 512
	String   int   // bytes; 16 MiB
	Text     int   // JSON that one chunk may give; 256 MiB
}

func (l Limits) withDefaults() Limits {
	l.Metadata = cmp.Or(l.Metadata, 16<<20)
	l.Index = cmp.Or(l.Index, 64<<20)
	l.Body = cmp.Or(l.Body, 64<<20)
	l.Window = cmp.Or(l.Window, 64<<20)
	l.Depth = cmp.Or(l.Depth, 512)
	l.String = cmp.Or(l.String, 16<<20)
	l.Text = min(cmp.Or(l.Text, 256<<20), math.MaxInt32) // a span holds that and one more string
	return l
}
