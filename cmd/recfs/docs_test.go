package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Where documents mount and serve things; the tests do so elsewhere.
const (
	docMount = "/tmp/recordings"
	docHTTP  = "127.0.0.1:8030"
	docS3    = "127.0.0.1:8031"
)

// freeAddress returns one that nobody listens at.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// A session is a command of a document with what it prints.
type session struct {
	line    int
	command string
	want    []string
}

// TestDocuments pastes the commands in the console blocks of a document into one shell, from top to
// bottom, and compares what they print with the document. A line of … alone matches any number of
// lines, … in a line any text.
func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many programs")
	}
	if !canMount() {
		t.Skip("the documents mount things, and /dev/fuse cannot be used here")
	}
	for _, tool := range []string{"bash", "jq", "python3", "od"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the documents use %s, which is not installed", tool)
		}
	}
	for _, name := range []string{"README.md", "docs/guide.md", "docs/cookbook.md", "docs/serve.md", "docs/page.md"} {
		t.Run(filepath.Base(name), func(t *testing.T) { runDocument(t, name) })
	}
}

func runDocument(t *testing.T, name string) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(repo, name))
	if err != nil {
		t.Fatal(err)
	}
	sessions := parseSessions(string(text))
	if len(sessions) < 5 {
		t.Fatalf("only %d commands in %s", len(sessions), name)
	}
	work, mnt := t.TempDir(), filepath.Join(t.TempDir(), "m")
	t.Cleanup(func() { unmountBelow(filepath.Dir(mnt)) })
	t.Cleanup(func() { unmountBelow(work) })
	if err := os.CopyFS(filepath.Join(work, "testdata/archive"), os.DirFS(filepath.Join(repo, "testdata/archive"))); err != nil {
		t.Fatal(err)
	}
	httpAddr, s3Addr := freeAddress(t), freeAddress(t)
	places := strings.NewReplacer(docMount, mnt, docHTTP, httpAddr, docS3, s3Addr)
	documented := strings.NewReplacer(mnt, docMount, httpAddr, docHTTP, s3Addr, docS3)
	printed := paste(t, work, sessions, places.Replace)
	for i, s := range sessions {
		got := documented.Replace(printed[i])
		if !matchOutput(s.want, strings.Split(strings.TrimSuffix(got, "\n"), "\n")) {
			t.Errorf("%s:%d: $ %s\nprinted\n%s\nwhere the document has\n%s", name, s.line, s.command, got, strings.Join(s.want, "\n"))
		}
	}
}

// pasteEnd is printed after each command.
const pasteEnd = "\n\x1eend\n"

// paste gives the commands, changed by a function, to the standard input of one shell in the
// directory work, and returns what each printed.
func paste(t *testing.T, work string, sessions []session, change func(string) string) []string {
	tmp := t.TempDir()
	t.Cleanup(func() { unmountBelow(tmp) })
	var script strings.Builder
	for _, s := range sessions {
		fmt.Fprintf(&script, "%s\nprintf '\\n\\036end\\n'\n", change(s.command))
	}
	var out bytes.Buffer
	cmd := exec.Command("bash", "--norc")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = work, strings.NewReader(script.String()), &out, &out
	cmd.Env = append(os.Environ(), "HOME="+work, "XDG_CACHE_HOME="+filepath.Join(work, ".cache"), "TMPDIR="+tmp, "LC_ALL=C.UTF-8", "TZ=UTC")
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run() // diff and grep tell with their exit code what they found
	printed := strings.Split(out.String(), pasteEnd)
	if len(printed) != len(sessions)+1 {
		t.Fatalf("%d of %d commands ran: %v\n%s", len(printed)-1, len(sessions), err, &out)
	}
	return printed
}

// parseSessions takes the commands from the console blocks of a document: a line that begins with
// $, the lines after it while it ends in a backslash, and what is printed up to the next.
func parseSessions(text string) (all []session) {
	inside, more := false, false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside, more = line == "```console", false
		case !inside:
		case strings.HasPrefix(line, "$ "):
			all = append(all, session{line: i + 1, command: line[2:]})
			more = strings.HasSuffix(line, `\`)
		case more:
			last := &all[len(all)-1]
			last.command += "\n" + line
			more = strings.HasSuffix(line, `\`)
		case len(all) > 0:
			last := &all[len(all)-1]
			last.want = append(last.want, line)
		}
	}
	return all
}

// matchOutput compares lines, with … as TestDocuments says.
func matchOutput(want, got []string) bool {
	var pattern strings.Builder
	for _, line := range want {
		if line == "…" {
			pattern.WriteString("(?:.*\n)*?")
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, ".*") + "\n")
	}
	if len(want) == 0 {
		pattern.WriteString("\n")
	}
	re := regexp.MustCompile("^" + pattern.String() + "$")
	return re.MatchString(strings.Join(got, "\n") + "\n")
}

func TestMatchOutput(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a\nb", "a\nb", true},
		{"a\nb", "a\nc", false},
		{"a\n…\nd", "a\nb\nc\nd", true},
		{"a\n…", "a", true},
		{"a\n…\nd", "a\nb\nc", false},
		{"size …, (ok)", "size 12, (ok)", true},
		{"size …, (ok)", "size 12\n, (ok)", false},
		{"", "", true},
		{"", "x", false},
	} {
		var want []string
		if c.want != "" {
			want = strings.Split(c.want, "\n")
		}
		if got := matchOutput(want, strings.Split(c.got, "\n")); got != c.ok {
			t.Errorf("matchOutput(%q, %q) = %v", c.want, c.got, got)
		}
	}
}

func TestParseSessions(t *testing.T) {
	got := fmt.Sprint(parseSessions("text\n```sh\n$ no\n```\n```console\n$ one\nout 1\n$ two \\\n  more\nout 2\n```\nmore text\n"))
	want := `[{6 one [out 1]} {8 two \
  more [out 2]}]`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
