package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"recfs/formats/outfile"
)

// helperNames are those by which mount(8) looks for us, for the types recfs and fuse.recfs.
var helperNames = []string{"mount.recfs", "mount.fuse.recfs"}

var installHelpersCommand = command{
	name:    "install-helpers",
	summary: "Teach mount(8) and fstab(5) the type recfs",
	about: `
Makes the links mount.recfs and mount.fuse.recfs. Then 'mount -t recfs SOURCE MOUNTPOINT' works.`,
	run: runInstallHelpers,
}

func runInstallHelpers(flags *pflag.FlagSet) runFunc {
	dir := flags.String("dir", "/sbin", "put the links into this `DIR`")
	return func(_ context.Context, e *env, _ []string) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		root, err := outfile.OpenDir(*dir)
		if err != nil {
			return err
		}
		defer root.Close()
		for _, name := range helperNames {
			if err := outfile.Symlink(root, self, name); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s -> %s\n", filepath.Join(*dir, name), self)
		}
		return nil
	}
}
