package main

import (
	"bytes"
	"context"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"recfs/nodes/nodestest"
)

// busy is a recording of 12 players on a server of DDNet, ticks 120 to 25185.
const busy = "teehistorian/busy-20.1.teehistorian.xz"

func openViewer(t *testing.T, width, height int64) *browser {
	return openBrowser(t, filepath.Join("..", "..", "testdata", "archive"), width, height)
}

// jump goes to a time or tick by the field for it, and waits for the picture of a tick.
func (b *browser) jump(text string, tick int) {
	b.Helper()
	b.set("jump", text, "input")
	b.text(`document.querySelector("[data-testid=jump]").form.requestSubmit()`)
	b.wait(fmt.Sprintf("recfs.tick === %d && recfs.ready", tick))
}

// set gives a field or list a value, as its user does.
func (b *browser) set(testid, value, event string) {
	b.Helper()
	b.text(fmt.Sprintf(`(() => { const e = document.querySelector("[data-testid=%s]"); e.value = %q; e.dispatchEvent(new Event(%q)); })()`, testid, value, event))
}

// before has each page from now on run a script first.
func (b *browser) before(script string) {
	b.Helper()
	must(b.T, chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})))
}

// Whoever is there at a tick is where states/ has them, wherever one jumps.
func TestBrowserShowsStates(t *testing.T) {
	b := openViewer(t, 1280, 800)
	b.open("/.view/play/" + busy + "#t=6001")
	type place struct{ X, Y float64 }
	for _, tick := range []int{6001, 120, 335, 12653, 25185, 6249, 6250} {
		b.jump(fmt.Sprint(tick), tick)
		shown := evaluate[[]place](b, "recfs.entities.filter((e) => e.x !== null).map((e) => ({ x: e.x, y: e.y }))")
		stored := evaluate[[]place](b, fmt.Sprintf(`fetch("/%s/states/%08d.json").then((r) => r.json())
			.then((s) => s.players.filter((p) => p.alive).map((p) => ({ x: p.x, y: p.y })))`, busy, tick))
		for _, places := range [][]place{shown, stored} {
			slices.SortFunc(places, func(a, b place) int { return int(math.Copysign(1, (a.X-b.X)*1e6+a.Y-b.Y)) })
		}
		if !slices.Equal(shown, stored) {
			t.Errorf("tick %d: %v, stored are %v", tick, shown, stored)
		}
	}
	for text, tick := range map[string]int{"2:00.02": 6001, "0:02:00": 6000, "@2026-11-21T00:51:38Z": 6000, "@00:51:39": 6050} {
		b.jump(text, tick)
	}
}

// What keys do, the link tells.
func TestBrowserKeys(t *testing.T) {
	b := openViewer(t, 1280, 800)
	b.open("/.view/play/" + busy + "#t=6001&other=%41")
	for _, c := range []struct {
		key  string
		does string
	}{
		{".", "recfs.tick === 6002 && !recfs.playing"},
		{",", "recfs.tick === 6001"},
		{"n", "recfs.tick > 6001 && recfs.events.some((e) => e.t === recfs.tick)"},
		{"N", "recfs.tick <= 6001"},
		{"]", "recfs.tick > 6001 && recfs.events.some((e) => e.t === recfs.tick && e.kind === 'finish')"},
		{"[", "recfs.tick <= 6001"},
		{"5", "recfs.tick === Math.round((recfs.first + recfs.last) / 2)"},
		{"0", "recfs.tick === recfs.first"},
		{"+", "recfs.speed === 2"},
		{"-", "recfs.speed === 1"},
		{"6", "recfs.tick === 15159 && recfs.entities.length > 0"},
		{"f", "recfs.follow !== null && recfs.entities.some((e) => e.id === recfs.follow && e.x === recfs.camera.x && e.y === recfs.camera.y)"},
		{"z", "recfs.follow !== null"},
		{"F", "recfs.follow === null"},
		{"h", "location.hash.includes('c=')"},
		{"a", "!location.hash.includes('c=')"},
		{"?", "document.querySelector('[data-testid=help]').open"},
		{"?", "!document.querySelector('[data-testid=help]').open"},
		{"g", "document.activeElement.dataset.testid === 'jump'"},
		{"f", "recfs.follow === null"}, // it is the field's
	} {
		b.press(c.key)
		b.wait("recfs.ready && " + c.does)
	}
	b.text("document.activeElement.blur()")
	b.press(" ")
	b.wait("recfs.playing && recfs.tick > 15200")
	b.press(" ")
	b.wait("!recfs.playing && recfs.ready && Number.isInteger(recfs.tick) && location.hash.startsWith('#t=' + recfs.tick + '&other=%41')")
}

// A playedRun is what was played while there was something to play: Painted of so many Frames.
type playedRun struct{ Ticks, MS, Painted, Frames float64 }

