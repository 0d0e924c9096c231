package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The samples that stand for their kinds.
const (
	sampleNetHack = "nethack/small.nhgame"
	sampleHCRP    = "hcrp/run-finished"
	sampleEcho    = "butter/arena_private_bones_v3_zstd7.butter"
	sampleMap     = "datafile/maps/new.map"
)

// holds waits for the page to be ready, and fails unless an expression is true, which may await.
func (b *browser) holds(what, expression string) {
	b.Helper()
	b.wait("recfs.ready")
	if got := b.text(expression); got != "true" {
		b.Errorf("%s: %s is %s; recfs is %.3000s", what, expression, got, b.text("JSON.stringify(recfs)"))
	}
}

// A link says where one is (docs/tree/page.md section 1), and follows, not too often and not as
// steps of the history.
func TestBrowserLinks(t *testing.T) {
	b := openViewer(t, 1280, 800)
	b.before(`window.written = [];
		const real = history.replaceState;
		history.replaceState = function (...all) { written.push(performance.now()); return real.apply(this, all); };
		history.pushState = () => { throw new Error("a step of history"); };`)
	const across = "document.querySelector('[data-testid=canvas]').clientWidth / recfs.camera.scale / 32"
	for hash, holds := range map[string]string{
		"":                    "recfs.tick === recfs.first && recfs.speed === 1 && recfs.follow === null",
		"t=2:00":              "recfs.tick === 6000",
		"t=0:02:00.04":        "recfs.tick === 6002",
		"t=@00:51:38":         "recfs.tick === 6000",
		"t=6001&s=0.25":       "recfs.tick === 6001 && recfs.speed === 0.25",
		"s=16":                "recfs.speed === 16 && !recfs.playing",
		"s=3":                 "recfs.speed === 1",
		"t=6001&f=3":          "recfs.follow == 3 && recfs.entities.some((e) => e.id === 3 && e.x === recfs.camera.x && e.y === recfs.camera.y)",
		"t=6001&c=1900,-5,60": "recfs.camera.x === 1900 && recfs.camera.y === -5 && Math.abs(" + across + " - 60) < 0.1",
		"t=6001&f=3&c=1,1,30": "recfs.camera.x !== 1 && Math.abs(" + across + " - 30) < 0.1",
	} {
		b.open("/.view/play/" + busy + "#" + hash)
		b.holds(hash, "!recfs.playing && recfs.error === null && "+holds)
	}
	b.open("/.view/play/" + sampleMap + "#h=0,2&b=datafile/maps/old.map")
	b.wait("recfs.differing")
	b.holds("layers", `JSON.stringify(recfs.layers.filter((l) => !l.shown).map((l) => l.index)) === "[0,2]"`)
	b.holds("the other map", `JSON.stringify(recfs.differing) === JSON.stringify(Object.fromEntries((await fetch("/.view/1/mapdiff/datafile/maps/new.map?with=datafile/maps/old.map")
		.then((r) => r.json())).layers.filter((l) => l.a !== null && l.differing).map((l) => [l.a, l.differing])))`)

	b.open("/.view/play/" + busy + "#t=6001&my=own")
	for range 20 {
		b.press(".")
	}
	b.press("+")
	b.press("f")
	b.wait("recfs.ready && recfs.tick === 6021 && location.hash === `#t=6021&my=own&s=2&f=${recfs.follow}`")
	b.holds("as often as it is written", "written.length > 0 && written.every((at, i) => !i || at - written[i - 1] > 200)")
}

