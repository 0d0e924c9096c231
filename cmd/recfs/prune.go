package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	archives "recfs/formats/archive"
	"recfs/formats/export"
	"recfs/nodes"
)

// Values of --prune: without one, that of scripts for the same, and the one that help tells of.
const (
	pruneGone  = flagGiven
	pruneAlso  = "gone"
	pruneForce = "force"
)

func (x *exporter) setPrune(text string) error {
	if text != pruneGone && text != pruneAlso && text != pruneForce {
		return errors.New("not force")
	}
	x.prune = text
	return nil
}

// makeDestination makes the directory to export to, unless it lies in the source.
func makeDestination(source, destination string) error {
	if err := checkTarget(source, destination); err != nil {
		return err
	}
	err := os.Mkdir(destination, 0o777)
	if errors.Is(err, iofs.ErrExist) {
		var info iofs.FileInfo
		if info, err = os.Stat(destination); err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
	}
	return notWritten(destination, err)
}

// begin takes note of when a run began that prunes, unless what is there was not exported from the
// source.
func (x *exporter) begin() (err error) {
	if x.prune == "" {
		if x.lake.Old() {
			x.env.report(fmt.Errorf("%s has tables of an older recfs (format=F), which --prune removes", x.destination))
		}
		return nil
	}
	if why := x.lake.Foreign(); why != "" && x.prune != pruneForce {
		return fmt.Errorf("nothing is exported: %s, which --prune=force would remove", why)
	}
	x.began, err = x.lake.Now()
	return notWritten(x.destination, err)
}

// removeGone removes the tables of recordings that are gone, unless there may be some that were not
// found.
func (x *exporter) removeGone(ctx context.Context) error {
	p := &export.Pruner{
		To: x.lake, Began: x.began, Named: x.named, Wanted: x.wantsTable,
		Gone: func(format, at string) (bool, error) { return x.isGone(ctx, format, at) },
	}
	why, err := x.keepsAll(p)
	if err != nil {
		return err
	}
	if why != "" {
		return fmt.Errorf("nothing is removed: %s", why)
	}
	if !x.form.Merge {
		err = x.removeFiles(p)
	} else {
		fmt.Fprintln(x.env.stderr, count(len(x.gone), "recording that is gone", "recordings that are gone"), "removed from", count(x.cut, "part", "parts"))
	}
	old, failed := p.RemoveOld()
	if old > 0 {
		fmt.Fprintln(x.env.stderr, count(old, "file", "files"), "of an older recfs removed")
	}
	if err = cmp.Or(err, failed); err == nil && x.failures == 0 && p.Kept == 0 && x.prune == pruneForce { // now all is of the source
		err = x.lake.Own()
	}
	return err
}

// wantsTable reports whether a table of recordings of a format is wanted.
func (x *exporter) wantsTable(format, table string) bool {
	return isAmong(x.formats, format) && isAmong(x.tables, table)
}

// removeFiles removes the files of recordings that are gone, and names one for each reason to leave
// some.
func (x *exporter) removeFiles(p *export.Pruner) error {
	removed, left, first := 0, map[string]int{}, map[string]string{} // what is left, by reason
	err := p.Remove(func(gone *export.File) {
		if gone.Err != nil {
			x.fail(gone.File, reason(gone.File, gone.Err))
			return
		}
		removed++
		x.print(*gone, "")
	}, func(name, why string) {
		if left[why]++; left[why] == 1 {
			first[why] = name
		}
	})
	for _, why := range slices.Sorted(maps.Keys(left)) {
		others := ""
		if n := left[why] - 1; n > 0 {
			others = ", and so " + count(n, "other", "others")
		}
		x.env.report(fmt.Errorf("%s stays: %s%s", first[why], why, others))
	}
	fmt.Fprintln(x.env.stderr, count(removed, "file of a recording that is gone", "files of recordings that are gone"), "removed")
	return err
}

// keepsAll tells why no table is to be removed, "" if some may be.
func (x *exporter) keepsAll(p *export.Pruner) (why string, err error) {
	if why = x.unseen(); why != "" || x.form.Merge {
		return cmp.Or(why, x.stays), nil
	}
	gone, all, err := p.Count()
	return x.tooMany(gone, all), err
}

// unseen tells why there may be recordings that were not found, "" if there are none.
func (x *exporter) unseen() string {
	switch {
	case x.hidden.Load():
		return "there may be recordings in what could not be read"
	case x.unended != "":
		return x.unended + " ends without the zeros of its end, and may have held more"
	}
	return ""
}

// tooMany tells why so many of all tables are not removed, "" if they may be.
func (x *exporter) tooMany(gone, all int) string {
	if 2*gone <= all || x.prune == pruneForce {
		return ""
	}
	return fmt.Sprintf("%d of %s would go; --prune=force removes them", gone, count(all, "table", "tables"))
}

// isGone reports whether a recording, which the walk did not find, is gone. It is not if there is
// anything but a recording of another format: other flags may make a recording of it. A link that
// leads to what the walk did find is as nothing.
func (x *exporter) isGone(ctx context.Context, format, at string) (bool, error) {
	e, parts := x.root, strings.Split(at, "/")
	for i, name := range parts {
		if e.Dir == nil {
			return true, nil
		}
		var err error
		if e, err = nodes.Child(ctx, e.Dir, name); err != nil {
			return errors.Is(err, iofs.ErrNotExist), unless(err, iofs.ErrNotExist)
		}
		if e.Type() == iofs.ModeSymlink {
			_, err = nodes.Follow(ctx, x.root.Dir, strings.Join(parts[:i+1], "/"))
			return err == nil, unless(err, iofs.ErrNotExist)
		}
	}
	if e.Dir == nil {
		return false, nil
	}
	d, ok := archives.Describe(ctx, e.Dir)
	return ok && d.Format != format, nil
}

// unless returns err unless it is other.
func unless(err, other error) error {
	if errors.Is(err, other) {
		return nil
	}
	return err
}
