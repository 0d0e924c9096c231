package main

import (
	"bufio"
	"context"
	"crypto/md5" //nolint:gosec // names of extensions are such sums
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var large = flag.Bool("large", false, "measure the page with recordings of 200 MB, 100,000 of them, and 50 clients")

// figure tells what was measured, and fails if it is more than what is aimed at.
func (b *browser) figure(name string, value, most float64) {
	b.Helper()
	if b.Logf("%s: %.4g of at most %g", name, value, most); !(value <= most) {
		b.Errorf("%s: %.4g is more than %g", name, value, most)
	}
}

// openLarge is openBrowser for who wants to wait for figures.
func openLarge(t *testing.T, source string, flags ...string) *browser {
	t.Helper()
	if !*large {
		t.Skip("takes minutes and writes hundreds of megabytes: -large")
	}
	return openBrowser(t, source, 1280, 800, flags...)
}

// A logged is what the access log has of a request.
type logged struct {
	Path  string
	Bytes int64
	Time  time.Time
}

// logged returns the requests from the n-th on, and how many bytes they got.
func (p serverProcess) logged(t *testing.T, n int) (list []logged, bytes float64) {
	t.Helper()
	text, err := os.ReadFile(p.log)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if n--; n >= 0 {
			continue
		}
		var l logged
		must(t, json.Unmarshal([]byte(line), &l))
		list = append(list, l)
		bytes += float64(l.Bytes)
	}
	return list, bytes
}

// writeMany writes the first of a recording and then its rest until that is about so many bytes,
// and returns how often.
func writeMany(t *testing.T, name string, head, rest []byte, size int) (times int64) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	w := bufio.NewWriter(f)
	_, err = w.Write(head)
	must(t, err)
	for range size / len(rest) {
		_, err = w.Write(rest)
		must(t, err)
	}
	_, err = w.WriteString("\x40") // finish
	must(t, err)
	must(t, w.Flush())
	must(t, f.Close())
	return int64(size / len(rest))
}

// records are those of a teehistorian (docs/formats/teehistorian.md).
type records []byte

func (r *records) ints(list ...int) {
	for _, v := range list {
		u := v ^ v>>63
		c := byte(u&0x3f) | byte(v>>63)&0x40
		for u >>= 6; u != 0; u >>= 7 {
			*r = append(*r, c|0x80)
			c = byte(u & 0x7f)
		}
		*r = append(*r, c)
	}
}

// name says how a client is called.
func (r *records) name(id int, name string) {
	space, _ := hex.DecodeString("e05ddaaac4e64cfbb6425d48e80c0029")
	sum := md5.Sum(append(space, "teehistorian-player-name@ddnet.org"...)) //nolint:gosec // it is its name
	sum[6], sum[8] = sum[6]&0x0f|0x30, sum[8]&0x3f|0x80
	var data records
	data.ints(id)
	data = append(append(data, name...), 0)
	r.ints(-11)
	*r = append(*r, sum[:]...)
	r.ints(len(data))
	*r = append(*r, data...)
}

// crowd are records in which some tees join, run about for some ticks, and leave.
func crowd(tees, ticks int) (r records) {
	random := rand.New(rand.NewPCG(80, 36))
	r.ints(-2, 0)
	for id := range tees {
		r.ints(-8, id, -3, id, 3200+random.IntN(3200), 1600+random.IntN(1600), -6, id, 0, 100, 0, 0, 0, 0, 1, 2, 0, 0)
	}
	for id := range tees {
		r.name(id, fmt.Sprint("runner ", id))
	}
	speed := make([][2]int, tees)
	for range ticks {
		for id := range tees {
			v := &speed[id]
			v[0], v[1] = max(-20, min(v[0]+random.IntN(5)-2, 20)), max(-20, min(v[1]+random.IntN(5)-2, 20))
			r.ints(id, v[0], v[1])
		}
		for id := range tees {
			if random.IntN(3) == 0 {
				r.ints(-5, id, 0, random.IntN(21)-10, random.IntN(21)-10, 0, 0, 0, 0, 0, 0, 0)
			}
		}
	}
	r.ints(-2, 0)
	for id := range tees {
		r.ints(-4, id)
	}
	for id := range tees {
		r.ints(-9, id)
		r = append(r, 0)
	}
	return r
}

// writeLarge writes a recording of 200 MB, of 12 players or a crowd of 80, and returns of how many
// games in a row it is.
func writeLarge(t *testing.T, name string) (games int64) {
	t.Helper()
	sample, err := exec.Command("xz", "-dc", filepath.Join(samples, busy)).Output()
	must(t, err)
	head := 17 + strings.IndexByte(string(sample[16:]), 0)
	game := sample[head : len(sample)-1]
	if filepath.Base(name) == "crowd.teehistorian" {
		game = crowd(80, 9000)
	}
	return writeMany(t, name, sample[:head], game, 200e6)
}

