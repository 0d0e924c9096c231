package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"recfs/formats/catalogue"
	"recfs/nodes/nodestest"
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
	nodestest.Long(t)
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

// rowPaths are the paths of the rows that a list shows.
const rowPaths = "[...document.querySelectorAll('[data-testid=row]')].map((r) => r.dataset.path)"

// TestBrowserList searches, turns pages and goes back by mouse and keyboard.
func TestBrowserList(t *testing.T) {
	dir := smallSamples(t)
	b := openBrowser(t, dir, 1280, 800)
	b.open("/?sort=path")
	all := b.server.list(t, "sort=path")
	var want []string
	for _, r := range all.Rows {
		want = append(want, r.Path)
	}
	for _, of := range []string{rowPaths, "window.recfs.rows"} {
		if got := evaluate[[]string](b, of); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", of, got, want)
		}
	}
	if got := b.text("document.querySelector('[data-testid=total]').textContent"); got != fmt.Sprintf("%d recordings", all.Total) {
		t.Errorf("it says %q", got)
	}
	b.press("/")
	b.press("tiny")
	b.wait("window.recfs.ready && window.recfs.matches === 1")
	if at := b.text("location.search"); at != "?q=tiny&sort=path" {
		t.Errorf("the address is %s", at)
	}
	b.press(kb.ArrowDown)
	b.press(kb.Enter)
	b.wait("location.pathname === '/.view/play/hcrp/tiny.hcrp'")
	b.back()
	b.wait("window.recfs?.ready && document.querySelector('[data-testid=search]').value === 'tiny' && window.recfs.rows.length === 1")
	b.click("clear")
	b.wait("location.search === '' && window.recfs.ready && window.recfs.matches === window.recfs.total")
	b.back()
	b.wait("location.search === '?q=tiny&sort=path' && window.recfs.ready && window.recfs.rows.length === 1")

	b.open("/?sort=path&format=nosuch")
	if got := b.text("document.querySelector('[data-testid=error]').innerText"); !strings.Contains(got, "bad parameter: format") {
		t.Errorf("of a format that there is not it says %q", got)
	}
}

// TestBrowserListWithoutServer has a page ask again by itself and by its button.
func TestBrowserListWithoutServer(t *testing.T) {
	b := openBrowser(t, smallSamples(t), 1280, 800)
	b.open("/")
	const failing = `(window.left = 1, window.reach ??= window.fetch, window.fetch = (...all) => window.left-- > 0 ? %s : window.reach(...all))`
	for answer, want := range map[string]string{
		"Promise.reject(new TypeError('x'))":                                                      "The server does not answer.",
		"Promise.resolve(new Response('busy', {status: 503}))":                                    "The server is busy, or what it shows has just changed.",
		"Promise.resolve(new Response('{\"v\":1,\"rows\":['))":                                    "The server sent half an answer.",
		"Promise.resolve(new Response(new ReadableStream({start: (c) => c.error(new Error())})))": "The server stopped in the middle of an answer.",
	} {
		b.text(fmt.Sprintf(failing, answer))
		b.text("document.querySelector('[data-testid=damaged]').click()")
		b.wait("window.recfs.error !== null")
		if got := b.text("window.recfs.error"); got != want {
			t.Errorf("the page says %q, want %q", got, want)
		}
		b.text("document.querySelector('[data-testid=error] button').click()")
		b.wait("window.recfs.error === null && window.recfs.ready && window.left < 0")
		b.text("window.fetch = window.reach")
	}
	b.text(fmt.Sprintf(failing, "Promise.resolve(new Response('{\"v\":2}'))"))
	b.text("document.querySelector('[data-testid=damaged]').click()")
	b.wait("window.recfs.error !== null && window.recfs.ready")
	if got := b.text("window.recfs.error"); !strings.Contains(got, "another version") {
		t.Errorf("of another version it says %q", got)
	}
}

// TestBrowserListPages turns pages by keys and buttons.
func TestBrowserListPages(t *testing.T) {
	dir := t.TempDir()
	sample, err := os.ReadFile("../../testdata/archive/hcrp/tiny.hcrp")
	must(t, err)
	for i := range 250 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.hcrp", i)), sample, 0o644))
	}
	b := openBrowser(t, dir, 1280, 800)
	b.open("/?sort=path")
	first := func(name string) {
		t.Helper()
		b.wait(fmt.Sprintf("window.recfs.ready && window.recfs.rows[0] === %q", name))
	}
	b.press(kb.PageDown)
	first("100.hcrp")
	b.wait("document.activeElement.closest('li')?.dataset.path === '100.hcrp'")
	b.click("next")
	first("200.hcrp")
	b.wait("document.querySelector('[data-testid=next]').disabled && window.recfs.rows.length === 50")
	b.press(kb.PageUp)
	first("100.hcrp")
	b.press(kb.ArrowDown + kb.ArrowDown + kb.ArrowUp)
	b.wait("document.activeElement.closest('li')?.dataset.path === '101.hcrp'")
	b.back()
	first("200.hcrp")
	b.click("prev")
	first("100.hcrp")
	b.click("prev")
	first("000.hcrp")
	if n := evaluate[int](b, "document.getElementsByTagName('*').length"); n > 6000 {
		t.Errorf("%d elements", n)
	}
	if n := evaluate[int](b, "performance.getEntries().reduce((n, e) => n + (e.encodedBodySize ?? 0), 0)"); n == 0 || n > 150<<10 {
		t.Errorf("%d bytes were fetched", n)
	}
}

