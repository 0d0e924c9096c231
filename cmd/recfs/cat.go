package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
)

func catCommand(flags *pflag.FlagSet) runFunc {
	opt := readFlags(flags)
	return func(ctx context.Context, e *env, args []string) error {
		if len(args) == 0 {
			return usagef("cat: name at least one PATH")
		}
		a, err := opt.open(e)
		if err != nil {
			return err
		}
		defer a.close()
		f := failures{env: e}
		for _, name := range args {
			entry, err := a.resolve(ctx, name)
			switch {
			case err != nil:
			case entry.File == nil:
				err = errors.New("not a file")
			default:
				err = copyFile(ctx, e.stdout, entry.File)
			}
			if err != nil {
				f.fail(name, err)
			}
		}
		return f.result()
	}
}
