package remote

import (
	"context"
	"strings"
)

// walk lists all that lies below a folder, and remembers the listing of each folder in it.
func (s *Server) walk(ctx context.Context, k listKey) error {
	w := walker{s: s, turn: k.turn}
	w.enter(k.dir)
	for from, pages := "", 0; ; pages++ {
		next, err := s.page(ctx, k.dir, from, true, func(key, tag string, size, modified int64) {
			w.add(k.dir+key, tag, size, modified)
		})
		if err != nil {
			return err
		}
		if next == "" {
			break
		}
		if from = next; pages == maxWalk || w.cost() > s.maxListing {
			return strange(s.url(k.dir), "the listing has no end")
		}
	}
	w.leave("")
	return nil
}

// walked reports whether all below a folder was listed in a turn, with it or with one around it.
func (s *Server) walked(dir string, turn int64) bool {
	for at := dir; ; at, _ = splitKey(strings.TrimSuffix(at, "/")) {
		if _, ok := s.lists.Peek(listKey{dir: at, turn: turn, flat: true}); ok {
			return true
		}
		if at == "" {
			return false
		}
	}
}

// A walker makes the listings of folders out of sorted keys: those that the last key lies in are
// open.
type walker struct {
	s    *Server
	turn int64
	open []*listing
}

func (w *walker) enter(dir string) {
	w.open = append(w.open, &listing{dir: dir, turn: w.turn, inOrder: true}) // nobody asks for more
}

// cost is the memory of the open folders.
func (w *walker) cost() (n int64) {
	for _, l := range w.open {
		n += l.Cost()
	}
	return n
}

// leave ends the folders in which a key does not lie; "" is behind all keys.
func (w *walker) leave(key string) {
	for n := len(w.open) - 1; n >= 0; n-- {
		l := w.open[n]
		if key != "" && strings.HasPrefix(key, l.dir) {
			return
		}
		w.open = w.open[:n]
		l.seal()
		w.s.learned(l)
		w.s.lists.Put(l.key(), l, l.Cost())
	}
}

func (w *walker) add(key, tag string, size, modified int64) {
	w.leave(key)
	if len(w.open) == 0 {
		return // out of order and outside: no server of which the keys are sorted does that
	}
	for {
		in := w.open[len(w.open)-1]
		name, rest, below := strings.Cut(key[len(in.dir):], "/")
		switch {
		case w.s.isHidden(in.dir, name):
		case !below && name != "":
			in.add(name, tag, size, modified)
		case below && !isName(name):
			in.odd.add(key)
		case below:
			in.add(name, "", sizeFolder, 0)
			w.enter(in.dir + name + "/")
			if rest != "" {
				continue
			}
		}
		return
	}
}
