//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A process must not use a filesystem that it serves. So mounts are served by
// a child: this test binary, told so by the environment.
const serveEnv = "RECFS_TEST_SERVE"

// graceEnv says how long a child waits for a program that handles a signal.
const graceEnv = "RECFS_TEST_GRACE"

// trees are what a child can serve, by name.
var trees = map[string]func() nodes.Dir{
	"sample":  sampleTree,
	"sound":   soundTree,
	"counter": func() nodes.Dir { return &counterDir{} },
	"panics":  func() nodes.Dir { return panicDir{sampleTree()} },
	"slow":    slowTree,
	"lazy":    lazyTree,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(serveEnv); name != "" {
		if err := serve(trees[name](), os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	nodestest.Main(m)
}

// serve mounts the tree, says so on standard output, answers each line on
// standard input with the statistics, and unmounts when that ends. No
// goroutine may be left then.
func serve(root nodes.Dir, dir string) error {
	if grace := os.Getenv(graceEnv); grace != "" {
		var err error
		if interruptGrace, err = time.ParseDuration(grace); err != nil {
			return err
		}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server, err := Mount(dir, root, Options{Log: log, FsName: "sample", Time: sampleTime})
	if err != nil {
		return err
	}
	if err := checkCloseOnExec(); err != nil {
		return err
	}
	fmt.Println("mounted")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if err := json.NewEncoder(os.Stdout).Encode(server.Stats()); err != nil {
			return err
		}
	}
	if err := server.Unmount(); err != nil {
		return err
	}
	select {
	case <-server.done:
		return nodestest.GoroutinesLeft()
	default: // still in use
		return nil
	}
}

// checkCloseOnExec fails if a child of this process would inherit the device.
func checkCloseOnExec() error {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, fd := range fds {
		if target, _ := os.Readlink("/proc/self/fd/" + fd.Name()); target != "/dev/fuse" {
			continue
		}
		info, err := os.ReadFile("/proc/self/fdinfo/" + fd.Name())
		if err != nil {
			return err
		}
		var flags int
		_, line, _ := strings.Cut(string(info), "flags:")
		if _, err := fmt.Sscanf(line, "%o", &flags); err != nil {
			return err
		}
		if flags&syscall.O_CLOEXEC == 0 {
			return errors.New("/dev/fuse is left to children")
		}
	}
	return nil
}

// A child serves a tree at dir.
type child struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
	log   bytes.Buffer
}

// mountChild mounts the tree of that name, or skips the test where nothing
// can be mounted.
func mountChild(t *testing.T, tree string, env ...string) *child {
	t.Helper()
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skipf("no FUSE here: %v", err)
	} else {
		f.Close()
	}
	dir := filepath.Join(t.TempDir(), "mnt")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return startChild(t, tree, dir, env...)
}

func startChild(t *testing.T, tree, dir string, env ...string) *child {
	t.Helper()
	c := &child{t: t, dir: dir, cmd: exec.Command(os.Args[0], dir)}
	c.cmd.Env = append(append(os.Environ(), serveEnv+"="+tree), env...)
	c.cmd.Stderr = &c.log
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(stdout)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	if line, err := c.out.ReadString('\n'); err != nil || line != "mounted\n" {
		c.cmd.Wait()
		if strings.Contains(c.log.String(), "operation not permitted") {
			t.Skipf("not allowed to mount: %s", &c.log)
		}
		t.Fatalf("child: %q, %v\n%s", line, err, &c.log)
	}
	return c
}

// stop unmounts. It may be called more than once.
func (c *child) stop() {
	if c.cmd == nil {
		return
	}
	c.stdin.Close()
	timer := time.AfterFunc(nodestest.Hang, func() { c.cmd.Process.Kill() })
	defer timer.Stop()
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("child: %v\n%s", err, &c.log)
		Unmount(c.dir, true)
	}
	c.cmd = nil
}

func (c *child) stats() Stats {
	c.t.Helper()
	if _, err := io.WriteString(c.stdin, "\n"); err != nil {
		c.t.Fatal(err)
	}
	var s Stats
	line, err := c.out.ReadBytes('\n')
	if err := errors.Join(err, json.Unmarshal(line, &s)); err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *child) path(name string) string { return filepath.Join(c.dir, name) }

// What go-fuse says is one message in the log, whatever the text: the log has a limit for each
// message.
func TestDebugLog(t *testing.T) {
	var buf bytes.Buffer
	w := debugWriter{slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for i := range 2 {
		fmt.Fprintf(w, "writer: failed %d\n", i)
	}
	if strings.Count(buf.String(), `msg=go-fuse text="writer: failed `) != 2 {
		t.Errorf("log:\n%s", &buf)
	}
}
