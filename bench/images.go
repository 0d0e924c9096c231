//go:build linux

package main

import (
	"cmp"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"recfs/bench/internal/harness"
)

var (
	mapsDir = flag.String("maps", "../shared/recordings/datafile", "images: the directory with the maps")
	twmap   = flag.String("twmap", "", "images: the directory of twmap-extract-files and twmap-edit (cargo install twmap-tools), if not in PATH")
)

// measureImages compares how fast the images of the largest maps become PNG files with both
// programs of twmap. Of these twmap-edit takes one map a run, and writes what else is in it, too.
func measureImages(ctx context.Context, b *bench) error {
	if err := b.copyMaps(ctx, cmp.Or(*count, 20)); err != nil {
		return err
	}
	programs := []struct{ name, line string }{
		{"recfs cat", b.program.Binary + ` cat --cache-dir cache "$MAPS/*.map/images/*.png" >images`},
		{"twmap-extract-files", filepath.Join(*twmap, "twmap-extract-files") + ` --images "$MAPS"/*.map >/dev/null`},
		{"twmap-edit", `for m in "$MAPS"/*.map; do ` + filepath.Join(*twmap, "twmap-edit") + ` --mapdir "$m" "${m##*/}.dir" || exit; done`},
	}
	took, written := make([]best, len(programs)), make([]int64, len(programs))
	for range *rounds {
		for i, p := range programs {
			cost, n, err := b.images(ctx, p.line)
			if err != nil {
				note(p.name, "%v", err)
				continue
			}
			took[i].add(cost)
			written[i] = n
		}
	}
	for i, p := range programs[1:] {
		show("recfs cat, against "+p.name, "below 1", took[0], took[i+1])
		note("", "%d bytes, %d", written[0], written[i+1])
	}
	return nil
}

// copyMaps copies the largest maps, but for those of the games' own that twmap refuses.
func (b *bench) copyMaps(ctx context.Context, n int) error {
	list, err := filepath.Glob(filepath.Join(*mapsDir, "*.map"))
	if err != nil {
		return err
	}
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	slices.SortFunc(list, func(x, y string) int { return cmp.Compare(size(y), size(x)) })
	if err := os.Mkdir(b.path("maps"), 0o777); err != nil {
		return err
	}
	edit, err := exec.LookPath(filepath.Join(*twmap, "twmap-edit"))
	for _, name := range list[:min(len(list), n)] {
		if err == nil && harness.Command(ctx, edit, "--mapdir", name, b.path("tried")) != nil {
			note("left out", "%s", filepath.Base(name))
			continue
		}
		if err := cmp.Or(os.RemoveAll(b.path("tried")), harness.Command(ctx, "cp", name, b.path("maps"))); err != nil {
			return err
		}
	}
	return nil
}

// images runs a program in an empty directory, and returns how many bytes it writes there.
func (b *bench) images(ctx context.Context, line string) (cost harness.Cost, written int64, err error) {
	dir, err := os.MkdirTemp(b.dir, "turn-")
	if err != nil {
		return cost, 0, err
	}
	defer os.RemoveAll(dir)
	line = "MAPS='" + b.path("maps") + "'; " + line
	if cost, err = timed(func() error { return shell(ctx, dir, line) }); err == nil {
		err = os.RemoveAll(filepath.Join(dir, "cache"))
	}
	if err == nil {
		written, err = sizeOf(dir)
	}
	return cost, written, err
}
