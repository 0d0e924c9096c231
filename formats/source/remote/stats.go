package remote

import "time"

// Stats are what was asked of a server, as stats.json tells it.
type Stats struct {
	Source   string `json:"source"`
	Requests struct {
		List  int64 `json:"list"`
		Head  int64 `json:"head"`
		Range int64 `json:"range"`
		Get   int64 `json:"get"`
		Put   int64 `json:"put"`
	} `json:"requests"`
	Bytes         int64      `json:"bytes"` // of all answers
	Retries       int64      `json:"retries"`
	Errors        int64      `json:"errors"`
	InFlight      int64      `json:"in_flight"`
	Blocks        int64      `json:"blocks"` // that came, kept or not
	BlockBytes    int64      `json:"block_bytes"`
	OldestListing float64    `json:"oldest_listing_seconds"`
	Unreachable   *time.Time `json:"unreachable_since"`
}

// Stats returns what was asked of the server until now.
func (s *Server) Stats() Stats {
	r := Stats{
		Source: s.url(""), Bytes: s.Bytes.Load(), Retries: s.Retries.Load(), Errors: s.Errors.Load(),
		InFlight: s.InFlight.Load(), Blocks: s.fetches.blocks.Load(), BlockBytes: s.fetches.bytes.Load(),
	}
	r.Requests.List, r.Requests.Head, r.Requests.Range = s.List.Load(), s.Head.Load(), s.Range.Load()
	r.Requests.Get, r.Requests.Put = s.Get.Load(), s.Put.Load()
	if listed := s.listed.Load(); listed != 0 {
		r.OldestListing = time.Since(time.UnixMilli(listed)).Round(time.Millisecond).Seconds()
	}
	if old := s.old.Load(); old != 0 {
		r.Unreachable = new(time.UnixMilli(old))
	}
	if o := s.outage.Load(); o != nil && (r.Unreachable == nil || o.since.Before(*r.Unreachable)) {
		r.Unreachable = &o.since
	}
	return r
}
