package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"recfs/formats/catalogue"
	"recfs/nodes/nodestest"
)

// printing are command lines that print something of the archive in $1.
var printing = []string{
	"ls $1", "ls -lR $1", "tree $1", "cat $1/README.md", "info $1", "info --json $1", "find $1", "find -l $1", "find --json $1",
	"ls --json $1", "tree --json $1", "find -0 $1", "check $1", "check --json $1", "index --json $1", "cache", "cache ls", "cache --json", "help", "help mount", "help flags", "version", "version --json",
	"completion bash",
}

func commandLine(line, archive string) (name string, args []string) {
	words := strings.Fields(strings.ReplaceAll(line, "$1", archive))
	return words[0], words[1:]
}

var errFull = errors.New("no space left")

// A fullDisk takes so many bytes and counts what is written after that.
type fullDisk struct{ left, refused int }

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(d.left, len(p))
	d.left -= n
	if n < len(p) {
		d.refused++
		return n, errFull
	}
	return n, nil
}

// A command that cannot print says so and stops.
func TestFullDisk(t *testing.T) {
	setCacheHome(t)
	archive := filepath.Join(t.TempDir(), "archive")
	if err := os.CopyFS(archive, os.DirFS(smallSamples(t))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(archive, "README.md"), []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range printing {
		for _, room := range []int{0, 1} {
			name, args := commandLine(line, archive)
			disk := &fullDisk{left: room}
			var stderr bytes.Buffer
			err := commands().named(name).execute(t.Context(), &env{stdout: disk, stderr: &stderr}, args)
			if !errors.Is(err, errFull) {
				t.Errorf("%s: error %v\n%s", line, err, &stderr)
			}
			if disk.refused != 1 {
				t.Errorf("%s: tries %d times to print", line, disk.refused)
			}
			if strings.Contains(stderr.String(), errFull.Error()) {
				t.Errorf("%s: says so twice:\n%s", line, &stderr)
			}
		}
	}
}

// setCacheHome sets the cache directory of commands that run in this process. What a command began
// before it stopped may still be put there for a moment after it.
func setCacheHome(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "recfs-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 500 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error(err)
	})
	t.Setenv("XDG_CACHE_HOME", dir)
}

// hostileNames are names of files that break what takes a line or a string for granted.
var hostileNames = []string{
	"two\nlines", "two\r\nlines", "quote\"d", `back\slash`, "\x1b[2J\x1b]0;title\a", "not utf-8 \xff\xfe", "c1 \u009b31m",
	"right to left \u202e", "tab\tbed", "<&'>", "\x7f", "line \u2028 separator",
}

