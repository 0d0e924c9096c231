package archive

import (
	"cmp"
	"context"
	iofs "io/fs"
	"path"
	"strings"

	"recfs/formats/source"
	"recfs/nodes"
)

const (
	maxLinks = 40      // symbolic links in one path, as in the kernel
	maxSteps = 1 << 12 // names in one path with those of all links in it
)

// outside stands before the target of a link that leaves the source or cannot
// be a target, so that it leads nowhere in the mount either.
const outside = "outside-the-archive:"

// shownTarget returns the target that a link in the directory dir has in the
// mount: the same, or the way from dir to where an absolute one leads. The
// kernel follows it, and would follow it out of the mount as well.
func (a *Archive) shownTarget(ctx context.Context, dir, target string) string {
	shown := target
	if path.IsAbs(target) {
		inside, ok := a.tree.Inside(target)
		if !ok {
			return a.dangling(ctx, dir, target)
		}
		shown = cmp.Or(strings.TrimSuffix(upFrom(dir)+inside, "/"), ".")
	}
	if shown == "" || len(shown) > nodes.MaxLink || strings.Contains(shown, "\x00") {
		return a.dangling(ctx, dir, target)
	}
	if _, _, err := a.resolve(ctx, dir, shown, nil); err == errOutside || err == errTooLong {
		return a.dangling(ctx, dir, target)
	}
	return shown
}

// upFrom returns the way from dir to the root.
func upFrom(dir string) string {
	if dir == "." {
		return ""
	}
	return strings.Repeat("../", strings.Count(dir, "/")+1)
}

// dangling returns a target that leads nowhere from dir and tells of another one. Nothing in dir
// has the name that it begins with: from there the steps up in target would lead out of the mount.
func (a *Archive) dangling(ctx context.Context, dir, target string) string {
	shown, _, _ := strings.Cut(target, "\x00")
	for {
		shown = outside + shown
		first, _, _ := strings.Cut(shown, "/")
		if len(first) < nodes.MaxLink {
			if _, err := a.tree.Stat(ctx, path.Join(dir, first)); err == nil {
				continue
			}
		}
		return shown[:min(len(shown), nodes.MaxLink)]
	}
}

type linkError string

func (e linkError) Error() string { return string(e) }

const (
	errOutside  = linkError("the link leaves the source")
	errTooMany  = linkError("too many symbolic links")
	errTooLong  = linkError("too many steps to follow a link")
	errNoFolder = linkError("not a directory")
)

// resolve returns the path that target leads to from the directory dir, and
// what is there. dir and the result are free of links. through hears of every
// directory on the way, unless it is nil.
func (a *Archive) resolve(ctx context.Context, dir, target string, through func(source.Info)) (string, source.Info, error) {
	r := route{tree: a.tree, at: dir, rest: target, through: through}
	for r.rest != "" {
		if err := r.step(ctx); err != nil {
			return "", source.Info{}, err
		}
	}
	if r.missing != nil {
		return "", source.Info{}, r.missing
	}
	info, err := a.tree.Stat(ctx, r.at)
	return r.at, info, err
}

// A route follows a path name by name. Below what is no directory of the
// source the mount may have one: there it follows the names alone, as they may
// lead out of the source from there.
type route struct {
	tree         source.Tree
	at           string // free of links
	rest         string // still to follow
	below        int    // how many names at goes on below what is no directory of the source
	missing      error  // why the source does not have what it leads to
	links, steps int
	through      func(source.Info)
}

func (r *route) step(ctx context.Context) error {
	if path.IsAbs(r.rest) {
		inside, ok := r.tree.Inside(r.rest)
		if !ok {
			return errOutside
		}
		r.at, r.rest, r.below = ".", inside, 0
		return nil
	}
	part, rest, _ := strings.Cut(r.rest, "/")
	r.rest = strings.TrimLeft(rest, "/")
	switch {
	case part == ".":
	case part == ".." && r.at == ".":
		return errOutside
	case part == "..":
		r.at, r.below = path.Dir(r.at), max(r.below-1, 0)
	case r.below > 0:
		r.at, r.below = path.Join(r.at, part), r.below+1
	default:
		return r.enter(ctx, path.Join(r.at, part))
	}
	return nil
}

// enter goes on to next, which the source may have.
func (r *route) enter(ctx context.Context, next string) error {
	if r.steps++; r.steps > maxSteps {
		return errTooLong
	}
	info, err := r.tree.Stat(ctx, next)
	switch {
	case err != nil:
		r.lose(next, err)
	case info.Type == iofs.ModeSymlink:
		return r.follow(ctx, next)
	case info.Type != iofs.ModeDir && r.rest != "":
		r.lose(next, errNoFolder)
	default:
		r.at = next
		if info.Type == iofs.ModeDir && r.through != nil {
			r.through(info)
		}
	}
	return nil
}

// follow puts the target of a link before the rest.
func (r *route) follow(ctx context.Context, link string) error {
	if r.links++; r.links > maxLinks {
		return errTooMany
	}
	target, err := r.tree.ReadLink(ctx, link)
	if err == nil && target == "" {
		err = iofs.ErrNotExist
	}
	if err != nil {
		r.lose(link, err)
		return nil
	}
	r.rest = target + "/" + r.rest
	return nil
}

// lose goes on to what the source does not have as a directory.
func (r *route) lose(next string, err error) {
	r.at, r.below = next, 1
	if r.missing == nil {
		r.missing = err
	}
}
