package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents are JSON files of one recording of each format, which have all keys that it can show
// between them.
var documents = []struct {
	format, recording string
	files             []string
}{
	{"teehistorian", "teehistorian/reload-20.1.teehistorian", []string{
		"header.json", "index.json", "players.json", "lines/000000.jsonl", "states/250.json",
	}},
	{"datafile", "datafile/maps/new.map", []string{
		"header.json", "index.json", "map.json", "items/info/0.json", "items/image/0.json", "items/envelope/0.json",
		"items/group/0.json", "items/layer/0.json", "items/layer/1.json", "items/envpoints/0.json",
	}},
	{"hcrp", "hcrp/run-short.hcrp", []string{
		"header.json", "index.json", "metadata.json", "lines/000000.jsonl", "snapshots/000001.jsonl", "states/300.json", "markers.json",
	}},
	{"butter", "butter/arena_v1_gzip.butter", []string{
		"header.json", "index.json", "lines/000000.jsonl", "scores.json", "events.jsonl",
	}},
	{"nethack", "nethack/small.nhgame", []string{
		"header.json", "index.json", "lines/000000.jsonl", "states/40.json", "export/commands.jsonl",
	}},
}

var (
	codeText = regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`]*`|^    .*?$")
	keyText  = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)
)

// TestKeysAreDescribed holds the pages of docs/ to the keys that recordings show.
func TestKeysAreDescribed(t *testing.T) {
	setCacheHome(t)
	for _, d := range documents {
		t.Run(d.format, func(t *testing.T) {
			var args []string
			for _, name := range d.files {
				args = append(args, filepath.Join("../../testdata/archive", d.recording, name))
			}
			var out, stderr bytes.Buffer
			if err := commands().named("cat").execute(t.Context(), &env{stdout: &out, stderr: &stderr}, args); err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			keys := jsonKeys(t, &out)
			if len(keys) < 20 {
				t.Fatalf("only %d keys", len(keys))
			}
			known := describedKeys(t, d.format)
			for key := range keys {
				if !known[key] {
					t.Errorf("the pages of %s do not say what %q is", d.format, key)
				}
			}
		})
	}
}

// describedKeys returns the words in the code of the pages of a format.
func describedKeys(t *testing.T, format string) map[string]bool {
	known := map[string]bool{}
	for _, name := range []string{"tree/README.md", "tree/" + format + ".md", "formats/" + format + ".md"} {
		text, err := os.ReadFile(path.Join("../../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range keyText.FindAllString(strings.Join(codeText.FindAllString(string(text), -1), "\n"), -1) {
			known[word] = true
		}
	}
	return known
}

// jsonKeys returns the keys of all objects in a row of JSON texts, without those that a recording
// names itself: settings of a server and NBT.
func jsonKeys(t *testing.T, r io.Reader) map[string]bool {
	keys := map[string]bool{}
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				collect(e)
			}
		case map[string]any:
			for key, e := range v {
				keys[key] = true
				if key != "config" && key != "tuning" && v["type"] != "compound" {
					collect(e)
				}
			}
		}
	}
	for d := json.NewDecoder(r); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return keys
		} else if err != nil {
			t.Fatal(err)
		}
		collect(v)
	}
}
