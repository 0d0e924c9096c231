package archive

import (
	"context"

	"recfs/nodes"
	"recfs/nodes/play"
)

// Tree implements nodes.Recording. What plays tells of itself what is known of any recording, too.
func (r recording) Tree(ctx context.Context) (nodes.Dir, error) {
	dir, err := r.tree(ctx)
	if p, ok := dir.(play.Recording); ok {
		dir = played{dir, p, r}
	}
	return dir, err
}

// A played is the directory of a recording that plays.
type played struct {
	nodes.Dir
	play.Recording
	r recording
}

// About implements play.Recording.
func (p played) About(ctx context.Context) (*play.About, error) {
	a, err := p.Recording.About(ctx)
	if err != nil {
		return nil, err
	}
	s, err := Recording{p.r}.Summary(ctx)
	if err != nil {
		return nil, err
	}
	b, problems := *a, int64(0)
	if s.Problems != nil {
		for range s.Problems {
			problems++
		}
	}
	b.Status = play.Status{Format: p.r.format().Name, Complete: &s.Complete, Finished: &s.Finished, Problems: &problems}
	return &b, nil
}
