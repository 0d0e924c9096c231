package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"recfs/fs"
	"recfs/nodes/nodestest"
)

// asNobody is set in the environment of tests that root runs again without rights.
const asNobody = "RECFS_TEST_NOBODY"

func TestMain(m *testing.M) {
	gameData = func() []string { return nil }
	passing, answerTime, completionTime = time.Minute, time.Minute, time.Minute // however loaded the machine is
	if os.Getenv(asNobody) != "" {
		os.Exit(m.Run())
	}
	testscript.Main(collectingLess{testsWithBrowser{m}}, map[string]func(){
		"recfs":            main,
		"mount.recfs":      main,
		"mount.fuse.recfs": main,
	})
}

// collectingLess runs tests in whose process no command says how garbage is collected: that would
// hold for all tests behind it. Commands in processes of their own say so.
type collectingLess struct{ testscript.TestingM }

func (m collectingLess) Run() int {
	for name, value := range map[string]string{"GOGC": "400", "GOMEMLIMIT": "off"} {
		if os.Getenv(name) == "" {
			os.Setenv(name, value)
		}
	}
	return m.TestingM.Run()
}

// TestScripts runs command lines and compares what they print. Scripts find the sample archive of
// the repository in $ARCHIVE.
func TestScripts(t *testing.T) {
	archive, err := filepath.Abs("../../testdata/archive")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("ARCHIVE", archive)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TZ", "UTC")
			env.Defer(func() { unmountBelow(env.WorkDir) })
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "fuse" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return canMount(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": scriptStatus,
			"ready":  scriptReady,
			"gone":   scriptGone,
		},
		RequireUniqueNames: true,
	})
}

// scriptStatus expects an exit code: status CODE COMMAND...
func scriptStatus(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d", code)
	}
}

// scriptReady waits until a file is there, and scriptGone until it is not.
func scriptReady(ts *testscript.TestScript, _ bool, args []string) { waitFor(ts, args[0], true) }
func scriptGone(ts *testscript.TestScript, _ bool, args []string)  { waitFor(ts, args[0], false) }

func waitFor(ts *testscript.TestScript, name string, there bool) {
	for end := time.Now().Add(nodestest.Hang); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Lstat(ts.MkAbs(name)); (err == nil) == there {
			return
		}
	}
	ts.Fatalf("%s: waited in vain", name)
}

// unmountBelow ends the mounts that a failed script has left.
func unmountBelow(dir string) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], dir+"/") {
			_ = fs.Unmount(f[4], true)
		}
	}
}

// canMount reports whether this machine lets us mount.
func canMount() bool {
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	f.Close()
	return os.Geteuid() == 0
}
