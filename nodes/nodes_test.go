package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

func names(t *testing.T, d nodes.Dir) []string {
	t.Helper()
	var out []string
	err := nodes.Walk(t.Context(), d, func(name string, e nodes.Entry, err error) error {
		if name != "." {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func text(s string) nodes.File { return nodes.Bytes([]byte(s)) }

func TestList(t *testing.T) {
	d := nodes.List(
		nodes.Entry{Name: "b", File: text("b")},
		nodes.Entry{},
		nodes.Entry{Name: "a", Dir: nodes.List(nodes.Entry{Name: "x", File: text("x")})},
		nodes.Entry{Name: "b", File: text("second")},
	)
	if got, want := names(t, d), []string{"a", "a/x", "b"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if bad := nodestest.Check(t, d); len(bad) > 0 {
		t.Error(bad)
	}
	e, err := nodes.Lookup(t.Context(), d, "b")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := nodes.ReadAll(t.Context(), e.File); string(b) != "b" {
		t.Errorf("the second of two entries with one name won: %q", b)
	}
	for _, missing := range []string{"c", "a/y", "b/x", "a/x/y"} {
		if _, err := nodes.Lookup(t.Context(), d, missing); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Lookup(%q): %v", missing, err)
		}
	}
}

func TestSeries(t *testing.T) {
	numbers := []int64{3, 10, 99_999_999, 100_000_000, 2_000_000_000}
	s := &nodes.Series{
		Suffix: ".json", Width: 8, N: len(numbers),
		Number: func(i int) int64 { return numbers[i] },
		File:   func(n int64) nodes.File { return text(fmt.Sprint(n)) },
		Extra: func(_ context.Context, n int64) (bool, error) {
			if n == 13 {
				return false, errors.New("unlucky")
			}
			return n < 20, nil
		},
	}
	want := []string{"00000003.json", "00000010.json", "100000000.json", "2000000000.json", "99999999.json"}
	if got := names(t, s); !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if bad := nodestest.Check(t, s); len(bad) > 0 {
		t.Error(bad)
	}
	for name, want := range map[string]string{
		"3.json": "3", "003.json": "3", "00000003.json": "3", "7.json": "7", "99999999.json": "99999999", "2000000000.json": "2000000000",
	} {
		e, err := nodes.Lookup(t.Context(), s, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b, _ := nodes.ReadAll(t.Context(), e.File); string(b) != want {
			t.Errorf("%s shows %s", name, b)
		}
	}
	for _, name := range []string{"20.json", "000000003.json", "+3.json", "-3.json", "3", ".json", "3.jsonx", "99999999999999999999.json", "3 .json"} {
		if _, err := s.Find(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Find(%q): %v, want io/fs.ErrNotExist", name, err)
		}
	}
	if _, err := s.Find(t.Context(), "13.json"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unlisted number that cannot be known: %v", err)
	}
}

func TestSeriesProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.Int64Range(0, 5000), 0, 50, rapid.ID).Draw(rt, "numbers")
		slices.Sort(numbers)
		s := &nodes.Series{
			Prefix: "n", Width: rapid.IntRange(1, 3).Draw(rt, "width"), N: len(numbers),
			Number: func(i int) int64 { return numbers[i] },
			File:   func(int64) nodes.File { return text("") },
		}
		if rapid.Bool().Draw(rt, "search") {
			s.Search = func(n int64) int { i, _ := slices.BinarySearch(numbers, n); return i }
		}
		if got := names(t, s); !slices.IsSorted(got) || len(got) != len(numbers) {
			rt.Fatalf("%d names of %d, sorted: %v", len(got), len(numbers), slices.IsSorted(got))
		}
		for _, n := range numbers {
			i, err := s.Find(t.Context(), fmt.Sprintf("n%d", n))
			if err != nil {
				rt.Fatal(err)
			}
			e, err := s.At(t.Context(), i)
			if err != nil || strings.TrimLeft(e.Name[1:], "0") != strings.TrimLeft(fmt.Sprint(n), "0") {
				rt.Fatalf("number %d opens %q, %v", n, e.Name, err)
			}
		}
	})
}

// Number may cost something: a listing asks once for each entry, and a look-up with Search a few
// times.
func TestSeriesAsksLittle(t *testing.T) {
	asked := 0
	s := &nodes.Series{
		Width: 8, N: 1000, Number: func(i int) int64 { asked++; return int64(2 * i) },
		Search: func(n int64) int { return int(n+1) / 2 },
		File:   func(int64) nodes.File { return text("") },
	}
	names(t, s)
	if asked > s.N+1 {
		t.Errorf("a listing of %d asked for %d numbers", s.N, asked)
	}
	asked = 0
	wide := &nodes.Series{Width: 2, N: s.N, Number: s.Number, Search: s.Search, File: s.File}
	if got := names(t, wide); !slices.IsSorted(got) || asked > 2*s.N+10 {
		t.Errorf("a listing of %d with wide ones asked for %d numbers, sorted: %v", s.N, asked, slices.IsSorted(got))
	}
	asked = 0
	if _, err := s.Find(t.Context(), "500"); err != nil {
		t.Fatal(err)
	}
	if asked > 2 {
		t.Errorf("a look-up asked for %d numbers", asked)
	}
}

func TestAlias(t *testing.T) {
	d := nodes.Alias(nodes.List(nodes.Entry{Name: "00007", File: text("7")}), func(name string) (string, bool) {
		n, ok := nodes.ParseNumber(name, 5)
		return fmt.Sprintf("%05d", n), ok
	})
	if _, err := nodes.Lookup(t.Context(), d, "7"); err != nil {
		t.Error(err)
	}
	if _, err := nodes.Lookup(t.Context(), d, "8"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if bad := nodestest.Check(t, d); len(bad) > 0 {
		t.Error(bad)
	}
}

// TestUnlisted opens what a directory does not list.
func TestUnlisted(t *testing.T) {
	d := nodes.Unlisted(nodes.List(nodes.Entry{Name: "a", File: text("a")}), nodes.Entry{Name: "b", File: text("b")})
	if got := nodestest.Read(t, d, "b"); got != "b" {
		t.Errorf("%q", got)
	}
	if n, err := d.Len(t.Context()); n != 1 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
	if _, err := nodes.Lookup(t.Context(), d, "c"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if bad := nodestest.Check(t, d); len(bad) > 0 {
		t.Error(bad)
	}
}

func TestSizedHoldsThePromise(t *testing.T) {
	f := nodes.Sized(3, func(context.Context) ([]byte, error) { return []byte("four"), nil })
	if _, err := f.Open(t.Context()); !errors.Is(err, nodes.ErrStale) {
		t.Errorf("a file with another size than announced: %v, want nodes.ErrStale", err)
	}
}

func TestSafeName(t *testing.T) {
	for in, want := range map[string]string{
		"grass":                          "grass",
		"a b/c\\d:e*f?g\"h<i>j|":         "a_b_c_d_e_f_g_h_i_j_",
		"..":                             "..",
		"nul\x00\x1f\x7f":                "nul___",
		"\xff\xfeé😀":                     "__é😀",
		"\u200b\u00a0":                   "__",
		strings.Repeat("é", 40):          strings.Repeat("é", 32),
		strings.Repeat("€", 40):          strings.Repeat("€", 21),
		"x" + strings.Repeat("\xff", 70): "x" + strings.Repeat("_", 63),
	} {
		if got := nodes.SafeName(in); got != want {
			t.Errorf("SafeName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWalkGoesOnBehindAnError(t *testing.T) {
	broken := errors.New("broken")
	d := nodes.List(
		nodes.Entry{Name: "a", Dir: nodes.Lazy(func(context.Context) (nodes.Dir, error) { return nil, broken })},
		nodes.Entry{Name: "b", File: text("b")},
	)
	var got []string
	err := nodes.Walk(t.Context(), d, func(name string, _ nodes.Entry, err error) error {
		got = append(got, fmt.Sprint(name, " ", err))
		return nil
	})
	want := []string{". <nil>", "a <nil>", "a broken", "b <nil>"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("visited %q, %v, want %q", got, err, want)
	}
}

func TestWalkInheritsTimes(t *testing.T) {
	own, inherited := time.Unix(1, 0), time.Unix(2, 0)
	d := nodes.List(nodes.Entry{Name: "d", Attr: nodes.Attr{Time: inherited}, Dir: nodes.List(
		nodes.Entry{Name: "a", File: text("a")}, nodes.Entry{Name: "b", Attr: nodes.Attr{Time: own}, File: text("b")},
	)})
	want := map[string]time.Time{"d": inherited, "d/a": inherited, "d/b": own}
	err := nodes.Walk(t.Context(), d, func(name string, e nodes.Entry, err error) error {
		if !e.Time.Equal(want[name]) {
			t.Errorf("%s: %v, want %v", name, e.Time, want[name])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestInherit(t *testing.T) {
	tar := nodes.Attr{Time: time.Unix(1, 0), Rights: nodes.NewRights(0o640, 5, 6).Searchable()}
	own := nodes.NewRights(0o755, 7, 8)
	for want, e := range map[nodes.Rights]nodes.Entry{
		{Known: true, Mode: 0o750, UID: 5, GID: 6}: {Dir: nodes.List()},
		{Known: true, Mode: 0o640, UID: 5, GID: 6}: {File: text("")},
		own: {File: text(""), Attr: nodes.Attr{Rights: own}},
	} {
		if got := e.Inherit(tar); got.Rights != want || !got.Time.Equal(tar.Time) {
			t.Errorf("%v, want %v", got.Attr, want)
		}
	}
	if got := nodes.NewRights(0o7453, 0, 0).Searchable().Mode; got != 0o552 {
		t.Errorf("a directory of what has 0453 has %#o, want 0552", got)
	}
}

// bits is what the numbers of unlisted entries have: fewer where an int has 32.
const bits = 30 + 8*(strconv.IntSize/64)

// An index leaves room for that of the directory in a node id.
func TestSeriesBoundsUnlisted(t *testing.T) {
	s := &nodes.Series{
		Width: 1, N: 5, File: func(n int64) nodes.File { return text(fmt.Sprint(n)) },
		Extra: func(context.Context, int64) (bool, error) { return true, nil },
	}
	for _, n := range []int64{5, 6, 1<<30 - 1, 1<<bits - 1} {
		name := fmt.Sprint(n)
		i, err := s.Find(t.Context(), name)
		if int64(i) >= 1<<39 || err != nil {
			t.Errorf("%s: %d, %v", name, i, err)
		}
		if e, err := s.At(t.Context(), i); e.Name != name || err != nil {
			t.Errorf("the index of %s is of %q, %v", name, e.Name, err)
		}
		if name, kind, err := s.AppendName(t.Context(), nil, i); string(name) != fmt.Sprint(n) || kind != 0 || err != nil {
			t.Errorf("the index of %d names %s %v, %v", n, name, kind, err)
		}
	}
	if i, err := s.Find(t.Context(), fmt.Sprint(int64(1)<<bits)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%d, %v", i, err)
	}
	for _, i := range []int{-1, 5, 1<<bits - 1} {
		if e, err := s.At(t.Context(), i); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("index %d is of %q, %v", i, e.Name, err)
		}
	}
}

// The index of an unlisted entry is the same however many entries are listed.
func TestSeriesIndexOfUnlisted(t *testing.T) {
	var first int
	for n := range 4 {
		s := &nodes.Series{
			Width: 1, N: n, File: func(int64) nodes.File { return text("") },
			Extra: func(context.Context, int64) (bool, error) { return true, nil },
		}
		i, err := s.Find(t.Context(), "9")
		if n == 0 {
			first = i
		}
		if i != first || err != nil {
			t.Errorf("of %d: %d, %v, want %d", n, i, err, first)
		}
	}
}

// lazySeries lists 3 and 5, opens what is below 10 as well, and cannot tell of 13. It counts in
// made how often the list was needed.
func lazySeries(made *int) *nodes.LazySeries {
	numbers := []int64{3, 5}
	file := func(n int64) nodes.File { return text(fmt.Sprint(n)) }
	list := &nodes.Series{
		Prefix: "n", Width: 3, N: len(numbers), Number: func(i int) int64 { return numbers[i] }, File: file,
	}
	return &nodes.LazySeries{
		Unlisted: &nodes.Series{
			Prefix: "n", Width: 3, File: file,
			Extra: func(_ context.Context, n int64) (bool, error) {
				if n == 13 {
					return false, errors.New("unlucky")
				}
				return n < 10, nil
			},
		},
		List: func(context.Context) (nodes.Dir, error) { *made++; return list, nil },
		Made: func() (nodes.Dir, bool) { return list, *made > 0 },
	}
}

func TestLazySeries(t *testing.T) {
	made := 0
	s := lazySeries(&made)
	look := func(name, want string) int {
		t.Helper()
		i, err := s.Find(t.Context(), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, err := s.At(t.Context(), i); e.Name != want || err != nil {
			t.Errorf("index %d of %s is of %q, %v", i, name, e.Name, err)
		}
		return i
	}
	never, early := look("n7", "n007"), look("n05", "n005")
	for _, missing := range []string{"n10", "n0005", "5", "n"} {
		if i, err := s.Find(t.Context(), missing); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %d, %v", missing, i, err)
		}
	}
	if made > 0 {
		t.Errorf("the list was made %d times to find entries", made)
	}
	if got, want := names(t, s), []string{"n003", "n005"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if i := look("n7", "n007"); i != never {
		t.Errorf("an entry that is not listed has index %d, then %d", never, i)
	}
	if i := look("n05", "n005"); i != 1 {
		t.Errorf("a listed entry has index %d, want 1", i)
	}
	if e, err := s.At(t.Context(), early); e.Name != "n005" || err != nil {
		t.Errorf("the index from before the list was made is of %q, %v", e.Name, err)
	}
	if bad := nodestest.Check(t, s); len(bad) > 0 {
		t.Error(bad)
	}
	if _, err := s.Find(t.Context(), "n13"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unlisted number that cannot be known: %v", err)
	}
}

// Without Made an entry is looked for in the list first.
func TestLazySeriesWithoutMade(t *testing.T) {
	made := 0
	s := lazySeries(&made)
	s.Made = nil
	if i, err := s.Find(t.Context(), "n5"); i != 1 || err != nil || made != 1 {
		t.Errorf("index %d, %v, the list was made %d times", i, err, made)
	}
	if i, err := s.Find(t.Context(), "n7"); i < 2 || err != nil {
		t.Errorf("index %d, %v", i, err)
	}
	broken := errors.New("broken")
	s.List = func(context.Context) (nodes.Dir, error) { return nil, broken }
	_, err := s.Len(t.Context())
	_, atErr := s.At(t.Context(), 0)
	_, findErr := s.Find(t.Context(), "n7")
	_, _, nameErr := s.AppendName(t.Context(), nil, 0)
	for _, err := range []error{err, atErr, findErr, nameErr} {
		if !errors.Is(err, broken) {
			t.Errorf("%v, want %v", err, broken)
		}
	}
}

func TestResolve(t *testing.T) {
	list := nodes.List(nodes.Entry{Name: "a", File: text("a")})
	lazy := nodes.Lazy(func(context.Context) (nodes.Dir, error) {
		return nodes.Lazy(func(context.Context) (nodes.Dir, error) { return list, nil }), nil
	})
	for _, dir := range []nodes.Dir{list, lazy} {
		if got, err := nodes.Resolve(t.Context(), dir); got != list || err != nil {
			t.Errorf("Resolve: %v, %v, want %v", got, err, list)
		}
	}
	broken := errors.New("broken")
	if _, err := nodes.Resolve(t.Context(), nodes.Lazy(func(context.Context) (nodes.Dir, error) { return nil, broken })); !errors.Is(err, broken) {
		t.Errorf("Resolve: %v, want %v", err, broken)
	}
}

func TestFollow(t *testing.T) {
	link := func(name, target string) nodes.Entry { return nodes.Entry{Name: name, Link: target} }
	root := nodes.List(
		nodes.Entry{Name: "d", Dir: nodes.List(
			nodes.Entry{Name: "f", File: text("f")}, link("up", ".."), link("self", "self"), link("out", "../../d"), link("via", "up/l/f"),
		)},
		link("l", "d"), link("none", "d/none"), link("below", "d/f/x"),
	)
	for name, want := range map[string]string{
		"l/f": "f", "d/up/l/f": "f", "l/up/d/./f": "f", "d/via": "f", "l//f": "f", "d/../l/f": "f",
		"none": "", "below": "", "l/out": "", "l/self": "too many symbolic links", "d/f/..": "", "..": "",
	} {
		e, err := nodes.Follow(t.Context(), root, name)
		switch {
		case want == "" && !errors.Is(err, fs.ErrNotExist), len(want) > 1 && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", name, err, want)
		case len(want) == 1 && (err != nil || e.Name != want):
			t.Errorf("%s: %q, %v, want %s", name, e.Name, err, want)
		}
	}
	if e, err := nodes.Follow(t.Context(), root, "."); e.Dir != root || err != nil {
		t.Errorf("the root is %v, %v", e, err)
	}
}
