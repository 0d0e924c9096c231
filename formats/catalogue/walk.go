package catalogue

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"recfs/formats/internal/ledger"
)

const (
	patience  = 250 * time.Millisecond // with which somebody waits for all that is there now
	haste     = 20 * time.Millisecond  // the same in a large archive, of which enough is known
	lingering = 10 * time.Second       // for which a walk goes on that nobody asks about any more
)

// A walker looks through an archive while queries are answered with what is known already.
type walker struct {
	mu   sync.Mutex
	walk *walk // nil: none is under way
}

// A walk looks at what is in an archive once.
type walk struct {
	done  chan struct{}
	s     *survey // once it is done
	err   error
	sofar atomic.Pointer[partial]
	idle  *time.Timer
	end   context.CancelFunc
}

// A partial is what a walk has found so far.
type partial struct {
	list *ledger.List
	rest []ledger.Record // behind the list
}
