//go:build linux

// Command stress looks for what recfs does not survive, or of which its commands and mounts do not
// tell the same.
//
//	go run ./bench/stress [-recfs /tmp/recfs] [-for 1h] [-source testdata/archive] damage|use|memory...
//
// damage changes samples as damage and malice do (their bytes, what their compressed pieces hold,
// what they are packed into), and lets recfs check, cp, find and export and a mount with a small
// budget read them beside whole ones. A finding is
//
//   - a command or a mount that panics, hangs, or ends with another exit code than 0, 1 or that of
//     its signal;
//   - a file whose bytes differ between the mount and its copy, or from the size that stat told;
//   - an unreadable file, an error.txt or a problem in a document that check does not tell of, and
//     the other way round;
//   - something that find --damaged or export tell of and check does not, or a table that is
//     unreadable for cp and that export tells nothing of;
//   - a whole neighbour that reads otherwise than alone;
//   - a process with more memory than the budget and what -over allows.
//
// In some rounds commands are interrupted, and recordings are cut, grown, replaced and removed
// while they are read. A seed makes the same recordings again; those of a finding are kept in
// -keep.
//
// use mounts copies of the samples. For the first half of the time one mount is read while a
// recording grows and others are touched: no read may give wrong bytes, and memory, descriptors and
// threads must not grow between the second and the last quarter. Then mounts of the archive at rest
// are read, each for a moment, while commands look at it, copies are put beside it and the kernel
// drops what it remembers: nothing may be wrong, stale or missing.
//
// memory lets fifty readers at once read small files that become large: the budget and 64 MiB must
// do, or the largest thing that is made alone and 64 MiB. With -http five hundred clients ask recfs
// serve for them, each of which may take 64 KiB more, and nothing may be left of them once they
// hung up.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"recfs/bench/internal/harness"
)

func main() {
	harness.Main("stress", func(ctx context.Context, dir, recfs string) error {
		if flag.NArg() == 0 {
			return errors.New("say what: damage, use or memory")
		}
		for _, name := range flag.Args() {
			run := map[string]func(context.Context, string, string) error{"damage": damage, "use": use, "memory": memory}[name]
			if run == nil {
				return fmt.Errorf("there is no %s", name)
			}
			in := filepath.Join(dir, name)
			if err := cmp.Or(os.Mkdir(in, 0o777), run(ctx, in, recfs)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}
