package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/formats/outfile"
	"recfs/formats/source/remote"
	"recfs/fs"
	"recfs/nodes"
)

var cpCommand = command{
	name:    "cp",
	args:    "PATH... DESTINATION",
	summary: "Copy out of an archive",
	about: aboutPaths + `

If DESTINATION is a directory, copies go into it under their names, else it is the name of the copy. A
file that cannot be read to its end is reported and not left behind half: what was there before stays until
the copy is whole.`,
	run: runCp,
}

func runCp(flags *pflag.FlagSet) runFunc {
	recursive := flags.BoolP("recursive", "r", false, "copy directories and what is in them")
	flags.BoolVarP(recursive, "recurse", "R", false, "the same as -r")
	_ = flags.MarkHidden("recurse")
	preserve := flags.BoolP("preserve", "p", false, "keep the modification times")
	parents := flags.Bool("parents", false, "copy to the whole path of each PATH below DESTINATION, which is a directory")
	flags.Bool("json", false, "print a JSON object for each copy")
	archived := flags.BoolP("archive", "a", false, "the same as -rp")
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		sources, dest := a.expand(ctx, args[:len(args)-1]), args[len(args)-1]
		info, err := os.Stat(dest)
		into := err == nil && info.IsDir()
		switch several := len(sources) > 1 || *parents; {
		case several && os.IsNotExist(err):
			return usagef("cp: there is no directory %s to copy to", dest)
		case several && !into:
			return usagef("cp: %s is not a directory", dest)
		}
		c := copier{
			env: e, archive: a, parents: *parents,
			recursive: *recursive || *archived, preserve: *preserve || *archived, copies: map[string]string{}, swept: map[string]bool{},
		}
		e.far = func() string {
			return fmt.Sprintf("%s, %s copied, and none half; another run copies all again", c.meter.far(), count(c.meter.files, "file", "files"))
		}
		return a.measured(ctx, e.startMeter("copying"), sources, everything, func() {
			for _, name := range sources {
				target := dest
				if into {
					target = filepath.Join(dest, base(name))
				}
				if *parents {
					target = filepath.Join(dest, filepath.Join(string(filepath.Separator), name)) // no ".." leads out of it
				}
				if err := c.source(ctx, name, target); err != nil {
					c.fail(name, err)
				}
			}
		})
	})
}

// source copies what an argument names to target, unless it cannot be copied there.
func (c *copier) source(ctx context.Context, name, target string) error {
	entry, err := c.archive.resolve(ctx, name)
	if err == nil && entry.Dir != nil && !c.recursive {
		err = errors.New("is a directory; -r copies it")
	}
	if err == nil && c.parents {
		err = notWritten(target, os.MkdirAll(filepath.Dir(target), 0o777))
	}
	if err == nil {
		err = checkTarget(name, target)
	}
	source, real, failed := placesOf(name, target)
	if err = cmp.Or(err, failed); err == nil && source != "" && entry.Dir != nil {
		if at := fs.Shows(real, source); at != "" {
			err = fmt.Errorf("%s is the source, or lies in it", at)
		}
	}
	if first, ok := c.copies[target]; ok && err == nil {
		err = fmt.Errorf("%s is the copy of %s already; --parents keeps both", target, first)
	}
	if err != nil {
		return err
	}
	c.copies[target] = name
	c.from, _ = os.Stat(source)
	return c.copyTo(ctx, name, entry, target)
}

