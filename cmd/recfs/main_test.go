package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"recfs/formats/catalogue"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// An interrupted command says so once, and takes nothing it did not get to for damage.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for line, far := range map[string]string{
		"check":                      "0 recordings, 0 B read: 0 problems so far; another run starts from the beginning",
		"index":                      "0 recordings indexed; nothing was kept, as there is no cache on disk",
		"cat":                        "0 of 1 file printed to the end; another run starts from the beginning",
		"diff " + samples:            "0 differences found so far; another run starts from the beginning",
		"ls -R":                      "0 entries listed; another run starts from the beginning",
		"tree":                       "0 entries drawn; another run starts from the beginning",
		"info":                       "0 recordings told of; another run starts from the beginning",
		"find":                       "0 recordings looked at, 0 of them judged; another run takes over what the disk cache keeps of them",
		"demo --run best":            "the demo is not whole; another run starts from the beginning",
		"demo --run best -o no.demo": "nothing was written; another run starts from the beginning",
	} {
		var stdout, stderr bytes.Buffer
		name, args := commandLine(line+" --cache-disk=0 $1", samples)
		err := commands().named(name).execute(ctx, &env{stdout: &stdout, stderr: &stderr}, args)
		if !errors.Is(err, errInterrupted) {
			t.Errorf("%s: error %v", line, err)
		} else if want := "interrupted: " + far; err.Error() != want {
			t.Errorf("%s: %q, want %q", line, err, want)
		}
		if bytes.Contains(stdout.Bytes(), []byte("context")) || bytes.Contains(stderr.Bytes(), []byte("context")) {
			t.Errorf("%s prints\n%s%s", line, &stdout, &stderr)
		}
	}
}

// An impatient reader interrupts a command that has printed something to him.
type impatient struct{ interrupt func() }

func (i impatient) Write(p []byte) (int, error) {
	i.interrupt()
	return len(p), nil
}

// What an interrupted command did before is counted.
func TestInterruptedHalfway(t *testing.T) {
	setCacheHome(t)
	for line, want := range map[string]string{
		"info $1":                 "1 recording told of; ",
		"find --json $1 $1 $1 $1": `[1-9]\d* recordings looked at, [1-9]\d* of them judged; `,
		"ls -R $1":                `[1-9]\d* entries listed; `,
		"tree $1":                 `[1-9]\d* entries drawn; `,
		"tree --json $1":          `[1-9]\d* entries drawn; `,
		"cat $1/README.md $1":     "1 of 2 files printed to the end; ",
		"diff $1/datafile/maps/old.map $1/datafile/maps/new.map": `[1-9]\d* differences found so far; `,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var stderr bytes.Buffer
		name, args := commandLine(line, samples)
		err := commands().named(name).execute(ctx, &env{stdout: impatient{cancel}, stderr: &stderr}, args)
		if err == nil || !regexp.MustCompile("^interrupted: "+want).MatchString(err.Error()) {
			t.Errorf("%s: %v, want %s\n%s", line, err, want, &stderr)
		}
	}
}

// Whenever a command is interrupted, what it prints tells of recordings, and not of the
// interruption.
func TestInterruptedAnytime(t *testing.T) {
	nodestest.Long(t)
	for _, line := range append(printing, "find --index $1", "export tables $1 $2", "diff $1/datafile $1/teehistorian") {
		for wait := time.Millisecond; wait < 64*time.Millisecond; wait *= time.Duration(nodestest.Times(2, 6)) {
			setCacheHome(t)
			ctx, cancel := context.WithCancel(t.Context())
			timer := time.AfterFunc(wait, cancel)
			var out bytes.Buffer
			name, args := commandLine(strings.ReplaceAll(line, "$2", t.TempDir()), samples)
			err := commands().named(name).execute(ctx, &env{stdout: &out, stderr: &out}, args)
			timer.Stop()
			cancel()
			if bytes.Contains(out.Bytes(), []byte("context")) || err != nil && strings.Contains(err.Error(), "context") {
				t.Errorf("%s, after %v: %v\n%s", line, wait, err, &out)
			}
		}
	}
}

// endless is a file that interrupts who reads it.
type endless struct{ cancel func() }

func (e endless) Size() int64 { return 1 << 50 }

func (e endless) ReadAt(_ context.Context, p []byte, _ int64) (int, error) {
	e.cancel()
	return len(p), nil
}

// A copy of a large file ends when it is interrupted.
func TestInterruptedCopy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	file := nodes.Stream(1<<50, func(context.Context) (nodes.Content, error) { return endless{cancel}, nil })
	if _, err := copyFile(ctx, io.Discard, file); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// The catalogue of a mount is read no further once the command is interrupted.
func TestInterruptedCatalogue(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, catalogue.Name), []byte(strings.Repeat("{}\n", 3)), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var errs []error
	mountSummaries(ctx, dir, func(_ catalogue.Summary, err error) bool {
		cancel()
		errs = append(errs, err)
		return true
	})
	if len(errs) != 2 || errs[0] != nil || !errors.Is(errs[1], context.Canceled) {
		t.Errorf("errors %v", errs)
	}
}

// TestSetHome finds the files of a user whose environment does not name his home.
func TestSetHome(t *testing.T) {
	u, err := user.Current()
	if err != nil || u.HomeDir == "" {
		t.Skip("the user has no home", err)
	}
	t.Setenv("HOME", "")
	setHome()
	if home, err := os.UserHomeDir(); home != u.HomeDir || err != nil {
		t.Errorf("%q, %v", home, err)
	}
	t.Setenv("HOME", "/elsewhere")
	setHome()
	if home := os.Getenv("HOME"); home != "/elsewhere" {
		t.Errorf("%q in place of what was named", home)
	}
}
