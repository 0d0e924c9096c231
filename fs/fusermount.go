//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	fuseDevice = "/dev/fuse"
	noFUSE     = "the kernel has no FUSE (as root, modprobe fuse loads it; a container has to be given " + fuseDevice + ")"
	noMount    = "recfs ls, cat, tree and cp work without one"
)

// checkDevice says why fusermount3 could not open the device, which it does as the user.
func checkDevice() error {
	err := unix.Access(fuseDevice, unix.R_OK|unix.W_OK)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New(noFUSE)
	case err != nil:
		return fmt.Errorf("%s is not open to this user (%w): ask root for it, or mount as root", fuseDevice, err)
	}
	return nil
}

// checkHelper says why a user who is not root cannot mount.
func checkHelper(allowOther bool) error {
	if _, err := fusermount(); err != nil {
		return errors.New("fusermount3 is not installed: as root, install the package fuse3 (apt, dnf, pacman, apk), or mount (" + noMount + ")")
	}
	if !allowOther {
		return nil
	}
	conf, err := os.ReadFile("/etc/fuse.conf")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil // fusermount3 will know
	}
	for line := range strings.Lines(string(conf)) {
		if strings.TrimSpace(line) == "user_allow_other" {
			return nil
		}
	}
	return errors.New("allow_other needs the line user_allow_other in /etc/fuse.conf, or root")
}

// refused says what to do about an error of go-fuse with fusermount3, which has printed its reason.
func refused(err error) error {
	helper, missing := fusermount()
	info, unseen := os.Stat(helper)
	switch {
	case missing != nil || unseen != nil || !strings.HasPrefix(err.Error(), "fusermount exited"):
		return fmt.Errorf("fusermount3: %w", err)
	case info.Mode()&os.ModeSetuid == 0 || fileOwner(info) != 0:
		return fmt.Errorf("%s may not mount: it is not setuid root, as the package fuse3 installs it; as root, reinstall that or mount (%s)", helper, noMount)
	}
	return fmt.Errorf("%s refused, and said above why: the mount point has to be a directory of yours, and you a user of this system (%s)", helper, noMount)
}

func fileOwner(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

func fusermount() (string, error) {
	var err error
	for _, name := range []string{"fusermount3", "/bin/fusermount3", "fusermount", "/bin/fusermount"} {
		var path string
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// Unmount ends the mount at dir, whichever process serves it. A lazy one
// succeeds even while it is in use: see [Server.Unmount].
func Unmount(dir string, lazy bool) error {
	point, err := MountPoint(dir)
	if err != nil {
		return fmt.Errorf("unmount %s: %w", dir, err)
	}
	return unmount(point, lazy)
}

// unmount is Unmount of what mountPoint returned. It does not touch the mount
// itself, so that its own server may call it.
func unmount(dir string, lazy bool) error {
	if err := detach(dir, lazy); err != nil {
		return fmt.Errorf("unmount %s: %w", dir, err)
	}
	return nil
}

func detach(dir string, lazy bool) error {
	if !isOurs(dir) {
		return errors.New("recfs is not mounted there")
	}
	if os.Geteuid() == 0 {
		const noFollow = 8 // UMOUNT_NOFOLLOW
		flags := noFollow
		if lazy {
			flags |= syscall.MNT_DETACH
		}
		return syscall.Unmount(dir, flags)
	}
	helper, err := fusermount()
	if err != nil {
		return err
	}
	mode := "-u"
	if lazy {
		mode = "-uz"
	}
	out, err := exec.Command(helper, mode, "--", dir).CombinedOutput()
	if err != nil && len(out) > 0 {
		return errors.New(strings.TrimSpace(string(out)))
	}
	return err
}
