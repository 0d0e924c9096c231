package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"recfs/cache"
	"recfs/formats/source/remote"
)

// mountStats is .recfs/stats.json.
type mountStats struct {
	Source      string            `json:"source"`
	SourceHex   string            `json:"source_hex,omitempty"` // if Source is not UTF-8; so are LogHex and CacheDirHex
	Since       time.Time         `json:"since"`
	Operations  map[string]uint64 `json:"operations"`
	Errors      uint64            `json:"errors"`
	BytesServed uint64            `json:"bytes_served"`
	BytesRead   int64             `json:"bytes_read"` // of sources
	Cache       cache.Stats       `json:"cache"`
	Memory      memoryStats       `json:"memory"`
	Nodes       int               `json:"nodes"`
	OpenFiles   int               `json:"open_files"`
	Problems    int               `json:"problems"`
	Log         string            `json:"log"` // a file, syslog or stderr
	LogHex      string            `json:"log_hex,omitempty"`
	CacheDir    string            `json:"cache_dir"` // "": nothing is kept on disk
	CacheDirHex string            `json:"cache_dir_hex,omitempty"`
	Remote      []remote.Stats    `json:"remote"` // of each server
}

type memoryStats struct {
	Heap       uint64 `json:"heap"`
	System     uint64 `json:"system"`
	Goroutines int    `json:"goroutines"`
}

// readStats returns what the mount at dir, or the server of that address, tells of itself, and the
// same as text.
func readStats(dir string) (mountStats, []byte, error) {
	if isServed(dir) {
		return readServerStats(dir)
	}
	var s mountStats
	text, err := os.ReadFile(filepath.Join(dir, controlName, "stats.json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, text, err
}
