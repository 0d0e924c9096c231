package compare_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/compare"
	"recfs/formats/datafile"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

// side returns an entry with the parts of a map, if it is one.
func side(t require, e nodes.Entry) compare.Side {
	s := compare.Side{Entry: e}
	if e.Dir != nil {
		if err := s.ReadParts(context.Background(), datafile.New(datafile.Options{}).Parts); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// A require is what tests and properties have in common.
type require interface{ Fatal(args ...any) }

// lines returns what differs, a line each.
func lines(t *testing.T, a, b nodes.Entry, marks compare.Marks) ([]string, error) {
	t.Helper()
	var all []string
	err := compare.Entries(t.Context(), side(t, a), side(t, b), marks, func(c compare.Change) error {
		line := fmt.Sprintf("%s %s %s %s %s", c.Kind, c.Path, c.Old, c.New, c.Note)
		if c.Tiles != nil {
			line += fmt.Sprintf("%+v", *c.Tiles)
		}
		all = append(all, strings.TrimSpace(line))
		return nil
	})
	return all, err
}

func file(name, content string) nodes.Entry {
	return nodes.Entry{Name: name, File: nodes.Bytes([]byte(content))}
}

func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       []string
	}{
		{"same", `{"a":1,"b":[1,{"c":null}]}`, "{\n \"a\": 1, \"b\": [1, {\"c\": null}]\n}", nil},
		{"another value", `{"a":{"b":1}}`, `{"a":{"b":"x<y"}}`, []string{`changed a.b 1 "x<y"`}},
		{"another shape", `{"a":{"b":1}}`, `{"a":[1]}`, []string{`changed a {"b":1} [1]`}},
		{"keys", `{"a":1,"b":2}`, `{"b":2,"c":3}`, []string{"removed a 1", "added c  3"}},
		{"large numbers", `{"a":9007199254740993}`, `{"a":9007199254740992}`, []string{"changed a 9007199254740993 9007199254740992"}},
		{"point", `{"a":[1,2]}`, `{"a":[1,3]}`, []string{"changed a [1,2] [1,3]"}},
		{"named elements", `[{"name":"x","n":1},{"name":"y"}]`, `[{"name":"y"},{"name":"x","n":2}]`, []string{"changed [x].n 1 2"}},
		{"sequence", `["a","b","c"]`, `["b","c","d","e"]`, []string{`removed  "a"`, `added   "d"`, `added   "e"`}},
		{"same length", `["a","b"]`, `["a","c"]`, []string{`changed [1] "b" "c"`}},
	} {
		got, err := lines(t, file("a.json", c.a), file("b.json", c.b), nil)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
	if _, err := lines(t, file("a.json", "{"), file("b.json", "{}"), nil); err == nil {
		t.Error("a document that is cut is compared")
	}
}

func TestBytes(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		a, b string
		want []string
	}{
		{long, long, nil},
		{long, long + "y", []string{"changed    the bytes differ from offset 200000 on"}},
		{long[:70_000] + "y", long, []string{"changed    the bytes differ from offset 70000 on"}},
		{"", "x", []string{"changed    the bytes differ from offset 0 on"}},
	} {
		got, err := lines(t, file("a", c.a), file("b", c.b), nil)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

// recording is a tree as all formats have it.
func recording(format string, ticks ...string) nodes.Entry {
	var entries []nodes.Entry
	for i, content := range ticks {
		if content == "" {
			continue
		}
		e := file(fmt.Sprintf("%08d.json", i), content)
		if content == "damaged" {
			e.File = nodes.Func(func(context.Context) ([]byte, error) { return nil, formats.Corrupt(format, 12, "no tick") })
		}
		entries = append(entries, e)
	}
	return nodes.Entry{Name: "r", Dir: nodes.List(
		file("header.json", fmt.Sprintf(`{"format":%q,"source":{"size":%d}}`, format, len(ticks))),
		file("index.json", fmt.Sprintf(`{"format":%q,"chunks":[%d]}`, format, len(ticks))),
		nodes.Entry{Name: "ticks", Dir: nodes.List(entries...)},
	)}
}

func TestFirstTick(t *testing.T) {
	const first = "the first tick that differs"
	for name, c := range map[string]struct {
		a, b []string
		want []string
	}{
		"same":         {[]string{"{}", `{"x":1}`}, []string{"{}", `{"x":1}`}, nil},
		"other":        {[]string{"{}", `{"x":1}`, "1"}, []string{"{}", `{"x":2}`, "2"}, []string{"changed ticks/00000001.json   " + first, "changed ticks/00000001.json/x 1 2"}},
		"shorter":      {[]string{"{}", "{}"}, []string{"{}"}, []string{"removed ticks/00000001.json   " + first}},
		"longer":       {nil, []string{"{}"}, []string{"added ticks/00000000.json   " + first}},
		"a hole":       {[]string{"{}", "", "{}"}, []string{"{}", "{}", "{}"}, []string{"added ticks/00000001.json   " + first}},
		"both damaged": {[]string{"damaged", "{}"}, []string{"damaged", "{}"}, nil},
	} {
		got, err := lines(t, recording("f", c.a...), recording("f", c.b...), nil)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestTrouble(t *testing.T) {
	unreadable := (*compare.UnreadableError)(nil)
	if _, err := lines(t, recording("f", "damaged"), recording("f", "{}"), nil); !errors.As(err, &unreadable) || unreadable.Path != "ticks/00000000.json" {
		t.Errorf("a damaged tick: %v", err)
	}
	for name, pair := range map[string][2]nodes.Entry{
		"formats":          {recording("f"), recording("g")},
		"a file":           {recording("f"), file("x", "")},
		"plain folders":    {{Name: "x", Dir: nodes.List()}, {Name: "y", Dir: nodes.List()}},
		"a map and others": {recording("f"), {Name: "m", Dir: nodes.List(file("map.json", "{}"))}},
	} {
		if _, err := lines(t, pair[0], pair[1], nil); !errors.Is(err, compare.ErrNothing) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := compare.Entries(ctx, side(t, recording("f", "{}")), side(t, recording("f", "{}")), nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context ended: %v", err)
	}
}

// A saved is a file with a document.
type saved struct {
	nodes.File
	document nodes.Entry
	err      error
}

func (s *saved) Document(context.Context) (nodes.Entry, error) { return s.document, s.err }

// Files with a document are compared by that, under whatever name they opened, and by their bytes
// where it is the same.
func TestDocumented(t *testing.T) {
	save := func(content, document string) nodes.Entry {
		f := &saved{file("x", content).File, file("0.json", document), nil}
		return nodes.Entry{Name: "x", File: nodes.LazyFile(func(context.Context) (nodes.File, error) { return f, nil })}
	}
	for _, test := range []struct {
		a, b nodes.Entry
		want string
	}{
		{save("aa", `{"n":1}`), save("ab", `{"n":2}`), "changed n 1 2"},
		{save("aa", `{"n":1}`), save("ab", `{"n":1}`), "changed    the bytes differ from offset 1 on"},
		{save("aa", `{"n":1}`), file("1.json", `{"n":1}`), ""},
		{save("aa", `{"n":1}`), file("y", "ab"), "changed    the bytes differ from offset 1 on"},
	} {
		got, err := lines(t, test.a, test.b, nil)
		if err != nil || strings.Join(got, "\n") != test.want {
			t.Errorf("%q, %v, want %q", got, err, test.want)
		}
	}
	var unreadable *compare.UnreadableError
	bad := nodes.Entry{Name: "bad", File: &saved{file("x", "").File, nodes.Entry{}, errors.New("damaged")}}
	if got, err := lines(t, bad, save("", "{}"), nil); len(got) > 0 || !errors.As(err, &unreadable) {
		t.Errorf("%q, %v", got, err)
	}
}

// maps returns the two versions of a map among the samples.
func maps(t *testing.T) (before, after nodes.Entry) {
	t.Helper()
	c := cache.New(16<<20, nil)
	t.Cleanup(c.Close)
	root := archive.New(formatstest.FromFS(os.DirFS("../../testdata/archive/datafile")), []formats.Format{datafile.New(datafile.Options{})}, c, archive.Options{})
	var pair [2]nodes.Entry
	for i, name := range []string{"maps/old.map", "maps/new.map"} {
		var err error
		if pair[i], err = nodes.Lookup(t.Context(), root, name); err != nil {
			t.Fatal(err)
		}
	}
	return pair[0], pair[1]
}

func TestMaps(t *testing.T) {
	a, b := maps(t)
	picture, err := compare.NewPicture(t.Context(), side(t, a), side(t, b), false)
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	got, err := lines(t, a, b, func(layer string, x, y int, old, now string) {
		marked++
		picture.Mark(layer, x, y, old, now)
	})
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile(filepath.Join("testdata", "maps.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), strings.Join(got, "\n")+"\n"); diff != "" {
		t.Error(diff)
	}
	if marked != 42 {
		t.Errorf("%d tiles are marked, not 42", marked)
	}
	var drawn bytes.Buffer
	if err := picture.Encode(&drawn); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&drawn)
	if err != nil || img.Bounds().Dx() != 48*16 || img.Bounds().Dy() <= 16*16 {
		t.Fatalf("the picture is %v, %v", img.Bounds(), err)
	}
	if red, green, _, _ := img.At(17*16+3, 13*16+3).RGBA(); red >= green {
		t.Error("a tile that was added is not green")
	}
	if legend, _, _, _ := img.At(12, 16*16+10).RGBA(); legend == 0xffff {
		t.Error("there is no legend")
	}
	if both, err := compare.NewPicture(t.Context(), side(t, a), side(t, b), true); err != nil {
		t.Error(err)
	} else if err := both.Encode(&drawn); err != nil {
		t.Error(err)
	}
	if img, err = png.Decode(&drawn); err != nil || img.Bounds().Dx() != (2*48+1)*16 {
		t.Errorf("both maps beside each other are %v, %v", img.Bounds(), err)
	}
	if same, err := lines(t, a, a, nil); len(same) > 0 || err != nil {
		t.Errorf("a map differs from itself: %q, %v", same, err)
	}
	if _, err := compare.NewPicture(t.Context(), side(t, a), side(t, recording("f")), false); !errors.Is(err, compare.ErrNothing) {
		t.Errorf("a picture of what is no map: %v", err)
	}
}
