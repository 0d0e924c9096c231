package archive

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// A file that holds files (.tar, also compressed, and .zip) is shown as the directory of what it
// holds, an archive like the one it lies in: its recordings are opened, its files passed through. A
// container that does not open is shown like a recording that does not, as raw and error.txt.

const maxDepth = 4 // containers in containers

// A containerDir is the directory of what a container holds. It is a value, equal
// to another of the same version of the same file.
type containerDir struct{ nodes.Deferred[Container] }

// A Container is one version of a file that holds files.
type Container struct {
	a   *Archive
	key recordingKey
}

// tree returns what it holds.
func (d containerDir) tree(ctx context.Context) (nodes.Dir, error) { return d.Resolve(ctx) }

func (d containerDir) deep() bool { return false }

// Resolve returns what it holds, as it was opened last: a folder, see FolderOf, or another
// directory if it does not open.
func (c Container) Resolve(ctx context.Context) (nodes.Dir, error) {
	return c.a.containers.Get(ctx, c.key)
}

// loadContainer opens a container. What it lists is not part of the value: as
// long as a directory in it is in use, that list can come and go.
func (a *Archive) loadContainer(ctx context.Context, k recordingKey) (nodes.Dir, int64, error) {
	l, err := a.lists.Get(ctx, k)
	if err != nil {
		return nil, 0, err
	}
	if l.broken != nil {
		return l.broken, openCost + int64(problemCost*len(l.problems)), nil
	}
	tree := &container.Tree{Kind: k.kind, At: k.path, Version: k.v, Unpack: a.unpack, Load: func(ctx context.Context) (*container.Members, formats.Input, error) {
		l, err := a.lists.Get(ctx, k)
		if err != nil || l.broken != nil {
			return nil, formats.Input{}, err
		}
		return l.Members, l.src, nil
	}, Warn: func(name string, err error) {
		a.warn(path.Join(k.path, name), k.v, "archive says two things of a file", "format", container.FormatOf(k.name), "err", err)
	}}
	tree.Whole = a.contentOf(k)
	inner := newArchive(tree, a.list, a.cache, a.opt, a.depth+1)
	inner.container = tree
	return inner.dir("."), openCost, nil
}

// listPlace returns where the list of a container is on disk; nil: it is not kept. Those of tars
// are, whose headers stand all over them. Those of containers in containers are not: their versions
// say too little to find them by, as the next container may hold another one of the same size and
// time.
func (a *Archive) listPlace(k recordingKey) cache.Place {
	if a.depth > 0 || k.kind != container.Tar || k.v.Changed == 0 { // without a change time no stamp is the same
		return nil
	}
	return a.contentOf(k).At(listKind(k.kind, k.packed))
}

// listKind is what the lists of containers are called on disk.
func listKind(c *container.Kind, packed bool) string {
	if packed {
		return c.Name + " unpacked"
	}
	return c.Name
}

// listLimit is how much memory the list of a container may take.
func (a *Archive) listLimit() int64 { return max(a.cache.Budget()/2, container.MinList) }

// resumeList returns a list that was kept.
func (a *Archive) resumeList(ctx context.Context, k recordingKey, b []byte) (*memberList, int64, error) {
	m := container.Decode(b, k.v.Stamp, a.listLimit())
	if m == nil {
		return nil, 0, errOtherList
	}
	u, reads := a.input(ctx, k, unpack.Choice{Listed: true})
	return a.listOf(ctx, k, u, reads, &memberList{Members: m, saved: true})
}

// loadList makes the list of a container.
func (a *Archive) loadList(ctx context.Context, k recordingKey) (*memberList, int64, error) {
	streams := k.kind == container.Tar && !cache.IsSavedOnly(ctx)
	u, reads := a.input(ctx, k, unpack.Choice{Listed: true, Streams: streams})
	l := new(memberList)
	if u.err == nil {
		l.Members, u.err = k.kind.List(ctx, u.src, container.Work{Limit: a.listLimit(), Unpack: a.unpack, Look: a.looksInto})
	}
	if u.err == nil && streams {
		u.src.Size, u.err = u.src.Length(ctx) // known by now, as the list ends there
		u.src.Measure = nil
	}
	return a.listOf(ctx, k, u, reads, l)
}

// looksInto reports whether only its first bytes tell what a file of that name is.
func (a *Archive) looksInto(name string) bool {
	n := a.naming(name)
	return n.format != noFormat && a.list[n.format].MatchNamed != nil && !n.packed
}

// listOf completes the list of a container that was opened, or the reason why it does not open.
func (a *Archive) listOf(ctx context.Context, k recordingKey, u *plainInput, reads *readErrors, l *memberList) (*memberList, int64, error) {
	l.src = u.src
	format, err := container.FormatOf(k.name), u.err
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
			l.AddText("error", ".txt", containerErrorText(format, l.problems))
			a.warn(k.path, k.v, "archive is damaged; what is whole is shown", "format", format, "err", l.problems[0].Message, "problems", len(l.problems))
		}
		return l, l.Cost() + openCost, nil
	}
	a.warn(k.path, k.v, "archive does not open", "format", format, "err", err)
	p := openProblem(ctx, l.src, err, u.hurt)
	l.problems, l.broken = []formats.Problem{p}, broken(l.src, format, p)
	return l, openCost, nil
}

// A container that is damaged shows what is whole of it, and beside that a file that names what is
// not (docs/tree/README.md section 1).

// withDamage returns the problems of a container, by offset, with that of the compression around
// it.
func withDamage(ctx context.Context, problems []formats.Problem, hurt unpack.DamageFunc) ([]formats.Problem, error) {
	problems = slices.Clone(problems)
	if hurt != nil {
		d, err := hurt(ctx)
		if err != nil {
			return nil, err
		}
		if d != nil {
			problems = append(problems, d.Problem())
		}
	}
	slices.SortStableFunc(problems, func(a, b formats.Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	return problems, nil
}

// problemCost is about what a problem takes in memory, with its part of error.txt.
const problemCost = 512

// containerErrorText returns the error.txt of a container that opens: for each problem its format,
// offset, reason and, if it is one of a member, path, one fact a line, and an empty line between
// two.
func containerErrorText(format string, problems []formats.Problem) []byte {
	var b bytes.Buffer
	for i, p := range problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "format: %s\noffset: %d\nreason: %s\n", format, p.Offset, p.Message)
		if p.Path != "" {
			fmt.Fprintf(&b, "path: %s\n", formats.OneLine(p.Path))
		}
	}
	return b.Bytes()
}