// Keys do what docs/tree/page.md section 2 says, in all kinds of recordings.
func TestBrowserAllKeys(t *testing.T) {
	b := openViewer(t, 1280, 800)
	b.before("HTMLAnchorElement.prototype.click = function () { window.clicked = this.href; };")
	shift := []chromedp.Modifier{chromedp.ModifierShift}
	for _, c := range []struct {
		path, key string
		modifiers []chromedp.Modifier
		does      string
	}{
		{busy + "#t=6001", kb.ArrowRight, nil, "recfs.tick === 6251"},
		{"", kb.ArrowLeft, nil, "recfs.tick === 6001"},
		{"", kb.ArrowRight, shift, "recfs.tick === 9001"},
		{"", kb.ArrowLeft, shift, "recfs.tick === 6001"},
		{"", kb.Home, nil, "recfs.tick === recfs.first"},
		{"", kb.ArrowLeft, nil, "recfs.tick === recfs.first"},
		{"", kb.End, nil, "recfs.tick === recfs.last"},
		{"", ".", nil, "recfs.tick === recfs.last"},
		{"", "3", nil, "recfs.tick === Math.round(recfs.first + (recfs.last - recfs.first) * 0.3)"},
		{"", "/", nil, "document.activeElement.dataset.testid === 'event-search' && document.activeElement.value === ''"},
		{"", "5", nil, "recfs.tick === Math.round(recfs.first + (recfs.last - recfs.first) * 0.3)"}, // it is the field's
		{busy + "#t=6001", "f", []chromedp.Modifier{chromedp.ModifierCtrl}, "recfs.follow === null"},
		{"", "a", []chromedp.Modifier{chromedp.ModifierAlt}, "recfs.tick === 6001"},
		{"", "d", nil, `new URL(clicked).pathname.endsWith("/demos/4501-7501.demo") && (await fetch(clicked).then((r) => r.blob())).size > 1000`},
		{"", "l", nil, "location.hash.includes('c=') && (window.camera = recfs.camera)"},
		{"", "k", nil, "recfs.camera.y < camera.y && recfs.camera.x === camera.x && (window.camera = recfs.camera)"},
		{"", "j", nil, "recfs.camera.y > camera.y && (window.camera = recfs.camera)"},
		{"", "h", nil, "recfs.camera.x < camera.x && (window.camera = recfs.camera)"},
		{"", "z", nil, "recfs.camera.scale > camera.scale && (window.camera = recfs.camera)"},
		{"", "Z", nil, "recfs.camera.scale < camera.scale"},
		{sampleEcho + "#t=100", ".", nil, "recfs.tick === 101"},
		{"", ",", nil, "recfs.tick === 100"},
		{"", "]", nil, "recfs.tick > 100"},
		{sampleEcho + "#t=100", kb.ArrowRight, nil, `(await fetch("/.view/1/frames/butter/arena_private_bones_v3_zstd7.butter?block=0").then((r) => r.json()))
			.ms.findLastIndex((ms, i, all) => ms <= all[100] + 5000) === recfs.tick`},
		{sampleEcho + "#t=260&p=1", "+", nil, "!recfs.playing && recfs.tick === recfs.last"}, // which is odd
		{sampleNetHack + "#t=20", ".", nil, "recfs.tick === 21"},
		{"", ",", nil, "recfs.tick === 20"},
		{"", "m", nil, "document.querySelector('[data-testid=monsters]').getAttribute('aria-pressed') === 'false'"},
		{sampleHCRP + "#t=100", kb.ArrowRight, nil, "recfs.tick === 200"},
		{"", "[", nil, "recfs.tick > 100 && recfs.tick < 200"},
		{"", "f", nil, "recfs.follow === recfs.entities[0].id"},
		{sampleMap, "/", nil, "document.activeElement.closest('[data-testid=side]')"},
		{sampleMap, "z", nil, "location.hash.includes('c=')"},
		{"", "a", nil, "!location.hash.includes('c=')"},
	} {
		if c.path != "" {
			b.open("/.view/play/" + c.path)
		}
		b.press(c.key, c.modifiers...)
		if strings.Contains(c.does, "await") {
			b.wait("recfs.ready && !recfs.playing && " + map[bool]string{true: "window.clicked", false: "recfs.tick > 100"}[c.key == "d"])
			b.holds(c.path+" "+c.key, c.does)
		} else {
			b.wait("recfs.ready && (" + c.does + ")")
		}
	}
}

// mouse does something with the mouse at a place of what has a data-testid.
func (b *browser) mouse(kind input.DispatchMouseEventType, testid, x, y string, wheel float64) {
	b.Helper()
	at := evaluate[[2]float64](b, fmt.Sprintf(`(() => {
		const e = document.querySelector("[data-testid=%s]");
		e.scrollIntoView({ block: "nearest" });
		const box = e.getBoundingClientRect();
		return [box.left + %s, box.top + %s];
	})()`, testid, x, y))
	must(b.T, chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Button: "left", ClickCount: 1, DeltaX: wheel / 1e6, DeltaY: wheel})
		return err
	})))
}

