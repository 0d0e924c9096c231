package wire

import (
	"compress/bzip2"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"

	"recfs/formats"
)

// Explain returns err, with which a decompressor gave up, as one that says why in a sentence of
// ours, and wraps it. An error that has a sentence already is returned as it is.
func Explain(err error) error {
	reason, placed := (*formats.Reason)(nil), (*formats.Error)(nil)
	if err == nil || errors.As(err, &reason) || errors.As(err, &placed) {
		return err
	}
	return &formats.Reason{Kind: err, Msg: sentence(err)}
}

// What is said of several decompressors.
const (
	endsEarly     = "the compressed data ends too early"
	wrongChecksum = "the decompressed bytes do not have the checksum that is stored with them"
	noDictionary  = "it needs a dictionary that is not known"
	noSense       = "the compressed data makes no sense"
)

// sentences are those of the errors that decompressors name.
var sentences = []struct {
	err  error
	text string
}{
	{io.ErrUnexpectedEOF, endsEarly},
	{io.EOF, endsEarly},
	{zlib.ErrHeader, "there is no header of a zlib stream"},
	{zlib.ErrChecksum, wrongChecksum},
	{zlib.ErrDictionary, noDictionary},
	{gzip.ErrHeader, "there is no header of a gzip stream"},
	{gzip.ErrChecksum, wrongChecksum},
	{zstd.ErrMagicMismatch, "there is no header of a zstd frame"},
	{zstd.ErrCRCMismatch, wrongChecksum},
	{zstd.ErrUnknownDictionary, noDictionary},
	{zstd.ErrWindowSizeExceeded, "it needs more memory than it may have"},
	{zstd.ErrFrameSizeExceeded, "it is longer than its header says"},
	{zstd.ErrFrameSizeMismatch, "it is not as long as its header says"},
	{xz.ErrBuf, "the compressed data ends too early or makes no sense"},
	{xz.ErrFormat, "there is no header of an xz stream"},
	{xz.ErrMemlimit, "it needs more memory than it may have"},
	{xz.ErrOptions, "it was made with options of xz that are not supported"},
	{xz.ErrUnsupportedCheck, "it has a kind of checksum that is not supported"},
	{bzip2.StructuralError("block checksum mismatch"), wrongChecksum},
	{bzip2.StructuralError("file checksum mismatch"), wrongChecksum},
	{bzip2.StructuralError("bad magic value"), "there is no header of a bzip2 stream"},
	{bzip2.StructuralError("bad magic value found"), "there is no header of a bzip2 block"},
	{bzip2.StructuralError("deprecated randomized files"), "it is of an old kind of bzip2 that is not supported"},
}

// sentence says why a decompressor gave up. What it says itself of data that makes no sense is of
// use only to people who know its code.
func sentence(err error) string {
	for _, s := range sentences {
		if err == s.err { // not errors.Is: what wraps an end is about the end of a part
			return s.text
		}
	}
	return noSense
}
