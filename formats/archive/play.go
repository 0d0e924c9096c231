package archive

import (
	"context"

	"recfs/formats"
	"recfs/nodes/play"
)

var _ play.Source = recording{}

// Play implements play.Source.
func (r recording) Play(ctx context.Context) (play.Recording, error) {
	dir, err := r.tree(ctx)
	if err != nil {
		return nil, err
	}
	if b, ok := dir.(brokenDir); ok {
		return unplayed{r, b.problem}, nil
	}
	if s, ok := dir.(play.Source); ok {
		p, err := s.Play(ctx)
		return played{p, r}, err
	}
	return nil, nil
}

// A played recording tells what is known of any as well.
type played struct {
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

// An unplayed recording is one that does not open.
type unplayed struct {
	r recording
	formats.Problem
}

// About implements play.Recording.
func (p unplayed) About(context.Context) (*play.About, error) {
	no, one := false, int64(1)
	return &play.About{
		Status: play.Status{Format: p.r.format().Name, Complete: &no, Problems: &one, Error: &p.Message},
		Lanes:  []play.Lane{}, Marks: []play.Mark{},
	}, nil
}

// Frames implements play.Recording.
func (p unplayed) Frames(context.Context, int64, int) (*play.Block, error) {
	return nil, play.BadParameter("block")
}

// Events implements play.Recording.
func (p unplayed) Events(_ context.Context, q play.Query) (*play.Found, error) {
	return &play.Found{Rows: []play.Event{}, Searched: q.From}, nil
}

// Players implements play.Recording.
func (p unplayed) Players(context.Context, string, int, int) ([]play.Player, int, error) {
	return []play.Player{}, 0, nil
}