// playedFor is an expression for the playedRun of so many milliseconds.
func playedFor(ms int) string {
	return fmt.Sprintf(`new Promise((done) => {
		const sum = { ticks: 0, ms: 0, painted: 0, frames: 0 };
		let before = null;
		const next = (at) => {
			const now = recfs.ready && { tick: recfs.tick, at, painted: recfs.painted };
			if (before && now) {
				sum.frames++;
				sum.ticks += now.tick - before.tick;
				sum.ms += at - before.at;
				sum.painted += now.painted - before.painted;
			}
			before = now;
			if (sum.ms < %d) requestAnimationFrame(next);
			else done(sum);
		};
		requestAnimationFrame(next);
	})`, ms)
}

// It plays as fast as it says, for as long as there is something to play.
func TestBrowserPlays(t *testing.T) {
	b := openViewer(t, 640, 400)
	b.open("/.view/play/" + busy + "#t=6001&p=1&s=4&f=1")
	b.wait("recfs.playing && recfs.speed === 4 && recfs.follow == 1 && recfs.tick > 6030")
	r := evaluate[playedRun](b, playedFor(2500))
	if speed := r.Ticks * 20 / r.MS; math.Abs(speed-4) > 0.4 {
		t.Errorf("the speed is %.2f", speed)
	}
	if r.Painted < 0.8*r.Frames {
		t.Errorf("%v of %v frames are painted", r.Painted, r.Frames)
	}
	b.press("\ue010") // End
	b.text(`document.dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }))`)
	b.wait("!recfs.playing && recfs.tick === recfs.last && recfs.ready")
	b.wait(`document.querySelector("[data-testid=timeline]").getAttribute("aria-valuenow") === "25185"`)
}

// A page that nobody sees paints nothing and asks for nothing, and then goes on.
func TestBrowserInBackground(t *testing.T) {
	b := openViewer(t, 640, 400)
	b.before(`Object.defineProperty(Document.prototype, "hidden", { get: () => !!window.away });
		const real = window.fetch;
		window.asked = 0;
		window.fetch = (...request) => (window.asked++, real(...request));
		window.goes = (away) => { window.away = away; document.dispatchEvent(new Event("visibilitychange")); };`)
	b.open("/.view/play/" + busy + "#t=6001&p=1&s=16")
	b.wait("recfs.playing && recfs.tick > 6100")
	const after = `(await (async (n) => { while (n-- > 0) await new Promise(requestAnimationFrame); return [recfs.painted, asked]; })(%d)).join()`
	b.text("window.goes(true)")
	before := b.text(fmt.Sprintf(after, 2)) // a frame may have been under way
	if later := b.text(fmt.Sprintf(after, 60)); later != before {
		t.Errorf("%s frames and requests, and then %s", before, later)
	}
	b.text("window.goes(false)")
	b.wait("recfs.ready && recfs.painted > " + strings.Split(before, ",")[0])
}

// Everything is there when it is shown at twice its size.
func TestBrowserZoom(t *testing.T) {
	b := openViewer(t, 640, 400)
	for _, path := range []string{"/", "/.view/play/" + busy, "/.view/play/datafile/maps/new.map", "/.view/play/nethack/small.nhgame", "/.view/play/hcrp/run-finished"} {
		b.open(path)
		b.wait(`document.documentElement.scrollWidth <= 640 && [...document.querySelectorAll("main button, main input, main select")].every((e) =>
			!e.getClientRects().length || e.getBoundingClientRect().right <= 640 || e.closest("table"))`)
	}
}

// Events are searched for in all of the recording.
func TestBrowserEvents(t *testing.T) {
	b := openViewer(t, 1280, 800)
	b.open("/.view/play/" + busy + "#t=20000")
	b.wait("recfs.events.length > 10")
	b.set("event-kind", "join", "change")
	b.wait("document.querySelector('[data-testid=events]').textContent.includes('found in all')")
	b.wait("recfs.events.length === 13 && recfs.events.every((e) => e.kind === 'join')")
	b.set("event-kind", "", "change")
	b.set("event-search", "racer04-2 JOINED", "input")
	b.wait("recfs.events.length === 1 && recfs.events[0].t === 6320")
	b.click("event")
	b.wait("recfs.ready && recfs.tick === 6320")
	b.open("/.view/play/" + busy + "#t=20001")
	b.wait("recfs.ready && recfs.events.length > 10")
	for _, way := range []string{"next", "previous"} {
		b.text(`document.querySelector("[data-testid=event-` + way + `]").click()`)
		b.wait(`recfs.ready && recfs.events.some((e) => e.t === recfs.tick) && recfs.tick ` + map[string]string{"next": ">", "previous": "<="}[way] + ` 20001`)
	}
}

