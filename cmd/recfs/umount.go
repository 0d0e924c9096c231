package main

import (
	"context"

	"github.com/spf13/pflag"
)

func umountCommand(flags *pflag.FlagSet) runFunc {
	lazy := flags.BoolP("lazy", "z", false, "detach it now, also when it is in use, and end it when nobody uses it any more")
	return func(_ context.Context, _ *env, args []string) error {
		return unmount(args[0], *lazy)
	}
}
