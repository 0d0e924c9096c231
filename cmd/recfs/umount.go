package main

import (
	"context"

	"github.com/spf13/pflag"
)

var umountCommand = command{
	name:    "umount",
	args:    "MOUNTPOINT",
	summary: "End a mount",
	run:     runUmount,
}

func runUmount(flags *pflag.FlagSet) runFunc {
	lazy := flags.BoolP("lazy", "l", false, "detach the mount now even if it is in use; it ends when nobody uses it any more")
	flags.BoolVarP(lazy, "detach", "z", false, "the same, as fusermount has it")
	return func(_ context.Context, _ *env, args []string) error {
		return unmount(args[0], *lazy)
	}
}
