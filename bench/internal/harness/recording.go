package harness

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/mikelolasagasti/xz"
)

// ReadXZ returns the content of an xz file.
func ReadXZ(name string) ([]byte, error) {
	stored, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r, err := xz.NewReader(bytes.NewReader(stored), 0)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// WriteLong writes a recording of about so many bytes, made of a sample: its header, its records
// many times, and its end. The sample is a compressed teehistorian that begins and ends with nobody
// connected, or a log of NetHack. Others are copied.
func WriteLong(name, sample string, size int64) error {
	b, head, tail, err := []byte(nil), 0, 0, error(nil)
	switch filepath.Ext(name) {
	case ".teehistorian":
		b, err = ReadXZ(sample)
		head, tail = headerSize(b), 1
	case ".nhgame":
		b, err = os.ReadFile(sample)
		for range 3 {
			head += bytes.IndexByte(b[head:], '\n') + 1
		}
		tail = len(b) - bytes.LastIndexByte(b, '\n') - 1
	default:
		if b, err = os.ReadFile(sample); err == nil {
			return os.WriteFile(name, b, 0o666)
		}
	}
	if err != nil {
		return err
	}
	body, end := b[head:len(b)-tail], b[len(b)-tail:]
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	parts := [][]byte{b[:head]}
	for n := max(size/int64(len(body)), 1); n > 0; n-- {
		parts = append(parts, body)
	}
	for _, part := range append(parts, end) {
		if _, err := f.Write(part); err != nil {
			return err
		}
	}
	return f.Sync()
}

// headerSize is how many bytes of a teehistorian stand before the first record.
func headerSize(recording []byte) int {
	const magic = 16
	if len(recording) < magic {
		return 0
	}
	return magic + bytes.IndexByte(recording[magic:], 0) + 1
}
