package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// hurried is a script that tells how long the page waits, and makes 5 s short.
const hurried = `window.waits = [];
	const real = window.setTimeout;
	window.setTimeout = (run, ms, ...more) => (waits.push(ms), real(run, ms === 5000 ? 50 : ms, ...more));`

// replace puts a file in the place of another one at once.
func replace(t *testing.T, name string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(name+".new", content, 0o666))
	must(t, os.Rename(name+".new", name))
}

// A recording that grows goes on where it came to its end, one that is gone is a sentence until it
// is there again, and one that took the place of another one is loaded anew.
func TestBrowserGrows(t *testing.T) {
	all, err := exec.Command("xz", "-dc", filepath.Join(samples, busy)).Output()
	must(t, err)
	other, err := os.ReadFile(filepath.Join(samples, "teehistorian/reload-20.1.teehistorian"))
	must(t, err)
	dir := t.TempDir()
	name := filepath.Join(dir, "x.teehistorian")
	must(t, os.WriteFile(name, all[:500_000], 0o666))
	b := openBrowser(t, dir, 1280, 800)
	b.before(hurried)
	b.open("/.view/play/x.teehistorian")
	b.wait("waits.includes(30000) && !waits.includes(5000)")
	grow := func(to int) {
		t.Helper()
		last := evaluate[int](b, "recfs.last")
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		size, err := f.Seek(0, 2)
		must(t, err)
		_, err = f.Write(all[size:to])
		must(t, err)
		must(t, f.Close())
		b.wait(fmt.Sprintf("recfs.last > %d", last))
	}

	b.press(kb.End)
	b.wait("recfs.ready && recfs.tick === recfs.last && waits.includes(5000)")
	rested := b.text("recfs.tick")
	grow(600_000)
	b.wait("recfs.ready && !recfs.playing && recfs.error === null && recfs.tick === " + rested)
	b.press(kb.End)
	b.wait("recfs.ready && recfs.tick === recfs.last")
	const there = `(await fetch("/x.teehistorian/states/" + String(recfs.tick).padStart(8, "0") + ".json").then((r) => r.json())).players.filter((p) => p.alive).length`
	if shown, stored := b.text("recfs.entities.filter((e) => e.x !== null).length"), b.text(there); shown != stored || stored == "0" {
		t.Errorf("at the new end there are %s, not %s", shown, stored)
	}
	b.press(",")
	b.press(" ")
	b.wait("!recfs.playing && recfs.ready && recfs.tick === recfs.last")
	grow(700_000)
	b.wait("recfs.playing")
	b.press(" ")
	b.wait("!recfs.playing && recfs.tick < recfs.last")

	b.press(kb.End)
	b.wait("recfs.ready && recfs.tick === recfs.last")
	must(t, os.Rename(name, name+".away"))
	b.wait("recfs.error === 'This is not there any more.'")
	must(t, os.Rename(name+".away", name))
	b.wait("recfs.error === null && document.querySelector('[data-testid=error]').hidden")

	replace(t, name, other)
	b.wait("recfs.error?.includes('replaced') && document.querySelector('[data-testid=error]').textContent.includes('replaced')")
	b.wait("recfs.error === null && recfs.ready && recfs.last === 699")
}
