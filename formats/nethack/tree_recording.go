package nethack

import (
	"context"
	"fmt"

	"recfs/cache"
	"recfs/formats/views"
	"recfs/nodes"
)

// A recording is one opened log.
type recording struct {
	*views.Tree[index] // whose ReaderAt notices when the log is cut
	header             *header
	cache              *cache.Cache

	// Each Memo uses only those before it.
	listings  *cache.Memo[struct{}, *listing]
	saves     *cache.Memo[int, []byte]
	documents *cache.Memo[int64, []byte] // of states/
}

// littlePeak is what making a save or a document takes beside what is counted meanwhile.
const littlePeak = 32 << 10

// A listing is the directories that need no index.
type listing struct {
	*outline
	dirs [4]nodes.Dir
}

const (
	chunksDir = iota
	linesDir
	ticksDir
	statesDir
)

func (rec *recording) listing(dir int) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		l, err := rec.listings.Get(ctx, struct{}{})
		if err != nil {
			return nil, err
		}
		return l.dirs[dir], nil
	})
}

// indexed returns the index, which must have tick n.
func (rec *recording) indexed(ctx context.Context, n int) (*index, error) {
	x, err := rec.Index(ctx)
	if err == nil && n >= x.ticks.len() {
		err = fmt.Errorf("there is no tick %d: %w", n, nodes.ErrStale)
	}
	return x, err
}

// tickWork is what a save takes, or a state with its save, unless the save is a large one.
const tickWork = 1 << 20

// ofTick returns what get makes of a tick, with as much memory from the start as that mostly takes.
func (rec *recording) ofTick(ctx context.Context, get func(context.Context) ([]byte, error)) (b []byte, err error) {
	err = rec.cache.Do(ctx, tickWork, func(ctx context.Context) (err error) {
		b, err = get(ctx)
		return err
	})
	return b, err
}