// A mouse drags what is seen, zooms where it is, follows whom it clicks, and scrubs.
func TestBrowserMouse(t *testing.T) {
	b := openViewer(t, 1280, 800)
	b.open("/.view/play/" + busy + "#t=6001&c=1900,900,60")
	b.text("window.who = recfs.entities.find((e) => e.name === 'racer02')")
	for _, kind := range []input.DispatchMouseEventType{"mousePressed", "mouseReleased"} {
		b.mouse(kind, "canvas", "who.sx", "who.sy", 0)
	}
	b.wait("recfs.follow === who.id && recfs.camera.x === who.x && (window.camera = recfs.camera)")
	b.mouse("mousePressed", "canvas", "200", "200", 0)
	b.mouse("mouseMoved", "canvas", "230", "190", 0)
	b.mouse("mouseMoved", "canvas", "260", "180", 0)
	b.mouse("mouseReleased", "canvas", "260", "180", 0)
	const near = "Math.abs(%s - (%s)) < 0.001 * Math.abs(%[1]s)"
	b.wait("recfs.follow === null && " + fmt.Sprintf(near, "recfs.camera.x", "camera.x - 60 / camera.scale") + " && " + fmt.Sprintf(near, "recfs.camera.y", "camera.y + 20 / camera.scale"))
	b.text("window.camera = recfs.camera")
	b.text("window.under = (c) => c.x + (300 - document.querySelector('[data-testid=canvas]').clientWidth / 2) / c.scale")
	b.mouse("mouseWheel", "canvas", "300", "300", -120)
	b.wait("recfs.camera.scale > camera.scale && " + fmt.Sprintf(near, "under(recfs.camera)", "under(camera)"))

	b.mouse("mousePressed", "timeline", "box.width / 2", "20", 0)
	b.wait("Math.abs(recfs.tick - 12653) <= 40 && recfs.ready")
	b.mouse("mouseMoved", "timeline", "box.width / 4", "20", 0)
	b.mouse("mouseReleased", "timeline", "box.width / 4", "20", 0)
	b.wait("Math.abs(recfs.tick - 6386) <= 40 && recfs.ready && location.hash.includes('t=' + recfs.tick)")
}

// Whoever has no mouse gets to every control, sees where that is, and works it.
func TestBrowserTab(t *testing.T) {
	b := openViewer(t, 1280, 800)
	for _, path := range []string{"/", "/.view/play/" + busy + "#t=6001", "/.view/play/" + sampleMap, "/.view/play/" + sampleNetHack} {
		b.open(path)
		b.wait("recfs.fetched.requests > 0")
		left := b.text(`(() => {
			const can = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")].filter((e) => !e.disabled && e.checkVisibility() && e.tabIndex >= 0);
			window.seen = new Set();
			addEventListener("focusin", (e) => seen.add(e.target));
			window.missed = () => can.filter((e) => e.isConnected && !seen.has(e) && !e.closest(".rows, #rows")).map((e) => e.outerHTML.slice(0, 100)).join("\n");
			window.dull = () => [...seen].filter((e) => e.isConnected && e.matches(":focus-visible") && getComputedStyle(e).outlineStyle === "none").map((e) => e.outerHTML.slice(0, 100)).join("\n");
			return can.length;
		})()`)
		for range 200 {
			b.press("\t")
			if dull := b.text("dull()"); dull != "" {
				t.Errorf("%s: nobody sees that this has the focus: %s", path, dull)
			}
			if b.text("missed() === ''") == "true" {
				break
			}
		}
		if missed := b.text("missed()"); missed != "" {
			t.Errorf("%s: of %s, Tab does not reach\n%s", path, left, missed)
		}
	}
	b.open("/.view/play/" + busy + "#t=6001")
	b.text("document.querySelector('[data-testid=timeline]').focus()")
	b.press(kb.ArrowRight)
	b.wait("recfs.tick === 6251 && document.activeElement.getAttribute('aria-valuetext') === '2 minutes 5 seconds' && document.activeElement.getAttribute('aria-valuenow') === '6251'")
	b.text("document.querySelector('[data-testid=on]').focus()")
	b.press("\t")
	b.press("\t")
	b.press(" ") // works the button that has the focus: a minute on
	b.wait("recfs.ready && !recfs.playing && recfs.tick === 9251")
}

// Every control of every kind of recording has a name, and its letters can be read, dark and light.
func TestBrowserViewIsNamed(t *testing.T) {
	b := openViewer(t, 1280, 800)
	for _, scheme := range []string{"light", "dark"} {
		b.prefer("prefers-color-scheme", scheme)
		for _, path := range []string{busy + "#t=6001", sampleEcho + "#t=200", sampleHCRP, sampleNetHack + "#t=20", sampleMap + "#b=datafile/maps/old.map", "hcrp/bad/flipped-byte.hcrp"} {
			b.open("/.view/play/" + path)
			if got := evaluate[[]string](b, nameless); len(got) > 0 {
				t.Errorf("%s: nobody is told what these are: %q", path, got)
			}
			if got := evaluate[[]string](b, faint); len(got) > 0 {
				t.Errorf("%s, %s: hard to read: %q", path, scheme, got)
			}
			b.picture(strings.NewReplacer("/", "-", "#", "-").Replace(path) + "-" + scheme + ".png")
		}
	}
}

