// Command containers compares recfs with ratarmount, the program that people mount containers with:
// 5,000 recordings in one file of each kind are mounted and listed, without an index and with the one
// of the first mount, and some of them are read in random order. So are few, many, and maps alone, of which the
// names do not say what they are. It prints what each needs, as wall and
// processor time and as memory, and how many times as much ratarmount needs: from 1 on recfs is ahead.
// Each figure is the smallest of several runs, in which the two take turns.
//
//	go run ./bench/containers [-recfs /tmp/recfs] [-ratarmount /tmp/venv/bin/ratarmount]
//
// ratarmount is found on the PATH, too; `pip install ratarmount` installs it. Without it there are the
// figures of recfs alone.
package main

import (
	"archive/zip"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"recfs/bench/internal/harness"
	"recfs/bench/internal/packing"
)

var (
	other  = flag.String("ratarmount", "ratarmount", "the program to compare with")
	reads  = flag.Int("reads", 300, "how many of them are read")
	runs   = flag.Int("runs", 3, "how often each is measured")
	limit  = flag.Int64("largest", 40_000, "use samples of up to this many bytes")
	source = flag.String("source", "testdata/archive", "where the samples are")
	names  = flag.String("sets", "", "only the `SETS` of these names, as mixed,maps")
	kinds  = flag.String("kinds", "", "only these `KINDS` of containers, as tar,zip")
)

// A set is recordings that are packed together, in containers of several kinds.
type set struct {
	name  string
	below string // where in the samples they are
	count int
	kinds []string
}

var sets = []set{
	{"mixed", "", 5000, []string{"tar", "zip", "tar.gz", "tar.bz2", "tar.xz", "tar.zst"}},
	{"few", "", 100, []string{"tar", "zip", "tar.xz"}},
	{"many", "", 50_000, []string{"tar", "zip"}},
	{"maps", "datafile/maps", 5000, []string{"tar", "zip"}},
}

// among reports whether a name is in a list, of which an empty one has all.
func among(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}

func main() { harness.Main("containers", run) }

func run(ctx context.Context, dir, recfs string) error {
	tools := []tool{recfsTool(recfs)}
	if found, err := exec.LookPath(*other); err == nil {
		tools = append(tools, ratarmount(found))
	} else {
		fmt.Printf("there is no ratarmount to compare with: %v\n", err)
	}
	for _, s := range sets {
		if !among(*names, s.name) {
			continue
		}
		if err := s.compare(ctx, tools, dir); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// compare prints the rows of a set.
func (s set) compare(ctx context.Context, tools []tool, dir string) error {
	plain := filepath.Join(dir, "plain")
	if err := packing.Many(ctx, plain, filepath.Join(*source, s.below), s.count, *limit, nil); err != nil {
		return err
	}
	fmt.Printf("%s, %d recordings\n%-8s %-34s %10s %10s %8s\n", s.name, s.count, "", "", "recfs", "ratarmount", "ratio")
	for _, kind := range s.kinds {
		if !among(*kinds, kind) {
			continue
		}
		if err := compare(ctx, tools, plain, dir, kind); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return os.RemoveAll(plain)
}

// compare prints the rows of one kind of container.
func compare(ctx context.Context, tools []tool, plain, dir, kind string) error {
	archive := filepath.Join(dir, "packed."+kind)
	if err := pack(ctx, plain, archive, kind); err != nil {
		return err
	}
	defer os.Remove(archive)
	best := make([]figures, len(tools))
	for range *runs {
		for i, t := range tools {
			all, err := measure(ctx, t, plain, archive, dir)
			if err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			best[i] = best[i].least(all)
		}
	}
	for n, r := range rows {
		fmt.Printf("%-8s %-34s %10.1f", kind, r, best[0][n])
		if len(best) > 1 {
			fmt.Printf(" %10.1f %8.2f", best[1][n], best[1][n]/best[0][n])
		}
		fmt.Println()
	}
	return nil
}

// pack writes the files of dir as a container of a kind.
func pack(ctx context.Context, dir, archive, kind string) (err error) {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	switch ext, packed := strings.CutPrefix(kind, "tar"); {
	case kind == "zip":
		return packing.Zip(f, dir, zip.Deflate)
	case !packed:
		return fmt.Errorf("there is no such kind of container: %s", kind)
	case ext == "":
		return packing.Tar(f, dir)
	default:
		i := slices.IndexFunc(packing.Compressions, func(c packing.Compression) bool { return c.Ext == ext })
		if i < 0 {
			return fmt.Errorf("there is no such compression: %s", ext)
		}
		r, w := io.Pipe()
		go func() { w.CloseWithError(packing.Tar(w, dir)) }()
		return packing.Compressions[i].Pack(ctx, f, r)
	}
}
