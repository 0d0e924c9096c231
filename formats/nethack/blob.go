package nethack

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/pierrec/lz4/v4"

	"recfs/formats/internal/wire"
)

// maxBlob bounds a decoded blob and a save. The largest games have saves of a few megabytes.
const maxBlob = 16 << 20

// maxExpansion is how many bytes one byte of an LZ4 block can stand for.
const maxExpansion = 255

// A compression is how the bytes of a blob are stored before base64.
type compression uint8

const (
	plain compression = iota
	zlibStream
	lz4Block
)

var compressionNames = [...]string{"none", "zlib", "lz4"}

func (c compression) String() string { return compressionNames[c] }

// compressionOf tells the compression of a blob by its first byte, whether it decodes or not.
func compressionOf(blob []byte) compression {
	if len(blob) > 0 {
		switch blob[0] {
		case '$':
			return zlibStream
		case '#':
			return lz4Block
		}
	}
	return plain
}

var (
	errBase64 = errors.New("the blob is not base64")
	errPrefix = errors.New("the blob has no length between its two marks")
)

// decodeBlob returns the bytes of a blob (docs/formats/nethack.md section 1.4), in whose place
// those of its base64 are written: a plain one is there.
func decodeBlob(blob []byte) (data []byte, err error) {
	kind := compressionOf(blob)
	size := int64(0)
	if kind != plain {
		if size, blob, err = blobSize(blob); err != nil {
			return nil, err
		}
	}
	raw, err := decodeBase64(blob)
	switch {
	case err != nil:
		return nil, err
	case kind == zlibStream:
		data, _, err = wire.Zlib(raw, size)
		return data, err
	case kind == lz4Block:
		return decodeLZ4(raw, size)
	}
	return raw, nil
}

// blobSize reads the $n$ or #n# in front of a compressed blob.
func blobSize(blob []byte) (size int64, rest []byte, err error) {
	i := 1
	for ; i < len(blob) && i <= 10 && '0' <= blob[i] && blob[i] <= '9'; i++ {
		size = 10*size + int64(blob[i]-'0')
	}
	if i == 1 || i == len(blob) || blob[i] != blob[0] {
		return 0, nil, errPrefix
	}
	if size > maxBlob {
		return 0, nil, fmt.Errorf("the blob claims %d bytes, more than %d", size, maxBlob)
	}
	return size, blob[i+1:], nil
}

// base64Step is how many characters are decoded at once, whole groups of four.
const base64Step = 4 << 10

// decodeBase64 decodes a text in its place.
func decodeBase64(text []byte) ([]byte, error) {
	var part [base64Step / 4 * 3]byte
	n := 0
	for rest := text; len(rest) > 0; {
		src := rest[:min(len(rest), base64Step)]
		rest = rest[len(src):]
		m, err := base64.StdEncoding.Decode(part[:], src)
		if err != nil || bytes.IndexByte(src, '\r') >= 0 || len(rest) > 0 && m < len(part) { // a decoder skips \r
			return nil, errBase64
		}
		n += copy(text[n:], part[:m])
	}
	return text[:n], nil
}

// decodeLZ4 expands one LZ4 block to exactly size bytes.
func decodeLZ4(src []byte, size int64) ([]byte, error) {
	if size > maxExpansion*int64(len(src)) {
		return nil, fmt.Errorf("%d bytes of LZ4 cannot be %d", len(src), size)
	}
	dst := make([]byte, size)
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, fmt.Errorf("the LZ4 block is damaged or longer than %d bytes", size)
	}
	if int64(n) != size {
		return nil, fmt.Errorf("the LZ4 block has %d bytes instead of %d", n, size)
	}
	return dst, nil
}
