//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"recfs/nodes/nodestest"
)

const (
	nobody   = 65534
	somebody = 65533
)

// TestMountAsUser mounts as a user without rights, through fusermount3. It runs in a mount
// namespace of its own, in which everybody may use /dev/fuse, and in a process namespace, whose
// servers end with it.
func TestMountAsUser(t *testing.T) {
	nodestest.Long(t)
	const inside = "RECFS_TEST_NAMESPACE"
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	if _, err := exec.LookPath("fusermount3"); err != nil {
		t.Skip("fusermount3 is not installed")
	}
	if os.Getenv(inside) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMountAsUser$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Unshareflags: syscall.CLONE_NEWNS, Cloneflags: syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL,
		}
		runtime.LockOSThread() // a signal at the end of the thread, too
		defer runtime.UnlockOSThread()
		out, err := cmd.CombinedOutput()
		if len(out) == 0 {
			t.Skipf("no mount namespace: %v", err)
		}
		if t.Logf("%s", out); err != nil {
			t.Error(err)
		}
		return
	}

	u := newUserMount(t)
	t.Run("default", u.testDefault)
	t.Run("killed", u.testKilled)
	t.Run("allow-other refused", u.testRefused)
	u.write(t, "fuse.conf", "user_allow_other\n")
	must(t, unix.Mount(u.path("fuse.conf"), "/etc/fuse.conf", "", unix.MS_BIND, ""))
	t.Run("allow-other", u.testAllowed)
	t.Run("rights", u.testRights)
	t.Run("mount -t", u.testHelpers)
}

// A userMount is a place where a user mounts source on mnt.
type userMount struct {
	dir, source, mnt string
}

// newUserMount makes the place in a file system of its own: others must not be kept out by the
// directories above it, and it needs a device.
func newUserMount(t *testing.T) *userMount {
	u := &userMount{dir: "/mnt"}
	u.source, u.mnt = u.path("source"), u.path("home/mnt")
	must(t, unix.Mount("none", u.dir, "tmpfs", 0, "mode=755"))
	must(t, unix.Mknod(u.path("fuse"), unix.S_IFCHR|0o666, int(unix.Mkdev(10, 229))))
	must(t, os.Chmod(u.path("fuse"), 0o666))
	must(t, unix.Mount(u.path("fuse"), "/dev/fuse", "", unix.MS_BIND, ""))
	must(t, os.Mkdir(u.source, 0o755))
	u.write(t, "source/a.txt", "alpha")
	must(t, os.Mkdir(u.path("home"), 0o755))
	must(t, os.Chown(u.path("home"), nobody, nobody))
	self, err := os.ReadFile(os.Args[0])
	must(t, err)
	u.write(t, "recfs", string(self))
	return u
}

func (u *userMount) path(name string) string { return filepath.Join(u.dir, name) }

func (u *userMount) write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(u.path(name), []byte(text), 0o755))
}

