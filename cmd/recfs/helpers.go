package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
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
		for _, name := range helperNames {
			link := filepath.Join(*dir, name)
			if err := relink(self, link); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s -> %s\n", link, self)
		}
		return nil
	}
}

// relink makes link point to target, replacing a link but no file.
func relink(target, link string) error {
	info, err := os.Lstat(link)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode()&os.ModeSymlink == 0:
		return fmt.Errorf("%s: there is a file of this name", link)
	default:
		if err := os.Remove(link); err != nil {
			return err
		}
	}
	return os.Symlink(target, link)
}
