package catalogue

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/nodes"
)

const (
	patience  = 250 * time.Millisecond // with which somebody waits for all that is there now
	haste     = 20 * time.Millisecond  // the same where there are many, of which enough is known
	lingering = 10 * time.Second       // for which a walk goes on that nobody asks about any more
)

// A walker looks at what is in an archive while those who asked go on with what is known.
type walker struct {
	mu   sync.Mutex
	walk *walk // nil: none is under way
}

// A walk looks at what is in an archive once.
type walk struct {
	done  chan struct{}
	s     *survey // once it is done
	err   error
	sofar atomic.Pointer[Known]
	idle  *time.Timer
	end   context.CancelFunc
}

// known returns what is known of the archive now, or soon.
func (r *root) known(ctx context.Context) (*Known, error) {
	dir, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	if _, folder := archive.FolderOf(dir); !folder {
		return r.c.Known(ctx, dir)
	}
	w := r.ask(dir)
	last, wait := r.last.Load(), patience
	if last != nil && last.Len() >= manyRecords {
		wait = haste
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-w.done:
		if w.err != nil {
			return nil, w.err
		}
		return &Known{c: r.c, list: w.s.List}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	if last != nil {
		return &Known{c: r.c, list: last.List}, nil
	}
	return w.sofar.Load(), nil
}

// ask returns the walk that is under way, or else begins one.
func (r *root) ask(dir nodes.Dir) *walk {
	r.walker.mu.Lock()
	defer r.walker.mu.Unlock()
	if w := r.walker.walk; w != nil && w.idle.Reset(lingering) {
		return w
	}
	ctx, end := context.WithCancel(r.c.walking)
	w := &walk{done: make(chan struct{}), end: end, idle: time.AfterFunc(lingering, end)}
	w.sofar.Store(&Known{Walking: true, c: r.c, list: ledger.Load(nil, "", nil)})
	r.walker.walk = w
	r.c.walks.Go(func() {
		defer end()
		defer close(w.done)
		defer w.idle.Stop()
		w.s, w.err = r.surveyTelling(ctx, dir, func(list *ledger.List, rest []ledger.Record) {
			w.sofar.Store(&Known{true, r.c, list, rest})
		})
	})
	return w
}
