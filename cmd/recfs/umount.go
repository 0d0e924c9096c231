package main

import (
	"context"
	"errors"
	iofs "io/fs"
	"slices"

	"github.com/spf13/pflag"

	"recfs/fs"
)

var umountCommand = command{
	name:    "umount",
	args:    "[MOUNTPOINT...]",
	summary: "End mounts",
	run:     runUmount,
}

func runUmount(flags *pflag.FlagSet) runFunc {
	lazy := flags.BoolP("lazy", "l", false, "detach a mount now even if it is in use; it ends when nobody uses it any more")
	flags.BoolVarP(lazy, "detach", "z", false, "the same, as fusermount has it")
	all := flags.BoolP("all", "a", false, "end all mounts of recfs but those of other users")
	return func(ctx context.Context, e *env, args []string) (result error) {
		switch {
		case *all == (len(args) > 0):
			return usagef("umount: name a MOUNTPOINT, or --all")
		case *all:
			args = slices.DeleteFunc(fs.Mounts(), func(dir string) bool {
				_, err := answer(ctx, dir)
				return errors.Is(err, iofs.ErrPermission)
			})
			slices.Reverse(args) // a mount of a mount ends before that
		}
		for _, dir := range args {
			if err := unmount(dir, *lazy); err != nil {
				e.report(err)
				result = errReported
			}
		}
		return result
	}
}
