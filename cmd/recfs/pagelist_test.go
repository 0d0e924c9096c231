package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A listAnswer is an answer to a request for the list.
type listAnswer struct {
	V, Total, Matches, Unknown int
	Walking                    bool
	Rows                       []struct {
		Path         string
		Players      []string
		PlayersTotal *int `json:"players_total"`
		Start, Map   *string
		Size         int64
		Ticks        *int64
	}
	Next, Prev *string
}

// list asks for the list, until all was looked at.
func (p serverProcess) list(t *testing.T, query string) (l listAnswer) {
	t.Helper()
	for {
		reply, body, err := askServer(t, http.MethodGet, p.http+"/.view/1/list?"+query, "")
		must(t, err)
		l = listAnswer{}
		if err := json.Unmarshal(body, &l); err != nil || reply.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", query, reply.StatusCode, body)
		}
		if !l.Walking {
			return l
		}
	}
}

// pages asks for all pages, onwards or back from the last one.
func (p serverProcess) pages(t *testing.T, query string) (paths []string) {
	t.Helper()
	last := ""
	for after := ""; ; {
		l := p.list(t, query+"&after="+after)
		for _, r := range l.Rows {
			paths = append(paths, r.Path)
		}
		if last = after; l.Next == nil {
			break
		}
		after = *l.Next
	}
	var back []string
	for after := last; ; {
		l := p.list(t, query+"&after="+after)
		for i := range l.Rows {
			back = append(back, l.Rows[len(l.Rows)-1-i].Path)
		}
		if l.Prev == nil {
			break
		}
		after = *l.Prev
	}
	if slices.Reverse(back); !slices.Equal(paths, back) {
		t.Errorf("%s: pages have %q, those before each of them %q", query, paths, back)
	}
	return paths
}

// TestPageListIsFind compares the list with find.
func TestPageListIsFind(t *testing.T) {
	dir := smallSamples(t)
	for _, name := range []string{"a <b>&\u202e.hcrp", "bad\xff.hcrp"} {
		b, err := os.ReadFile("../../testdata/archive/hcrp/tiny.hcrp")
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
	}
	p := startServer(t, dir)
	find := func(flags ...string) (paths []string, unknown bool) {
		cmd := recfs(t, append([]string{"find", "--json"}, append(flags, ".")...)...)
		cmd.Dir = dir
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, _ := cmd.Output() // 1 if some are unknown
		for line := range strings.Lines(string(out)) {
			var s struct{ Path string }
			must(t, json.Unmarshal([]byte(line), &s))
			paths = append(paths, filepath.Clean(s.Path))
		}
		return paths, strings.Contains(stderr.String(), "could not be judged")
	}
	all, _ := find()
	for query, flags := range map[string][]string{
		"": nil, "format=hcrp": {"--format", "hcrp"}, "format=echo": {"--format", "echo"}, "player=al*": {"--player", "al*"},
		"player=a&player=o": {"--player", "a", "--player", "o"}, "map=%3F*": {"--map", "?*"}, "damaged=1": {"--damaged"},
		"since=2026": {"--since", "2026"}, "until=2026": {"--until", "2026"}, "at=2026-11-21T00:42:50Z": {"--at", "2026-11-21T00:42:50Z"},
		"longer=1s": {"--longer-than", "1s"}, "shorter=90s": {"--shorter-than", "90s"},
	} {
		want, unknown := find(flags...)
		slices.Sort(want)
		got := p.list(t, query+"&sort=path")
		if paths := p.pages(t, query+"&sort=path&limit=3"); !slices.Equal(paths, want) || got.Matches != len(want) || got.Total != len(all) || got.Unknown > 0 != unknown {
			t.Errorf("%s: %q, %d of %d, unknown %d; find says %q, unknown %t", query, paths, got.Matches, got.Total, got.Unknown, want, unknown)
		}
	}
	for _, sort := range []string{"start", "-start", "duration", "-duration", "size", "-size", "ticks", "-ticks", "path", "-path", "map", "-map"} {
		if paths := p.pages(t, "limit=4&sort="+sort); len(paths) != len(all) {
			t.Errorf("sorted by %s: %q", sort, paths)
		}
	}
	if by := p.pages(t, "sort=-path&limit=500"); !slices.IsSortedFunc(by, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("sorted by -path: %q", by)
	}
}

// TestPageListParameters asks for what there is not.
func TestPageListParameters(t *testing.T) {
	p := startServer(t, smallSamples(t))
	for _, bad := range []string{
		"format=x", "since=x", "until=1", "at=%00", "longer=x", "shorter=-1s", "damaged=yes", "sort=name", "sort=--start",
		"limit=0", "limit=501", "limit=x", "after=%25", "after=eA", "after=e30x",
	} {
		name, _, _ := strings.Cut(bad, "=")
		reply, body, err := askServer(t, http.MethodGet, p.http+"/.view/1/list?"+bad, "")
		must(t, err)
		if reply.StatusCode != http.StatusBadRequest || string(body) != "bad parameter: "+name+"\n" {
			t.Errorf("%s: %d %s", bad, reply.StatusCode, body)
		}
	}
	for _, odd := range []string{"q=" + url.QueryEscape(strings.Repeat("x ", 1000)), "player=" + strings.Repeat("*", 500), "map=%5B%5C", "after=e30", "unheard=of"} {
		p.list(t, odd)
	}
}

// TestPageListPlaces takes pages while recordings come and go.
func TestPageListPlaces(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile("../../testdata/archive/hcrp/tiny.hcrp")
	must(t, err)
	name := func(i int) string { return fmt.Sprintf("%02d.hcrp", i) }
	add := func(i int) { must(t, os.WriteFile(filepath.Join(dir, name(i)), b, 0o644)) }
	for i := 0; i < 20; i += 2 {
		add(i)
	}
	p := startServer(t, dir)
	first := p.list(t, "sort=path&limit=4") // 0 2 4 6
	must(t, os.Remove(filepath.Join(dir, name(6))))
	add(5)
	add(7)
	second := p.list(t, "sort=path&limit=4&after="+*first.Next)
	var got []string
	for _, r := range second.Rows {
		got = append(got, r.Path)
	}
	if want := []string{name(7), name(8), name(10), name(12)}; !slices.Equal(got, want) {
		t.Errorf("the second page has %q, want %q", got, want)
	}
	if before := p.list(t, "sort=path&limit=4&after="+*second.Prev); before.Rows[3].Path != name(5) || before.Prev != nil && before.Rows[0].Path != name(0) {
		t.Errorf("before it are %+v", before.Rows)
	}
}