// placesOf is where the source of name lies on disk, "" if that is a server, and where target leads
// to.
func placesOf(name, target string) (source, real string, err error) {
	if remote.IsURL(name) {
		return "", target, nil
	}
	if source, _, err = splitPath(sourceOf(name)); err == nil {
		source, err = filepath.EvalSymlinks(source)
	}
	if err != nil {
		return "", "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(target))
	return source, linkTarget(filepath.Join(dir, filepath.Base(target))), notWritten(target, err)
}

// checkTarget refuses to write over the source of name or into it: that would destroy what is being
// read, or never end.
func checkTarget(name, target string) error {
	source, real, err := placesOf(name, target)
	if err == nil && source != "" && (contains(source, real) || sameFile(source, real)) {
		err = fmt.Errorf("%s is the source, or lies in it", target)
	}
	return err
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

type copier struct {
	*env
	archive   *archive
	recursive bool
	preserve  bool
	parents   bool              // copies have the whole paths of their sources
	copies    map[string]string // names of sources, by where they are copied to
	from      os.FileInfo       // the source that is being copied
	within    bool              // a recording, whose files count together
	full      bool              // there is no room for another file
	swept     map[string]bool   // directories in which nothing is left of processes that were killed
}

// fail reports what could not be copied.
func (c *copier) fail(name string, err error) {
	c.full = c.full || isFull(err)
	c.env.fail(name, err)
}

// isFull reports whether err says that there is no room for another file.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// A copyLine is what cp --json prints of a copy.
type copyLine struct {
	entryLine
	Copy    string `json:"copy"` // where it is
	CopyHex string `json:"copy_hex,omitempty"`
}

// copyTo copies e, which was named name, to target on disk. Everything is made below the
// directory of target, wherever links that are already there may lead.
func (c *copier) copyTo(ctx context.Context, name string, e nodes.Entry, target string) error {
	if w := c.env.stream(target); w != nil && e.File != nil {
		_, err := copyFile(ctx, w, e.File)
		return err
	}
	dir := filepath.Dir(target)
	root, err := outfile.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if !c.swept[dir] {
		outfile.RemoveAbandoned(root)
		c.swept[dir] = true
	}
	c.copy(ctx, name, e, root, filepath.Base(target))
	return nil
}

func (c *copier) copy(ctx context.Context, name string, e nodes.Entry, into *os.Root, target string) {
	old, err := into.Lstat(target)
	switch {
	case c.full:
		return
	case ctx.Err() != nil:
		err = ctx.Err()
	case err == nil && os.SameFile(old, c.from):
		err = fmt.Errorf("%s is the source", filepath.Join(into.Name(), target))
	case e.Dir != nil:
		err = c.copyDir(ctx, name, e, into, target)
	case e.Type() == iofs.ModeSymlink:
		err = notWritten(target, outfile.Symlink(into, e.Link, target))
	default:
		var told error
		if err = c.checkRaw(ctx, name, e, into, target); err == nil {
			told, err = c.copyFile(ctx, e, into, target)
		}
		if told != nil {
			c.fail(name, told)
		}
		if err == nil {
			c.meter.file()
			if !c.within {
				n, _ := e.File.Size(ctx)
				c.meter.finish(0, n)
			}
		}
	}
	if err == nil && c.preserve && e.Dir != nil {
		err = notWritten(target, into.Chtimes(target, e.Time, e.Time))
	}
	if err == nil && c.asJSON {
		err = c.tell(ctx, name, e, filepath.Join(into.Name(), target))
	}
	if err != nil {
		c.fail(name, err)
	}
}

// tell prints what was copied.
func (c *copier) tell(ctx context.Context, name string, e nodes.Entry, target string) error {
	line, err := newEntryLine(ctx, name, e)
	if err == nil {
		c.print(copyLine{line, target, formats.HexOf(target)}, "")
	}
	return err
}

// copyDir copies a directory. The files of a recording count together.
func (c *copier) copyDir(ctx context.Context, name string, e nodes.Entry, into *os.Root, target string) error {
	if d, ok := archives.Describe(ctx, e.Dir); ok {
		c.within = true
		defer func() {
			if c.within = false; ctx.Err() == nil {
				c.meter.finish(1, d.Stored)
			}
		}()
	}
	if err := into.Mkdir(target, modeOfCopy(e, 0o777)|0o700); err != nil && !errors.Is(err, iofs.ErrExist) {
		return notWritten(target, err)
	}
	root, err := outfile.OpenDirIn(into, target)
	if err != nil {
		return notWritten(target, err)
	}
	defer root.Close()
	outfile.RemoveAbandoned(root)
	for child, err := range nodes.Entries(ctx, e) {
		switch {
		case err == nil && !filepath.IsLocal(child.Name):
			c.fail(name, fmt.Errorf("the name %q cannot be written here", child.Name))
		case err == nil:
			c.copy(ctx, joinName(name, child.Name), child, root, child.Name)
		case child.Name == "":
			return err
		default:
			c.fail(joinName(name, child.Name), err)
		}
	}
	return nil
}

// checkRaw refuses to replace a longer copy of the bytes of a recording that is compressed, if
// these are damaged now.
func (c *copier) checkRaw(ctx context.Context, name string, e nodes.Entry, into *os.Root, target string) error {
	old, err := into.Stat(target)
	if err != nil || e.Name != "raw" {
		return nil
	}
	n, err := e.File.Size(ctx)
	if err != nil || n >= old.Size() {
		return err
	}
	_, _, o, err := c.archive.recording(ctx, dirName(name))
	if err == errNoRecording {
		return nil
	}
	var damage *formats.Problem
	if broken, ok := errors.AsType[*archives.NotOpenError](err); ok {
		damage, err = &broken.Problem, nil
	} else if err == nil {
		damage, err = o.Damage(ctx)
	}
	if damage != nil {
		err = fmt.Errorf("%s is longer and stays: %s", target, damage.Message)
	}
	return err
}

// copyFile makes a copy of the file e. One that cannot be read to its end has none; a whole one
// does, and told is what is heard of it behind its last byte.
func (c *copier) copyFile(ctx context.Context, e nodes.Entry, into *os.Root, target string) (told, err error) {
	f, err := outfile.CreateIn(into, target, modeOfCopy(e, 0o666))
	if err != nil {
		return nil, notWritten(target, err)
	}
	defer f.Discard()
	if c.preserve {
		f.Modified = e.Time
	}
	content, err := e.File.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer nodes.CloseContent(content)
	n, err := copyContent(ctx, f, content)
	if n == content.Size() && errors.Is(err, formats.ErrCorrupt) {
		told, err = err, nil
	}
	if err == nil {
		err = f.Commit()
	}
	return told, err
}

// modeOfCopy is the mode to make a copy of e with, from which the system takes the umask.
func modeOfCopy(e nodes.Entry, unknown iofs.FileMode) iofs.FileMode {
	if e.Rights.Known {
		return e.Rights.Mode
	}
	return unknown
}

// copyFile writes the content of file to w, and returns how much that is.
func copyFile(ctx context.Context, w io.Writer, file nodes.File) (int64, error) {
	content, err := file.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer nodes.CloseContent(content)
	return copyContent(ctx, w, content)
}

// copyStep is how much is read at once: short members of a container whole, which keeps nothing of
// them.
const copyStep = 256 << 10

// copyContent writes all of content to w, and returns how much that is. Content that ends too early
// is an error.
func copyContent(ctx context.Context, w io.Writer, content nodes.Content) (int64, error) {
	to, buf := struct{ io.Writer }{w}, make([]byte, max(1, min(content.Size(), copyStep))) // no ReadFrom of w, which has its own buffer
	n, err := io.CopyBuffer(to, nodes.Reader(ctx, content), buf)
	if err == nil && n != content.Size() {
		err = nodes.SizeError(content.Size(), n)
	}
	return n, err
}