// What happens is read out, one sentence in two seconds, and the time of the slider once a second.
func TestBrowserAnnounces(t *testing.T) {
	b := openViewer(t, 640, 400)
	b.open("/.view/play/" + busy + "#t=6001&s=2")
	b.text(`(() => {
		window.said = [];
		window.told = [];
		const note = (list, text) => new MutationObserver(() => list.push({ at: performance.now(), text: text() }));
		const live = document.querySelector("[aria-live]"), slider = document.querySelector("[data-testid=timeline]");
		note(said, () => live.textContent).observe(live, { childList: true, characterData: true, subtree: true });
		note(told, () => slider.getAttribute("aria-valuetext")).observe(slider, { attributes: true, attributeFilter: ["aria-valuetext"] });
	})()`)
	b.press(" ")
	b.wait("said.length >= 3 && told.length >= 3")
	b.press(" ")
	b.holds("what is said", `[[said, 1900], [told, 900]].every(([list, ms]) => list.slice(0, 3).every((s, i) => !i || s.at - list[i - 1].at > ms)) && said.some((s) => /finished|joined|shows|ran/.test(s.text))`)
	b.wait("said.at(-1).text === 'paused'")
}

// window.recfs has what docs/tree/page.md section 4 says, and the page all that it names.
func TestBrowserInside(t *testing.T) {
	b := openViewer(t, 1280, 800)
	const common = "version view path ready error tick playing speed follow first last camera entities events motion painted fetched"
	timed := "canvas side play back on speed time jump timeline events event event-kind event-search follow link help error announce"
	for _, c := range []struct{ path, view, keys, testids, holds string }{
		{busy + "#t=6001", "tee", "hooks", timed + " players demo", `recfs.hooks.length > 0 && recfs.hooks.every((h) => recfs.entities.some((e) =>
			e.id === h.id && e.s & 1 && !h.hit && Math.abs(Math.hypot(h.x - e.x, h.y - e.y) - 380) < 0.01))`},
		{sampleEcho + "#t=200", "echo", "score clock", timed + " players score", `recfs.entities.filter((e) => e.kind === "disc").length === 1`},
		{sampleHCRP + "#t=100", "hcrp", "", timed + " players", `recfs.entities.every((e) => e.y !== undefined)`},
		{
			sampleNetHack + "#t=20", "nethack", "screen inventory changes", timed + " screen hero inventory changes score",
			`(async () => {
				const [now, before] = await Promise.all([20, 19].map((t) => fetch("/nethack/small.nhgame/states/" + t + ".json").then((r) => r.json())));
				const want = ["game", "hero", "attributes", "conducts", "location"].flatMap((g) => Object.keys(now[g] ?? {})
					.filter((k) => typeof now[g][k] !== "object" && now[g][k] !== before[g]?.[k]).map((k) => ({ path: g + "." + k, from: before[g]?.[k] ?? null, to: now[g][k] })));
				const cast = (await fetch("/nethack/small.nhgame/export/game.cast").then((r) => r.text())).trim().split("\n");
				return want.length > 0 && JSON.stringify(recfs.changes) === JSON.stringify(want) && recfs.screen.every((row) => [...row].length <= 80)
					&& cast.length > 20 && recfs.inventory.length === now.inventory.length;
			})()`,
		},
		{sampleMap + "#c=776,264,8&b=datafile/maps/old.map", "map", "layers tile differing", "canvas side link help error announce layers layer tile compare differing items", `recfs.tile.layers.length > 0 && recfs.tick === null`},
	} {
		b.open("/.view/play/" + c.path)
		b.wait(fmt.Sprintf(`%q.split(" ").every((id) => document.querySelector("[data-testid=" + id + "]"))`, c.testids))
		b.wait("recfs.ready && (recfs.view !== 'map' || recfs.differing)")
		b.holds(c.view, fmt.Sprintf(`recfs.version === 1 && recfs.view === %q && recfs.path === %q && %q.trim().split(" ").every((key) => key in recfs) && Object.isFrozen(recfs)`,
			c.view, strings.Split(c.path, "#")[0], common+" "+c.keys))
		b.holds(c.view, c.holds)
		b.holds(c.view+": places", `(() => {
			const { clientWidth, clientHeight } = document.querySelector("[data-testid=canvas]"), { x, y, scale } = recfs.camera;
			const near = (a, b) => Math.abs(a - b) < 0.01, axes = { tee: ["x", "y"], hcrp: ["x", "z"], echo: ["z", "x"] }[recfs.view] ?? [];
			return recfs.entities.every((e) => near(e.sx, (e[axes[0]] - x) * scale + clientWidth / 2) && near(e.sy, (e[axes[1]] - y) * scale + clientHeight / 2)
				&& e.on === (e.sx >= 0 && e.sy >= 0 && e.sx <= clientWidth && e.sy <= clientHeight));
		})()`)
		b.holds(c.view+": events", `(() => {
			const shown = [...document.querySelectorAll("[data-testid=event]")].map((e) => e.dataset.t + e.lastChild.textContent);
			return JSON.stringify(shown) === JSON.stringify(recfs.events.map((e) => e.t + e.text));
		})()`)
		b.holds(c.view+": anew", `(async () => {
			const before = recfs;
			for (const key of ["Z", "F"]) dispatchEvent(new KeyboardEvent("keydown", { key }));
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			return recfs !== before && recfs.painted > before.painted && (recfs.view === "nethack" || before.camera.scale > recfs.camera.scale);
		})()`)
	}
	b.open("/")
	b.holds("list", `"version view ready error rows total matches motion painted fetched".split(" ").every((key) => key in recfs) && recfs.view === "list" && Object.isFrozen(recfs)
		&& recfs.fetched.requests > 0 && recfs.fetched.bytes > 0`)
}

