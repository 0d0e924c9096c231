package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"runtime"
	"sync/atomic"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source/remote"
	"recfs/fs"
	"recfs/fs/web"
	"recfs/nodes"
)

// A monitor knows how a mount is doing.
type monitor struct {
	source    string
	since     time.Time
	archive   *archive
	bytesRead atomic.Int64
	server    atomic.Pointer[fs.Server] // nil until it is mounted
	web       atomic.Pointer[web.Server]
}

// newMonitor returns the monitor of a mount of source. It counts what a reads from now on.
func newMonitor(source string, a *archive) *monitor {
	m := &monitor{source: source, since: time.Now(), archive: a}
	a.options.OnRead = func(n int) { m.bytesRead.Add(int64(n)) }
	return m
}

// entry is .recfs.
func (m *monitor) entry() nodes.Entry {
	return nodes.Entry{Name: controlName, Attr: nodes.Attr{Time: m.since, Rights: nodes.Private(0o700)}, Dir: controlDir{nodes.Deferred[*monitor]{Target: m}}}
}

// Resolve returns the files of .recfs as they are now.
func (m *monitor) Resolve(context.Context) (nodes.Dir, error) {
	file := func(name string, content []byte) nodes.Entry {
		return nodes.Entry{Name: name, Attr: nodes.Attr{Time: time.Now(), Rights: nodes.Private(0o600)}, File: nodes.Bytes(content)}
	}
	problems, n := m.archive.records.problemLines()
	return nodes.List(file("stats.json", marshal(m.stats(n))), file("problems.jsonl", problems), file("version.json", marshal(version()))), nil
}

func (m *monitor) stats(problems int) mountStats {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	a := m.archive
	s := mountStats{
		Source: m.source, SourceHex: formats.HexOf(m.source), Since: m.since,
		BytesRead: m.bytesRead.Load(), Cache: a.cache.Stats(), Problems: problems,
		Log: a.logged, LogHex: formats.HexOf(a.logged),
		Remote: a.remoteStats(), Memory: memoryStats{memory.HeapAlloc, memory.Sys - memory.HeapReleased, runtime.NumGoroutine()},
	}
	if disk := a.options.Disk; disk != nil {
		s.CacheDir, s.CacheDirHex = disk.Dir(), formats.HexOf(disk.Dir())
	}
	if server := m.server.Load(); server != nil {
		served := server.Stats()
		s.Operations, s.Errors, s.BytesServed = served.Requests, served.Errors, served.Bytes
		s.Nodes, s.OpenFiles = served.Nodes, served.Contents
	}
	if server := m.web.Load(); server != nil {
		served := server.Stats()
		if s.Operations == nil {
			s.Operations = map[string]uint64{}
		}
		maps.Copy(s.Operations, served.Requests)
		s.Errors += served.Errors
		s.BytesServed += served.Bytes
	}
	return s
}

func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // into memory, of plain values
	return b.Bytes()
}

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

// controlName is the directory at the root of a mount that tells about the mount itself.
const controlName = ".recfs"

// A mountRoot is an archive with .recfs in it, which opens by name and is not listed.
type mountRoot struct {
	nodes.Volatile
	control nodes.Entry
}

func (r *mountRoot) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if name == r.control.Name {
		return r.control, nil
	}
	return r.Volatile.Lookup(ctx, name)
}

// A controlDir is .recfs: it makes the files as they are now, with their exact sizes, for each
// look-up and listing. It is equal to another of the same mount.
type controlDir struct{ nodes.Deferred[*monitor] }

// Lookup implements nodes.Volatile.
func (d controlDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	return nodes.Child(ctx, d.Deferred, name)
}

// Snapshot implements nodes.Volatile.
func (d controlDir) Snapshot(ctx context.Context) (nodes.Dir, error) { return d.Resolve(ctx) }