// TestBrowserListOfHostileNames shows names that are no names, on a phone and at twice the size.
func TestBrowserListOfHostileNames(t *testing.T) {
	dir := t.TempDir()
	sample, err := os.ReadFile("../../testdata/archive/hcrp/tiny.hcrp")
	must(t, err)
	names := []string{
		"<img src=x onerror=alert(1)>.hcrp", "\u202egnp.hcrp", "a\nb\x01\x7f.hcrp", "bad\xff\xfe.hcrp", "אבג.hcrp",
		strings.Repeat("long", 60) + ".hcrp", "%2e%2e#?.hcrp", "\"';&amp;.hcrp",
	}
	for _, name := range names {
		must(t, os.WriteFile(filepath.Join(dir, name), sample, 0o644))
	}
	for _, size := range [][2]int64{{360, 640}, {640, 400}, {1280, 800}} {
		b := openBrowser(t, dir, size[0], size[1])
		b.open("/")
		if n := evaluate[int](b, rowPaths+".length"); n != len(names) {
			t.Errorf("%d rows of %d", n, len(names))
		}
		if wide := evaluate[int](b, "document.documentElement.scrollWidth"); wide > int(size[0]) {
			t.Errorf("of %d pixels the page takes %d", size[0], wide)
		}
		if n := evaluate[int](b, "document.querySelectorAll('main img, main script').length"); n != 0 {
			t.Errorf("%d elements are made of names", n)
		}
		if bad := b.text("document.body.innerText.match(/[\\u0000-\\u0008\\u202e]/)"); bad != "null" {
			t.Errorf("the page shows %q", bad)
		}
		for _, link := range evaluate[[]string](b, "[...document.querySelectorAll('[data-testid=row] a')].map((a) => a.href)") {
			reply, body, err := askServer(t, http.MethodGet, link, "")
			must(t, err)
			if reply.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %s", link, reply.StatusCode, body)
			}
		}
		b.picture(fmt.Sprintf("hostile%d.png", size[0]))
	}
}

// TestBrowserListIsNamed looks for controls without a name, and for letters that are hard to read.
func TestBrowserListIsNamed(t *testing.T) {
	b := openBrowser(t, smallSamples(t), 1280, 800)
	for _, scheme := range []string{"light", "dark"} {
		b.prefer("prefers-color-scheme", scheme)
		b.open("/")
		for _, id := range []string{"list", "search", "player", "map", "format", "since", "until", "sort", "rows", "row", "total", "next", "prev"} {
			if b.text(fmt.Sprintf("!!document.querySelector('[data-testid=%s]')", id)) != "true" {
				t.Errorf("there is no %s", id)
			}
		}
		if got := evaluate[[]string](b, nameless); len(got) > 0 {
			t.Errorf("nobody is told what these are: %q", got)
		}
		if got := evaluate[[]string](b, faint); len(got) > 0 {
			t.Errorf("%s: hard to read: %q", scheme, got)
		}
		b.picture("list-" + scheme + ".png")
	}
}

// nameless are controls of which a screen reader could not tell what they are.
const nameless = "[...document.querySelectorAll('a, button, input, select, summary, canvas[role], [role=slider]')].filter((e) => e.checkVisibility() && !(e.ariaLabel || e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML)"

// faint are texts whose contrast to what is behind them is below 4.5, with that contrast.
const faint = `(() => {
	const rgb = (c) => { const x = document.createElement('canvas').getContext('2d'); x.fillStyle = c; x.fillRect(0, 0, 1, 1); return [...x.getImageData(0, 0, 1, 1).data]; };
	const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
	return [...document.querySelectorAll('body *')].filter((e) => !e.disabled && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && e.checkVisibility()).map((e) => {
		const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e));
		return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.slice(0, 40)];
	}).filter(([c]) => c < 4.5).map(([c, text]) => c.toFixed(1) + ' ' + text);
})()`

// TestLongPlaces begins a page behind the row of its cursor, however long its map and path are.
func TestLongPlaces(t *testing.T) {
	q := &listQuery{sort: "map"}
	for _, long := range []string{strings.Repeat("m", 5000), "m" + strings.Repeat("é", 5000), "\xff"} {
		p := q.placeOf(&catalogue.Line{Summary: catalogue.Summary{Path: long, Map: &long}})
		b, err := base64.RawURLEncoding.DecodeString(*p.cursor(false))
		must(t, err)
		after := place{}
		must(t, json.Unmarshal(b, &after))
		if after.Path = string(after.Exact); q.compare(&p, &after) != 0 {
			t.Errorf("%.9q... of %d bytes is not at its place", long, len(long))
		}
	}
}
