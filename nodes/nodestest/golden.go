package nodestest

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/txtar"

	"recfs/nodes"
)

// Update is the flag -update.
var Update = flag.Bool("update", false, "rewrite what tests compare with")

// recordingFile is the file of a golden archive that holds the recording.
const recordingFile = "recording.hex"

// Golden compares the tree that open makes of a recording with the one in a
// golden file. That is a txtar archive: prose, then the recording as
// recording.hex (see [ParseHex]), then tree/PATH for each file of the tree.
// A file that is no text stands as tree/PATH.hex, one that cannot be read as
// tree/PATH.error with the reason, an empty directory as tree/PATH/.empty; a
// raw that equals the recording is left out. A file that one of shows makes text
// of stands as tree/PATH.txt. With -update the tree is rewritten, for a person to
// read the diff.
func Golden(t *testing.T, file string, open func(recording []byte) (nodes.Dir, error), shows ...Show) {
	t.Helper()
	recording, ar := readGolden(t, file)
	root, err := open(recording)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	got := &txtar.Archive{Comment: ar.Comment}
	for _, f := range ar.Files {
		if !strings.HasPrefix(f.Name, "tree/") {
			got.Files = append(got.Files, f)
		}
	}
	got.Files = append(got.Files, render(t, root, recording, shows)...)
	if *Update {
		if err := os.WriteFile(file, txtar.Format(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := diff.Diff("want", txtar.Format(ar), "got", txtar.Format(got)); d != nil {
		t.Errorf("%s (rewrite with -update):\n%s", file, d)
	}
}

// A Show makes text, for a person to read, of a file that is no text; nil if it
// does not know files of that name.
type Show func(t *testing.T, name string, content []byte) []byte

// readGolden returns a golden archive and the recording in it.
func readGolden(t *testing.T, file string) ([]byte, *txtar.Archive) {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == recordingFile })
	if i < 0 {
		t.Fatalf("%s has no %s", file, recordingFile)
	}
	recording, err := ParseHex(ar.Files[i].Data)
	if err != nil {
		t.Fatalf("%s: %s: %v", file, recordingFile, err)
	}
	return recording, ar
}

// render checks a tree and returns its files as those of a golden archive.
func render(t *testing.T, root nodes.Dir, recording []byte, shows []Show) []txtar.File {
	t.Helper()
	unreadable := Check(t, root)
	c := checker{t: t, ctx: t.Context()}
	var files []txtar.File
	err := nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
		p := path.Join("tree", name)
		switch {
		case err != nil || unreadable[name] != nil:
			if err == nil {
				err = unreadable[name]
			}
			files = append(files, txtar.File{Name: p + ".error", Data: []byte(err.Error() + "\n")})
		case e.Dir != nil:
			if n, err := e.Dir.Len(t.Context()); n == 0 && err == nil {
				files = append(files, txtar.File{Name: p + "/.empty"})
			}
		case e.File != nil:
			b, err := c.file(name, e.File)
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case name == "raw" && bytes.Equal(b, recording):
			case isText(b):
				files = append(files, txtar.File{Name: p, Data: bytes.Clone(b)})
			default:
				files = append(files, shown(t, p, b, shows))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// shown returns a file that is no text.
func shown(t *testing.T, name string, b []byte, shows []Show) txtar.File {
	for _, show := range shows {
		if text := show(t, name, b); text != nil {
			return txtar.File{Name: name + ".txt", Data: text}
		}
	}
	return txtar.File{Name: name + ".hex", Data: formatHex(b)}
}

// ParseHex reads annotated bytes: pairs of hex digits and Go-quoted strings,
// separated by white space; # begins a comment that ends with its line.
func ParseHex(src []byte) ([]byte, error) {
	var out []byte
	for n, line := range strings.Split(string(src), "\n") {
		for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
			if line[0] == '"' {
				quoted, err := strconv.QuotedPrefix(line)
				if err != nil {
					return nil, fmt.Errorf("line %d: %w", n+1, err)
				}
				text, err := strconv.Unquote(quoted)
				if err != nil {
					return nil, fmt.Errorf("line %d: %w", n+1, err)
				}
				out = append(out, text...)
				line = line[len(quoted):]
				continue
			}
			word := line
			if i := strings.IndexAny(line, " \t#\""); i >= 0 {
				word = line[:i]
			}
			b, err := hex.DecodeString(word)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			out = append(out, b...)
			line = line[len(word):]
		}
	}
	return out, nil
}

// formatHex writes bytes as ParseHex reads them, 32 a line.
func formatHex(b []byte) []byte {
	var out []byte
	for row := range slices.Chunk(b, 32) {
		out = hex.AppendEncode(out, row)
		out = append(out, '\n')
	}
	return out
}
