package main

import (
	"context"
	"encoding/json"
	"io"
	iofs "io/fs"
	"time"

	"recfs/formats"
	"recfs/nodes"
)

// writeJSON prints v as one line of JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// A jsonPath is how --json tells a path (docs/tree/README.md section 2, JSON).
type jsonPath struct {
	Path    string `json:"path"`
	PathHex string `json:"path_hex,omitempty"` // if the path is not UTF-8
}

func newJSONPath(name string) jsonPath { return jsonPath{name, formats.HexOf(name)} }

// An entryLine is what --json prints of an entry.
type entryLine struct {
	jsonPath
	Type     string `json:"type"`             // file, directory or link
	Size     *int64 `json:"size"`             // bytes; null if it is no file or cannot be told
	Mode     string `json:"mode"`             // as ls -l shows it
	Modified string `json:"modified"`         // RFC 3339
	Target   string `json:"target,omitempty"` // of a link
	Error    string `json:"error,omitempty"`
}

// newEntryLine describes e, which is called name, without the size if that cannot be told.
func newEntryLine(ctx context.Context, name string, e nodes.Entry) (line entryLine, err error) {
	line = entryLine{
		jsonPath: newJSONPath(name), Type: typeName(e), Mode: modeOf(e),
		Modified: e.Time.UTC().Format(time.RFC3339Nano), Target: e.Link,
	}
	if e.File != nil {
		var size int64
		if size, err = e.File.Size(ctx); err == nil {
			line.Size = &size
		}
	}
	return line, err
}

// typeName is the word for what an entry is.
func typeName(e nodes.Entry) string {
	switch e.Type() {
	case iofs.ModeDir:
		return "directory"
	case iofs.ModeSymlink:
		return "link"
	}
	return "file"
}

// modeOf is type and permissions of an entry as ls(1) shows them.
func modeOf(e nodes.Entry) string {
	mode := []byte(e.Mode().String())
	if e.Type() == iofs.ModeSymlink {
		mode[0] = 'l'
	}
	return string(mode)
}
