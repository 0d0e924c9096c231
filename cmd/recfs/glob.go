package main

import (
	"context"
	"errors"
	iofs "io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"recfs/formats/source/remote"
	"recfs/nodes"
)

// expand returns args with what each pattern stands for in its place, in order: the shell cannot
// look into recordings. A name that is there is no pattern, and a pattern that stands for nothing
// stays.
func (a *archive) expand(ctx context.Context, args []string) []string {
	var names []string
	for _, arg := range args {
		found := []string{arg}
		if isPattern(arg) && !a.exists(ctx, arg) {
			found = a.glob(ctx, filepath.ToSlash(arg))
		}
		if len(found) == 0 {
			found = []string{arg}
		}
		names = append(names, found...)
	}
	return names
}

// exists reports whether something is called name, or may be: also what cannot be read is there.
func (a *archive) exists(ctx context.Context, name string) bool {
	_, err := a.lookUp(ctx, name)
	return !isMissing(err)
}

func isMissing(err error) bool {
	return errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// glob returns the names that match a pattern, element by element. As in a shell, only a pattern
// that begins with a dot stands for names that do. Where a directory cannot be listed the pattern
// goes on as it is, and looking it up tells why.
func (a *archive) glob(ctx context.Context, pattern string) []string {
	parts := strings.Split(pattern, "/")
	first := 0
	for !isPattern(parts[first]) {
		first++
	}
	base := cleanName(strings.Join(parts[:first], "/"))
	if first > 0 && parts[0] == "" {
		base = path.Clean("/" + base)
	}
	names := []string{base}
	for _, part := range parts[first:] {
		if plain, err := url.PathUnescape(part); err == nil && remote.IsURL(base) && !strings.HasPrefix(base, "s3://") {
			part = plain // names are as the server means them
		}
		var next []string
		for _, name := range names {
			if part == "**" {
				next = append(next, a.below(ctx, base, name)...)
			} else {
				next = append(next, a.matches(ctx, base, name, part)...)
			}
		}
		names = next
	}
	return names
}

// below returns a directory and all directories in it, however deep, but for those whose names
// begin with a dot. Links may lead round in circles, and are not followed.
func (a *archive) below(ctx context.Context, base, dir string) []string {
	names := []string{dir}
	e, err := a.lookUp(ctx, dir)
	if err != nil || e.Dir == nil {
		return names
	}
	for child, err := range nodes.Entries(ctx, e) {
		if err == nil && child.Dir != nil && !strings.HasPrefix(child.Name, ".") {
			at := joinName(dir, child.Name)
			a.globbed[at] = base
			names = append(names, a.below(ctx, base, at)...)
		}
	}
	return names
}

// matches returns the paths of what matches part in the directory called dir, where a pattern that
// begins in base has led. They are resolved from base: what is in one archive is opened once.
func (a *archive) matches(ctx context.Context, base, dir, part string) (names []string) {
	take := func(name string) string {
		at := joinName(dir, name)
		a.globbed[at] = base
		return at
	}
	e, err := a.lookUp(ctx, dir)
	switch {
	case !isMissing(err) && err != nil:
		return []string{take(part)}
	case err != nil || e.Dir == nil:
		return nil
	case part == "": // of a slash at the end, or of two in a row
		return []string{dir}
	case !isPattern(part):
		if at := take(part); a.exists(ctx, at) {
			return []string{at}
		}
		return nil
	}
	for child, err := range nodes.Entries(ctx, e) {
		if err != nil && child.Name == "" {
			return append(names, take(part))
		}
		if strings.HasPrefix(child.Name, ".") && !strings.HasPrefix(part, ".") {
			continue
		}
		if ok, _ := path.Match(part, child.Name); ok { // a pattern that is none matches nothing
			names = append(names, take(child.Name))
		}
	}
	return names
}

// lookUpGlobbed finds what a name of glob means.
func (a *archive) lookUpGlobbed(ctx context.Context, name string) (e nodes.Entry, ok bool) {
	base, ok := a.globbed[name]
	if !ok {
		return e, false
	}
	root, err := a.lookUp(ctx, base)
	if err != nil {
		return e, false
	}
	inside := name
	if base != "." {
		inside = strings.TrimPrefix(strings.TrimPrefix(name, base), "/")
	}
	e, err = inSource(ctx, root, inside)
	return e, err == nil
}