// A hook that is held ends at the first solid tile of the map that lies beside its recording, whose
// picture comes behind the first frame.
func TestBrowserHookOnMap(t *testing.T) {
	dir := t.TempDir()
	writeMap(t, filepath.Join(dir, "m.map"), 40, 10, 1)
	file, err := os.ReadFile(filepath.Join(dir, "m.map"))
	must(t, err)
	var r records
	r.ints(-2, 0, -8, 0, -3, 0, 48, 48, -6, 0, 0, 100, 0, 0, 0, 1, 1, 2, 0, 0, -2, 9, -1)
	head := "\x69\x9d\xb1\x7b\x8e\xfb\x34\xff\xb1\xd8\xda\x6f\x60\xc1\x5d\xd1" +
		fmt.Sprintf(`{"version":"2","version_minor":"22","map_name":"m","map_size":"%d","map_sha256":"%x"}`, len(file), sha256.Sum256(file)) + "\x00"
	must(t, os.WriteFile(filepath.Join(dir, "x.teehistorian"), append([]byte(head), r...), 0o666))
	b := openBrowser(t, dir, 1280, 800)
	b.open("/.view/play/x.teehistorian#t=5")
	b.wait("recfs.ready && recfs.hooks.length === 1 && recfs.hooks[0].hit && recfs.hooks[0].x === 64 && recfs.hooks[0].y === 48")
	b.wait(`performance.getEntriesByType("resource").some((e) => e.name.endsWith("m.map/preview.png"))`)
	b.picture("hook.png")
}

// Where something is damaged the rest plays, the timeline tells from when to when, and the reason
// is a click away: also that nothing plays at all.
func TestBrowserDamage(t *testing.T) {
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "a"), os.DirFS(samples)))
	must(t, os.WriteFile(filepath.Join(dir, "broken.map"), []byte("DATA\x05\x00\x00\x00"), 0o666))
	b := openBrowser(t, dir, 1280, 800)
	b.open("/.view/play/a/hcrp/bad/flipped-byte.hcrp#t=300")
	b.wait("recfs.entities.length > 0 && recfs.error === null && document.querySelector('.holes summary').textContent === '1 problem'")
	must(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(".holes summary"))))
	b.wait("document.querySelector('.holes').open && document.querySelector('.holes li').checkVisibility() && document.querySelector('.holes li').textContent.includes('makes no sense')")
	b.text(`(() => {
		const slider = document.querySelector("[data-testid=timeline]"), box = slider.getBoundingClientRect();
		slider.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width * 0.3 }));
	})()`)
	b.wait("document.querySelector('[data-testid=timeline]').title.includes('makes no sense')")
	b.open("/.view/play/a/hcrp/bad/flipped-byte.hcrp#t=120")
	b.wait("recfs.error === null || recfs.error.startsWith('It cannot be read')")
	b.picture("damage.png")

	must(t, chromedp.Do(b.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(b.server.http+"/.view/play/broken.map")))
	b.wait("window.recfs?.error?.startsWith('This recording does not open (format: datafile')")
	b.wait("document.querySelector('[data-testid=error]').checkVisibility() && document.querySelectorAll('main header a').length === 2")
}
