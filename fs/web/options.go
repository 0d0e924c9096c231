package web

import (
	"io"
	"log/slog"

	"recfs/cache"
	"recfs/fs/web/page"
	"recfs/nodes"
)

// Options of a Server.
type Options struct {
	Root   nodes.Entry
	Hidden string // the name in the root that is not there
	Cache  *cache.Cache
	Build  string // tells apart programs that may show other bytes of one source

	Page        page.List // what the page lists; nil: there is no page
	DiffMaps    page.DiffMaps
	WebDAV      bool
	Hosts       []string // names of this server besides those of loopback
	Origins     []string // whose pages may read
	MaxRequests int      // at work at a time
	Log         *slog.Logger
	AccessLog   io.Writer // nil: none; it has one Write a line
}

// Secrets say who gets in.
type Secrets struct {
	Token string            // "": everybody
	Keys  map[string]string // secrets by access key, of the S3 endpoint; nil: everybody
}
