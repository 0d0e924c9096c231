package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

var catCommand = command{
	name:    "cat",
	args:    "PATH...",
	summary: "Print files of an archive",
	about:   aboutPaths + aboutInput,
	run:     runCat,
}

func runCat(flags *pflag.FlagSet) runFunc {
	return readFlags(flags).orInput().onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		printed := 0
		e.far = func() string {
			return fmt.Sprintf("%d of %s printed to the end", printed, count(len(args), "file", "files")) + fromStart
		}
		for _, name := range args {
			entry, err := a.resolve(ctx, name)
			switch {
			case err != nil:
			case entry.File == nil:
				err = errors.New("is a directory; recfs ls lists it")
			default:
				_, err = copyFile(ctx, e.stdout, entry.File)
			}
			if err != nil {
				e.fail(name, err)
				continue
			}
			printed++
		}
		return nil
	})
}