// read is how many bytes of its source the server has read.
func (b *browser) read() float64 {
	b.Helper()
	s, _, err := readStats(b.Context(), b.server.http)
	must(b.T, err)
	return float64(s.BytesRead)
}

// TestBrowserLarge measures what recordings of 200 MB take, which have their index: bytes and
// requests, speed, frames, and what the server reads for them.
func TestBrowserLarge(t *testing.T) {
	for _, name := range []string{"busy", "crowd"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := openLarge(t, dir)
			name += ".teehistorian"
			games := writeLarge(t, filepath.Join(dir, name))
			status, _, body := b.server.ask(t, "about/"+name)
			var about struct{ Last int64 }
			if err := json.Unmarshal([]byte(body), &about); status != 200 || about.Last < 100000 {
				t.Fatalf("%d %.200s, %v", status, body, err)
			}
			game := about.Last / games // in ticks; after a quarter of one all are there
			begin := b.server.requests(t)
			b.open(fmt.Sprintf("/.view/play/%s#t=%d", name, games/3*game+game/4))
			b.wait("recfs.entities.length > 0")
			list, bytes := b.server.logged(t, begin)
			b.figure("requests before the first picture", float64(len(list)), 30)
			b.figure("kB before the first picture", bytes/1e3, 200)
			time.Sleep(3 * time.Second) // what comes behind it
			list, bytes = b.server.logged(t, begin)
			b.Logf("%d requests, %.0f kB until it rests", len(list), bytes/1e3)
			most := 0.0
			for i := range games / 10 {
				begin := b.server.requests(t)
				tick := int(i*10*game + game/3)
				b.jump(strconv.Itoa(tick), tick)
				time.Sleep(time.Second)
				_, bytes := b.server.logged(t, begin)
				most = max(most, bytes)
			}
			b.figure("kB of the largest of some jumps", most/1e3, 60)
			for _, speed := range []float64{0.25, 1, 4, 16} {
				b.measurePlaying(speed)
			}
			b.measureDecoding(name)
		})
	}
}

// measurePlaying plays two blocks at a speed, when those ahead have come.
func (b *browser) measurePlaying(speed float64) {
	b.Helper()
	b.set("speed", fmt.Sprint(speed), "change")
	b.press(" ")
	b.wait("recfs.playing && recfs.ready")
	time.Sleep(3 * time.Second)
	begin, from := b.server.requests(b.T), time.Now()
	r := evaluate[playedRun](b, playedFor(20000))
	_, bytes := b.server.logged(b.T, begin)
	seconds := time.Since(from).Seconds()
	b.press(" ")
	b.wait("!recfs.playing")
	what := fmt.Sprintf("at speed %g: ", speed)
	off := r.Ticks*20/r.MS/speed - 1
	b.figure(what+"% off", 100*max(off, -off), map[bool]float64{true: 6, false: 10}[speed <= 4])
	b.figure(what+"% of frames not painted", 100*(1-r.Painted/r.Frames), 20)
	b.figure(what+"kB a second", bytes/1e3/seconds, 20)
	b.Logf("%s%.0f frames a second", what, r.Frames/r.MS*1000)
}

// measureDecoding plays for some blocks, and compares what the server read with what lies under
// them.
func (b *browser) measureDecoding(name string) {
	b.Helper()
	b.set("speed", "4", "change")
	index := evaluate[struct {
		Chunks []struct {
			First float64 `json:"first_tick"`
			Last  float64 `json:"last_tick"`
			Size  float64
		}
	}](b, fmt.Sprintf(`fetch("/%s/index.json").then((r) => r.json())`, name))
	time.Sleep(2 * time.Second) // it rests
	begin, before := b.server.requests(b.T), b.read()
	b.press(" ")
	evaluate[playedRun](b, playedFor(60000))
	after := b.read()
	b.press(" ")
	list, _ := b.server.logged(b.T, begin)
	first, last := 1e18, 0.0
	for _, l := range list {
		_, text, _ := strings.Cut(l.Path, "?")
		q, _ := url.ParseQuery(text)
		block, _ := strconv.ParseFloat(q.Get("block"), 64)
		if step, _ := strconv.ParseFloat(q.Get("step"), 64); step == 8 {
			first, last = min(first, block*step*250), max(last, (block+1)*step*250-1)
		}
	}
	under := 0.0
	for _, c := range index.Chunks {
		if ticks := min(c.Last, last) - max(c.First, first) + 1; ticks > 0 {
			under += c.Size * ticks / (c.Last - c.First + 1)
		}
	}
	b.Logf("%.0f kB read, %.0f kB under ticks %.0f to %.0f", (after-before)/1e3, under/1e3, first, last)
	b.figure("bytes read while it plays, of those under it", (after-before)/under, 1.3)
}