// Names, chat and events are text, whatever is in them.
func TestBrowserHostileNames(t *testing.T) {
	b := openViewer(t, 360, 740)
	b.before(`window.names = ["<img src=x onerror=window.hit=1>", "\u202egnp.\u0000\u0007x", "x".repeat(65536), "\u05d0\u05d1" + "\ufffd", ""];
		const real = window.fetch;
		window.fetch = async (url, options) => {
			const r = await real(url, options);
			if (!/frames|events|players|about/.test(String(url)) || !r.ok) return r;
			let n = 0;
			return new Response((await r.text()).replace(/"racer\d+"/g, () => JSON.stringify(names[n++ % names.length]))
				.replace(/("text":)"[^"]*"/g, (_, k) => k + JSON.stringify(names[n++ % names.length])));
		};`)
	b.open("/.view/play/" + busy + "#t=6001&f=1")
	b.wait("recfs.events.length > 0 && recfs.entities.some((e) => e.name === names[0])")
	b.wait(`document.querySelectorAll("[data-testid=players] li").length > 3`)
	b.wait(`!window.hit && !document.querySelector("main img") && document.documentElement.scrollWidth <= 360`)
	b.wait(`[...document.querySelectorAll("main *")].every((e) => e.childElementCount || e.textContent.length <= 500)`)
}

// Whatever the link says, there is a picture.
func TestBrowserHostileLinks(t *testing.T) {
	b := openViewer(t, 1280, 800)
	for _, hash := range []string{
		"t=1e999&s=99&f=nobody&c=1,2", "t=-5&c=NaN,0,4", "t=99999999999", "t=%E0%A4%A&f=%00", "t=<b>&h=__proto__&c=1e308,-1e308,1e-9",
		"__proto__=1&constructor=2&t=@noon", strings.Repeat("&x=1", 5000), "f=" + strings.Repeat("y", 60000), "t=@9999-99-99T99:99:99Z",
	} {
		b.open("/.view/play/" + busy + "#" + hash)
		b.wait("recfs.error === null && recfs.tick >= recfs.first && recfs.tick <= recfs.last && recfs.entities.every((e) => e.id !== undefined) && Number.isFinite(recfs.camera.scale)")
	}
}

// A server that stops is a sentence and a button, and then all goes on.
func TestBrowserServerStops(t *testing.T) {
	b := openViewer(t, 1280, 800)
	b.before(`const real = window.fetch;
		window.fetch = (url, options) => (window.down ? Promise.reject(new TypeError("refused")) : real(url, options));`)
	b.open("/.view/play/" + busy + "#t=6001")
	b.text("window.down = true")
	b.press("5")
	b.wait("recfs.error && !recfs.ready && !document.querySelector('[data-testid=error]').hidden")
	b.text("window.down = false")
	b.text(`document.querySelector("[data-testid=error] button").click()`)
	b.wait("recfs.error === null && recfs.ready && document.querySelector('[data-testid=error]').hidden")
}

// On a phone two fingers come closer, and nothing is cut off.
func TestBrowserPhone(t *testing.T) {
	b := openViewer(t, 360, 740)
	b.prefer("prefers-reduced-motion", "reduce")
	b.open("/.view/play/" + busy + "#t=6001")
	b.wait("document.documentElement.scrollWidth <= 360 && recfs.motion === 'reduced'")
	before := evaluate[float64](b, "recfs.camera.scale")
	for i, apart := range []float64{40, 60, 80, 0} {
		kind := []input.DispatchTouchEventType{"touchStart", "touchMove", "touchMove", "touchEnd"}[i]
		var points []*input.TouchPoint
		for n, side := range []float64{-1, 1} {
			id := float64(n)
			points = append(points, &input.TouchPoint{X: 180 + side*apart, Y: 300, ID: &id})
		}
		if kind == "touchEnd" {
			points = []*input.TouchPoint{}
		}
		must(t, chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
			return err
		})))
	}
	b.wait(fmt.Sprintf("Math.abs(recfs.camera.scale / %v - 2) < 0.1", before))
	if got := evaluate[[]string](b, nameless); len(got) > 0 {
		t.Errorf("nobody is told what these are: %q", got)
	}
}

// A screenshot has tees, names and the timeline in it. That is the picture of docs/page.md, which
// -update makes anew.
func TestBrowserPicture(t *testing.T) {
	b := openViewer(t, 1280, 760)
	b.open("/.view/play/" + busy + "#t=3000&c=1900,1080,60")
	b.wait("recfs.entities.filter((e) => e.on).length >= 3")
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(t, err)
	drawn, err := png.Decode(bytes.NewReader(shot))
	must(t, err)
	colors := map[color.Color]bool{}
	for x := range drawn.Bounds().Dx() {
		for y := range drawn.Bounds().Dy() {
			colors[drawn.At(x, y)] = true
		}
	}
	if len(colors) < 100 {
		t.Errorf("the picture has %d colours", len(colors))
	}
	if *nodestest.Update {
		must(t, os.WriteFile("../../docs/pictures/page.png", shot, 0o666))
	}
}
