package export

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	iofs "io/fs"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/parquet"
)

// Keys of the metadata of a file that say of what it was made.
const (
	pathKey  = "recfs.path"  // as in recordings.jsonl
	stampKey = "recfs.stamp" // of the recording, in hex
	sumKey   = "recfs.sum"   // bytes and checksum of the recording, where it is a file
	madeKey  = "recfs.made"  // by which version of this program, with which options and what beside the recording
)

// A line of the manifest of a part is a recording whose rows it has.
type line struct {
	Recording string `json:"recording"`
	Hex       string `json:"recording_hex,omitempty"` // of the path if that is not UTF-8
	Rows      int64  `json:"rows"`
	Stamp     string `json:"stamp"`
	Sum       string `json:"sum"`
	Made      string `json:"made"`
}

// path returns where the recording lies in the source.
func (l *line) path() string { return formats.ExactName(l.Recording, l.Hex) }

// size is about how many bytes the line has.
func (l *line) size() int {
	const keys = 100
	return len(l.Recording) + len(l.Hex) + len(l.Stamp) + len(l.Sum) + len(l.Made) + keys
}

// compareLines is the order of recordings in a part.
func compareLines(a, b *line) int {
	return cmp.Or(strings.Compare(a.Recording, b.Recording), strings.Compare(a.path(), b.path()))
}

// lineOf returns the line of a file with this metadata that has the rows of one recording.
func lineOf(m map[string]string) line {
	return line{Recording: m[pathKey], Stamp: m[stampKey], Sum: m[sumKey], Made: m[madeKey]}
}

// recordingOf returns the path of the recording of a file, by the name of the file and the path
// that its metadata shows to people.
func recordingOf(name, shown string) (at string, ok bool) {
	if parquet.EscapePath(shown) == name {
		return shown, iofs.ValidPath(shown)
	}
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if parts[i], ok = parquet.UnescapeName(p, i < len(parts)-1); !ok {
			return shown, false
		}
	}
	at = strings.Join(parts, "/")
	return at, string([]rune(at)) == shown
}

// maxManifest bounds a manifest, in bytes before compression.
const maxManifest = 64 << 20

// errAlien says that a file is no part that an export wrote.
var errAlien = errors.New("not written by recfs, left as it is")

// readManifest reads a manifest.
func readManifest(packed []byte) (lines []line, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	all := json.NewDecoder(io.LimitReader(z, maxManifest))
	for {
		var l line
		if err := all.Decode(&l); err == io.EOF {
			return lines, nil
		} else if err != nil {
			return nil, err
		}
		if n := len(lines); l.Rows < 0 || l.Recording == "" || len(l.Stamp) != 2*formats.StampSize || n > 0 && compareLines(&lines[n-1], &l) >= 0 {
			return nil, errAlien
		}
		if n := len(lines); n > 0 && l.Made == lines[n-1].Made {
			l.Made = lines[n-1].Made // one copy in memory
		}
		lines = append(lines, l)
	}
}

// manifest returns the manifest of lines.
func manifest(lines []line) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := json.NewEncoder(z)
	w.SetEscapeHTML(false)
	for i := range lines {
		if err := w.Encode(&lines[i]); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