// TestBrowserLargeList measures the list of 100,000 recordings.
func TestBrowserLargeList(t *testing.T) {
	dir := t.TempDir()
	b := openLarge(t, dir)
	sample, err := os.ReadFile(filepath.Join(samples, "hcrp/tiny.hcrp"))
	must(t, err)
	for i := range 100_000 {
		if i%1000 == 0 {
			must(t, os.Mkdir(filepath.Join(dir, strconv.Itoa(i/1000)), 0o777))
		}
		must(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i/1000), fmt.Sprintf("%06d.hcrp", i)), sample, 0o666))
	}
	from := time.Now()
	b.server.list(t, "")
	t.Logf("%.1f s for the first look at all", time.Since(from).Seconds())
	begin := b.server.requests(t)
	from = time.Now()
	b.open("/")
	t.Logf("%.2f s for the page", time.Since(from).Seconds())
	_, bytes := b.server.logged(t, begin)
	b.figure("kB of the first page", bytes/1e3, 150)
	b.figure("elements", evaluate[float64](b, "document.getElementsByTagName('*').length"), 6000)
	for _, next := range []string{"next", "next", "prev"} {
		begin := b.server.requests(t)
		before := b.text("recfs.rows[0]")
		b.click(next)
		b.wait(fmt.Sprintf("recfs.ready && recfs.rows[0] !== %q", before))
		_, bytes := b.server.logged(t, begin)
		b.figure("kB of a further page", bytes/1e3, 30)
	}
}

// tab opens another tab of the browser, with a cache of its own, which plays.
func (b *browser) tab(path string) (stop func()) {
	b.Helper()
	ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	must(b.T, chromedp.Do(ctx, chromedp.EmulateViewport(640, 400), chromedp.Navigate(b.server.http+path)))
	return stop
}

// playAlong asks for what a page asks that plays a recording from a tick on, at speed 16.
func (p serverProcess) playAlong(ctx context.Context, name string, tick int64) {
	const step, ahead = 32, 2
	get := func(what string) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.http+"/.view/1/"+what, http.NoBody)
		if err != nil {
			return
		}
		if reply, err := http.DefaultClient.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, reply.Body) // that of a server that is busy, too
			reply.Body.Close()
		}
	}
	get("about/" + name)
	get(fmt.Sprintf("events/%s?from=%d&dir=-1&limit=40", name, tick))
	get("players/" + name + "?limit=50")
	for n, block := 0, tick/(250*step); ctx.Err() == nil; n, block = n+1, block+1 {
		get(fmt.Sprintf("frames/%s?block=%d&step=%d", name, block, step))
		if n < ahead {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
	}
}

// TestBrowserLargeMany has 50 pages play a crowd at speed 16: ten tabs, and 40 clients that ask as
// a tab does. The server keeps to its memory, and does nothing more when all have gone.
func TestBrowserLargeMany(t *testing.T) {
	const budget, pages, tabs = 32, 50, 10
	dir := t.TempDir()
	b := openLarge(t, dir, "--cache-mem", fmt.Sprint(budget, "MiB"))
	const name = "crowd.teehistorian"
	games := writeLarge(t, filepath.Join(dir, name))
	b.server.ask(t, "about/"+name)
	idle, _, err := readStats(b.Context(), b.server.http)
	must(t, err)

	ctx, leave := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range int64(pages) {
		tick := games * 9000 * i / (pages + 10)
		if i < tabs {
			context.AfterFunc(ctx, b.tab(fmt.Sprintf("/.view/play/%s#t=%d&p=1&s=16", name, tick)))
		} else {
			clients.Go(func() { b.server.playAlong(ctx, name, tick) })
		}
	}
	time.Sleep(time.Minute)
	busy, _, err := readStats(b.Context(), b.server.http)
	must(t, err)
	b.figure("MiB of the server at most", b.server.peak(t), budget+64)
	b.Logf("%d MB read, %d goroutines, %d requests", (busy.BytesRead-idle.BytesRead)/1e6, busy.Memory.Goroutines, b.server.requests(t))
	leave()
	clients.Wait()
	http.DefaultClient.CloseIdleConnections()
	for before, left := int64(-1), 60; ; left-- {
		s, _, err := readStats(b.Context(), b.server.http)
		must(t, err)
		if s.BytesRead == before && s.Memory.Goroutines <= idle.Memory.Goroutines+2 {
			break
		} else if left == 0 {
			t.Fatalf("%d goroutines are left of %d, and %d bytes were read in a second", s.Memory.Goroutines, idle.Memory.Goroutines, s.BytesRead-before)
		}
		before = s.BytesRead
		time.Sleep(time.Second)
	}
}
