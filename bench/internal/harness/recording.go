//go:build linux

package harness

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// WriteLong writes a recording of about so many bytes, made of a sample: its header, its records
// many times, and its end. The sample is a compressed teehistorian that begins and ends with nobody
// connected, or a log of NetHack. Others are copied.
func WriteLong(name, sample string, size int64) error {
	b, err := os.ReadFile(sample)
	if filepath.Ext(sample) == ".xz" && err == nil {
		b, err = exec.Command("xz", "-dc", sample).Output()
	}
	if err != nil {
		return err
	}
	head, end := 0, len(b)
	switch filepath.Ext(name) {
	case ".teehistorian":
		const magic = 16
		head, end = magic+bytes.IndexByte(b[magic:], 0)+1, len(b)-1
	case ".nhgame":
		for range 3 {
			head += bytes.IndexByte(b[head:], '\n') + 1
		}
		end = bytes.LastIndexByte(b, '\n') + 1
	default:
		size = 0
	}
	return Create(name, func(w io.Writer) error {
		_, err := w.Write(b[:head])
		for n := max(size/int64(end-head), 1); n > 0 && err == nil; n-- {
			_, err = w.Write(b[head:end])
		}
		if err == nil {
			_, err = w.Write(b[end:])
		}
		return err
	})
}