// hostileArchive returns a directory with recordings, whole and damaged, under such names.
func hostileArchive(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	for _, name := range hostileNames {
		sub := filepath.Join(dir, name)
		if err := os.MkdirAll(sub, 0o777); err != nil {
			t.Skipf("no file is called so here: %v", err)
		}
		for sample, ext := range map[string]string{
			"nethack/small.nhgame": ".nhgame", "datafile/maps/old.map": ".map", "hcrp/bad/truncated-tail.hcrp": ".hcrp", "README.md": ".butter",
		} {
			b, err := os.ReadFile(filepath.Join(samples, sample))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(sub, name+ext), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// Names from the archive break neither lines nor JSON, and send nothing to a terminal but text.
func TestHostileNames(t *testing.T) {
	nodestest.Long(t)
	setCacheHome(t)
	archive := hostileArchive(t)
	for _, line := range printing {
		name, args := commandLine(line, archive)
		if name == "cat" || strings.Contains(line, "-0") {
			continue
		}
		var stdout, stderr bytes.Buffer
		err := commands().named(name).execute(t.Context(), &env{stdout: &stdout, stderr: &stderr, terminal: true}, args)
		if err != nil && !errors.Is(err, errReported) {
			t.Errorf("%s: %v", line, err)
		}
		if stdout.Len() == 0 {
			t.Errorf("%s prints nothing", line)
		}
		if strings.Contains(line, "--json") {
			testJSONLines(t, line, &stdout)
		} else {
			testText(t, line, stdout.String())
		}
		testText(t, line, stderr.String())
	}
}

func testJSONLines(t *testing.T, line string, text *bytes.Buffer) {
	t.Helper()
	for object := range bytes.Lines(text.Bytes()) {
		var v map[string]any
		if err := json.Unmarshal(object, &v); err != nil {
			t.Errorf("%s: %q: %v", line, object, err)
		}
	}
}

func testText(t *testing.T, line, text string) {
	t.Helper()
	text = strings.NewReplacer(bold, "", red, "", green, "", yellow, "", boldBlue, "", boldCyan, "", plainly, "").Replace(text)
	for _, r := range text {
		if !unicode.IsGraphic(r) && r != '\n' && !(r == '\t' && strings.HasPrefix(line, "completion")) {
			t.Errorf("%s prints %U", line, r)
			return
		}
	}
}

// A program gets names as they are.
func TestExactNames(t *testing.T) {
	archive := hostileArchive(t)
	var stdout, stderr bytes.Buffer
	if err := commands().named("ls").execute(t.Context(), &env{stdout: &stdout, stderr: &stderr}, []string{archive}); err != nil {
		t.Fatal(err, &stderr)
	}
	for _, name := range hostileNames {
		if !bytes.Contains(stdout.Bytes(), []byte(name+"\n")) {
			t.Errorf("%q is not there", name)
		}
	}
}

// The paths in JSON lead to the recordings, also those that are not UTF-8.
func TestExactPaths(t *testing.T) {
	nodestest.Long(t)
	setCacheHome(t)
	archive := hostileArchive(t)
	run, err := os.ReadFile(filepath.Join(samples, "teehistorian", "reload-20.1.teehistorian"))
	if err != nil {
		t.Fatal(err)
	}
	writeNew(t, filepath.Join(archive, "run \xff.teehistorian"), run)
	for line, below := range map[string]string{
		"find --json $1": "", "info --json $1": "", "check --json $1": "", "index --json $1": "", "find --finished --index --json $1": "", "ls --json $1": "",
		"export tables --json $1 " + t.TempDir(): archive,
	} {
		name, args := commandLine(line, archive)
		var stdout, stderr bytes.Buffer
		err := commands().named(name).execute(t.Context(), &env{stdout: &stdout, stderr: &stderr}, args)
		if err != nil && !errors.Is(err, errReported) {
			t.Errorf("%s: %v", line, err)
		}
		exact := 0
		for object := range bytes.Lines(stdout.Bytes()) {
			var s catalogue.Summary
			if err := json.Unmarshal(object, &s); err != nil {
				t.Fatalf("%s: %q: %v", line, object, err)
			}
			if s.PathHex != "" {
				exact++
			}
			if name := filepath.Join(below, s.Place()); !exists(name) {
				t.Errorf("%s: there is no %q", line, name)
			}
		}
		if exact == 0 {
			t.Errorf("%s tells no exact path", line)
		}
	}
}

// So does what the cache tells of them.
func TestExactCachePaths(t *testing.T) {
	setCacheHome(t)
	run, err := os.ReadFile(filepath.Join(samples, "teehistorian", "reload-20.1.teehistorian"))
	if err != nil {
		t.Fatal(err)
	}
	archive := t.TempDir()
	writeNew(t, filepath.Join(archive, "run\xff.teehistorian"), run)
	exact := `"recording_hex":"` + hex.EncodeToString([]byte(filepath.Join(archive, "run\xff.teehistorian"))) + `"`
	for _, line := range []string{"index $1", "cache ls --json", "cache --json"} {
		name, args := commandLine(line, archive)
		var stdout, stderr bytes.Buffer
		if err := commands().named(name).execute(t.Context(), &env{stdout: &stdout, stderr: &stderr}, args); err != nil {
			t.Fatalf("%s: %v, %s", line, err, &stderr)
		}
		if strings.HasPrefix(line, "cache") && !strings.Contains(stdout.String(), exact) {
			t.Errorf("%s: %s", line, &stdout)
		}
	}
}

// A terminal is spared the bytes of a demo.
func TestDemoOnTerminal(t *testing.T) {
	setCacheHome(t)
	var stdout, stderr bytes.Buffer
	args := []string{filepath.Join(samples, "teehistorian", "reload-20.1.teehistorian"), "204", "400"}
	err := commands().named("demo").execute(t.Context(), &env{stdout: &stdout, stderr: &stderr, terminal: true}, args)
	if !errors.Is(err, errReported) || stdout.Len() > 0 || !strings.Contains(stderr.String(), "a terminal cannot show a demo") {
		t.Errorf("%d bytes, %v, %s", stdout.Len(), err, &stderr)
	}
}

// That its output cannot be written is trouble for diff, not a difference.
func TestDiffOnFullDisk(t *testing.T) {
	setCacheHome(t)
	maps := filepath.Join(samples, "datafile", "maps")
	argv := []string{"recfs", "diff", filepath.Join(maps, "old.map"), filepath.Join(maps, "new.map")}
	var stderr bytes.Buffer
	if code := run(&env{stdout: &fullDisk{}, stderr: &stderr}, argv); code != exitTrouble {
		t.Errorf("exit code %d, %s", code, &stderr)
	}
}

// What is said of the names of files moves no cursor.
func TestHarmlessNames(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a\x1b[2J.hcrp")
	var stderr bytes.Buffer
	if code := run(&env{stdout: &stderr, stderr: &stderr}, []string{"recfs", "compact", "--level=1", samples + "/hcrp/tiny.hcrp", out}); code != exitOK || strings.Contains(stderr.String(), "\x1b") {
		t.Errorf("exit code %d, %q", code, &stderr)
	}
}
