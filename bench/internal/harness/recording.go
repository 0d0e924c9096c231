package harness

import (
	"bytes"
	"errors"
	"io"
	"os"

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

// WriteLong writes a teehistorian of about so many bytes, and returns how many they are: the header of
// sample, which begins and ends with nobody connected, its records many times, and FINISH.
func WriteLong(name string, sample []byte, size int64) (written int64, err error) {
	const magic = 16
	start := magic + bytes.IndexByte(sample[magic:], 0) + 1
	body, finish := sample[start:len(sample)-1], sample[len(sample)-1:]
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	write := func(b []byte) {
		if err == nil {
			_, err = f.Write(b)
			written += int64(len(b))
		}
	}
	write(sample[:start])
	for n := size / int64(len(body)); n > 0; n-- {
		write(body)
	}
	write(finish)
	if err == nil {
		err = f.Sync()
	}
	return written, err
}
