package archive

import (
	"context"
	"errors"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
	"recfs/nodes"
)

// A listed is a container with the list of what it holds.
type listed struct {
	*container.Members
	src      formats.Input
	problems []formats.Problem // by offset
	broken   nodes.Dir         // what is shown instead if it does not open
	saved    bool              // it lies on disk
}

// newLists returns the lists of containers. Those of tars, whose headers stand all over them, are kept on
// disk.
func (a *archive) newLists() *cache.Memo[containerKey, *listed] {
	return cache.NewMemo(a.cache, a.loadList).Durable(a.listName, (*listed).encode, a.resumeList).Eager().
		Peak(func(containerKey) int64 { return listWork })
}

// listWork is what it takes to open a container. Its list is charged as it grows.
const listWork = 512 << 10

// listName names the list of a container on disk; "": it is not kept. It is not for containers in containers,
// whose versions say too little to find them by, as the next container may hold another one of the same size
// and time.
func (a *archive) listName(k containerKey) string {
	if a.depth > 0 || k.c != container.Tar || k.v.Changed == 0 { // without a change time no stamp is the same
		return ""
	}
	if id := a.sourceID(k.path); id != "" {
		return id + "/" + k.c.Name
	}
	return ""
}

// savedListMin is how many members a list has that is kept: less is read faster
// than this is worth.
const savedListMin = 1000

// encode returns the list as it is kept, nil if it is not.
func (l *listed) encode() []byte {
	if l.saved || l.Members == nil || len(l.Problems) > 0 || l.Len() < savedListMin {
		return nil
	}
	return container.Encode(l.Members, l.src.Stamp)
}

// listLimit is how much memory the list of a container may take.
func (a *archive) listLimit() int64 { return max(a.cache.Budget()/2, container.MinList) }

var errOtherList = errors.New("the list is of something else")

// resumeList returns a list that was kept.
func (a *archive) resumeList(ctx context.Context, k containerKey, b []byte) (*listed, int64, error) {
	m := container.Decode(b, k.v.Stamp, a.listLimit())
	if m == nil {
		return nil, 0, errOtherList
	}
	u, reads := a.input(ctx, k.recordingKey)
	return a.listOf(ctx, k, u, reads, &listed{Members: m, saved: true})
}

// loadList returns the list of a container.
func (a *archive) loadList(ctx context.Context, k containerKey) (*listed, int64, error) {
	u, reads := a.input(ctx, k.recordingKey)
	l := new(listed)
	if u.err == nil {
		l.Members, u.err = k.c.List(ctx, u.once(), container.Work{Limit: a.listLimit(), Unpack: a.unpack, Look: a.looksInto})
	}
	return a.listOf(ctx, k, u, reads, l)
}

// looksInto reports whether only its first bytes tell what a file of that name is.
func (a *archive) looksInto(name string) bool {
	n := a.naming(name)
	return n.format != noFormat && a.list[n.format].MatchNamed != nil && !n.packed
}

// listOf completes the list of a container that was opened, or the reason why it does not open.
func (a *archive) listOf(ctx context.Context, k containerKey, u *unpacked, reads *readErrors, l *listed) (*listed, int64, error) {
	l.src = u.src
	err := u.err
	switch {
	case ctx.Err() != nil && err != nil || notSaved(err):
		return nil, 0, err
	case reads.failure() != nil:
		return nil, 0, reads.failure()
	case err == nil:
		if l.problems, err = withDamage(ctx, l.Problems, u.hurt); err != nil {
			return nil, 0, err
		}
		if len(l.problems) > 0 {
			a.warn(k.path, k.v, "archive is damaged; what is whole is shown", "format", k.format(), "err", l.problems[0].Message, "problems", len(l.problems))
		}
		return l, l.Cost() + treeCost, nil
	}
	a.warn(k.path, k.v, "archive does not open", "format", k.format(), "err", err)
	p := openProblem(ctx, l.src, err, u.hurt)
	l.problems, l.broken = []formats.Problem{p}, broken(l.src, k.format(), p)
	return l, treeCost, nil
}
