package remote

import (
	"log/slog"

	"recfs/cache"
)

// newServer returns a server that nobody has asked yet.
func newServer(p protocol, cl *client, c *cache.Cache, opt Options) *Server {
	s := &Server{
		protocol: p, client: cl, turns: turns{ttl: opt.TTL}, log: opt.Log,
		latest: cache.NewRecent[string, int64](maxLatest), singles: cache.NewRecent[string, int](maxLatest),
		told: cache.NewRecent[string, int](maxLatest), wholes: newWholes(), aheads: map[lookKey]bool{}, maxListing: 1 << 30,
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.lists = cache.NewMemo(c, s.loadList)
	s.looks = cache.NewMemo(c, s.loadLook)
	s.objects = cache.NewMemo[blockKey, []byte](c, nil)
	s.fetches = newFetches(c)
	return s
}
