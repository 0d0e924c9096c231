package hcrp

import (
	"context"
	"fmt"

	"recfs/nodes"
)

// trackList returns tracks/.
func (rec *recording) trackList(x *index) nodes.Dir {
	var entries []nodes.Entry
	for i := range x.tracks {
		t := &x.tracks[i]
		name := fmt.Sprintf("entity-%d.csv", t.Entity)
		if t.Life > 1 {
			name = fmt.Sprintf("entity-%d-%d.csv", t.Entity, t.Life)
		}
		entries = append(entries, nodes.Entry{Name: name, File: rec.rowsFile(t.Bytes()+int64(len(trackHead)), func(th *playback) nodes.Content { return th.track(t) })})
	}
	return nodes.List(entries...)
}

// rowsFile is a CSV file of rows made from the index.
func (rec *recording) rowsFile(size int64, content func(*playback) nodes.Content) nodes.File {
	return nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) {
		s, err := rec.index(ctx)
		if err != nil {
			return nil, err
		}
		return content(rec.playback(s)), nil
	})
}

// markersText returns markers.json.
func (rec *recording) markersText(ctx context.Context) ([]byte, error) {
	s, err := rec.index(ctx)
	if err != nil {
		return nil, err
	}
	if limit := rec.Reader.limits.Text; len(s.index.markers) > limit {
		return nil, fmt.Errorf("the markers are more than %d bytes long", limit)
	}
	b := append([]byte(`{"markers":[`), s.index.markers...)
	return document(append(b, ']', '}')), nil
}