// as returns a command of a user.
func (u *userMount) as(uid uint32, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = u.dir
	cmd.Env = append(os.Environ(), "HOME="+u.path("home"), "XDG_CACHE_HOME="+u.path("home/.cache"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return cmd
}

// expect runs a command and wants an exit code and a text in what it prints.
func (u *userMount) expect(t *testing.T, uid uint32, code int, text string, args ...string) {
	t.Helper()
	cmd := u.as(uid, args...)
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != code || !strings.Contains(string(out), text) {
		t.Errorf("%v as %d: %v\n%s\nwant exit code %d and %q", args, uid, cmd.ProcessState, out, code, text)
	}
}

func (u *userMount) testDefault(t *testing.T) {
	u.expect(t, nobody, 0, "", u.path("recfs"), "mount", u.source, u.mnt)
	u.expect(t, nobody, 0, "alpha", "cat", u.mnt+"/a.txt")
	u.expect(t, somebody, 2, "Permission denied", "ls", u.mnt)
	u.expect(t, 0, 2, "Permission denied", "ls", u.mnt)
	u.expect(t, nobody, 1, "recfs is mounted there already", u.path("recfs"), "mount", u.source, u.mnt)
	u.expect(t, nobody, 0, u.mnt+"  "+u.source+"  since ", u.path("recfs"), "stats")
	u.expect(t, somebody, 0, u.mnt+"  "+u.source+"  of another user", u.path("recfs"), "stats")
	u.expect(t, somebody, 0, `"since":null,"problems":null`, u.path("recfs"), "stats", "--json")
	u.expect(t, somebody, 1, "", u.path("recfs"), "umount", u.mnt)
	u.expect(t, nobody, 0, "", u.path("recfs"), "umount", u.mnt)
	nodestest.Eventually(t, "the end of the mount", func() bool { return !exists(u.mnt) })
}

// testKilled ends the server in the worst way: the user can get rid of what it leaves.
func (u *userMount) testKilled(t *testing.T) {
	for _, next := range []string{"umount", "mount"} {
		cmd := u.start(t)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if next == "mount" {
			u.expect(t, nobody, 0, "", u.path("recfs"), "mount", u.source, u.mnt)
			u.expect(t, nobody, 0, "alpha", "cat", u.mnt+"/a.txt")
		}
		u.expect(t, nobody, 0, "", u.path("recfs"), "umount", u.mnt)
	}
}

func (u *userMount) testRefused(t *testing.T) {
	u.expect(t, nobody, 1, "user_allow_other in /etc/fuse.conf", u.path("recfs"), "mount", "--allow-other", u.source, u.mnt)
	if exists(u.mnt) {
		t.Error("a mount point is still there")
	}
	must(t, os.MkdirAll(u.path("rootdir"), 0o755))
	u.expect(t, nobody, 1, "fusermount3 refused, and said above why", u.path("recfs"), "mount", u.source, u.path("rootdir"))

	helper, err := exec.LookPath("fusermount3")
	must(t, err)
	program, err := os.ReadFile(helper)
	must(t, err)
	u.write(t, "fusermount3", string(program))
	must(t, unix.Mount(u.path("fusermount3"), helper, "", unix.MS_BIND, ""))
	defer func() { must(t, unix.Unmount(helper, 0)) }()
	u.expect(t, nobody, 1, helper+" may not mount: it is not setuid root", u.path("recfs"), "mount", u.source, u.mnt)
}

func (u *userMount) testAllowed(t *testing.T) {
	cmd := u.start(t, "--allow-other")
	u.expect(t, somebody, 0, "alpha", "cat", u.mnt+"/a.txt")
	u.expect(t, 0, 0, "alpha", "cat", u.mnt+"/a.txt")
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	must(t, cmd.Wait())

	u.expect(t, nobody, 0, "", u.path("recfs"), "mount", "-o", "allow_other,umask=077", u.source, u.mnt)
	u.expect(t, somebody, 2, "Permission denied", "ls", u.mnt)
	u.expect(t, nobody, 2, "Permission denied", "ls", u.mnt) // it is root's
	u.expect(t, 0, 0, "a.txt", "ls", u.mnt)
	u.expect(t, nobody, 0, "", u.path("recfs"), "umount", u.mnt)
}

// testRights lets others in who then see no more than in the source.
func (u *userMount) testRights(t *testing.T) {
	must(t, os.Mkdir(u.path("source/locked"), 0o700))
	for name, mode := range map[string]os.FileMode{
		"secret.txt": 0o600, "secret.butter": 0o600, "open.butter": 0o644, "secret.tar": 0o640, "locked/inside.txt": 0o644,
	} {
		u.write(t, "source/"+name, "beta")
		must(t, os.Chmod(u.path("source/"+name), mode))
	}
	must(t, os.Symlink("locked/inside.txt", u.path("source/around")))
	must(t, os.Symlink(u.path("source/a.txt"), u.path("source/absolute")))

	mount := func(options string) {
		u.expect(t, 0, 0, "", u.path("recfs"), "mount", "-o", "allow_other,cache_disk=0"+options, u.source, u.mnt)
	}
	mount("")
	closed := []string{
		"secret.txt", "secret.butter/raw", "secret.tar/raw", "locked/inside.txt", "around", "recordings.jsonl", ".recfs/stats.json",
	}
	for _, name := range closed {
		u.expect(t, somebody, 1, "Permission denied", "cat", u.mnt+"/"+name)
		u.expect(t, 0, 0, "", "cat", u.mnt+"/"+name)
	}
	u.expect(t, somebody, 0, "beta", "cat", u.mnt+"/open.butter/raw")
	u.expect(t, somebody, 0, "alpha", "cat", u.mnt+"/absolute")
	for name, want := range map[string]string{
		".": "755 0:0", "open.butter": "755 0:0", "open.butter/raw": "644 0:0", "secret.butter": "700 0:0", "secret.tar": "750 0:0",
		"secret.tar/raw": "640 0:0", "locked": "700 0:0", "around": "777 0:0", "recordings.jsonl": "600 0:0", ".recfs": "700 0:0",
		".recfs/stats.json": "600 0:0",
	} {
		u.expect(t, 0, 0, want+"\n", "stat", "-c", "%a %u:%g", u.mnt+"/"+name)
	}
	u.expect(t, somebody, 1, "1 recording,", u.path("recfs"), "check", "--cache-disk=0", u.mnt+"/open.butter")
	must(t, os.Chmod(u.path("source/open.butter"), 0o600))
	u.expect(t, somebody, 1, "Permission denied", "cat", u.mnt+"/open.butter/raw")
	must(t, os.Chmod(u.path("source/open.butter"), 0o644))
	u.expect(t, somebody, 0, "beta", "cat", u.mnt+"/open.butter/raw")
	u.expect(t, 0, 0, "", u.path("recfs"), "umount", u.mnt)

	mount(",uid=65533")
	u.expect(t, somebody, 0, "beta", "cat", u.mnt+"/secret.txt", u.mnt+"/around")
	u.expect(t, 0, 0, "", u.path("recfs"), "umount", u.mnt)
}

// testHelpers mounts by mount(8), with the links of install-helpers in place of all others.
func (u *userMount) testHelpers(t *testing.T) {
	if _, err := exec.LookPath("mount"); err != nil {
		t.Skip("mount is not installed")
	}
	links := u.path("links")
	must(t, os.Mkdir(links, 0o755))
	u.expect(t, 0, 0, links+"/mount.recfs -> ", u.path("recfs"), "install-helpers", "--dir", links)
	must(t, unix.Mount(links, "/sbin", "", unix.MS_BIND, ""))
	for _, kind := range []string{"recfs", "fuse.recfs"} {
		u.expect(t, 0, 0, "", "mount", "-t", kind, "-o", "noatime,nofail,x-systemd.automount,umask=022", u.source, u.mnt)
		u.expect(t, nobody, 1, "", "test", "-e", u.mnt+"/a.txt")
		u.expect(t, 0, 0, "alpha", "cat", u.mnt+"/a.txt")
		u.expect(t, 0, 0, "", "umount", u.mnt)
	}
	u.expect(t, 0, 2, "unknown mount option", "mount", "-t", "recfs", "-o", "frobnicate", u.source, u.mnt)
}

// start mounts in the foreground.
func (u *userMount) start(t *testing.T, flags ...string) *exec.Cmd {
	t.Helper()
	cmd := u.as(nobody, append(append([]string{u.path("recfs"), "mount", "-f"}, flags...), u.source, u.mnt)...)
	must(t, cmd.Start())
	nodestest.Eventually(t, "a mount", func() bool { return u.as(nobody, "ls", u.mnt+"/a.txt").Run() == nil })
	return cmd
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
