package hcrp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	iofs "io/fs"

	"recfs/formats/internal/wire"
)

// Options tell how recordings are opened. The zero value works.
type Options struct {
	Schemas  []*Schema // event schemas, in the order in which they are tried
	DictDirs []iofs.FS // directories with dictionaries, searched before those beside the recording
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
