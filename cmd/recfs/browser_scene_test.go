package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// Each kind of recording is shown, on a phone, too, and says what its tree says.
func TestBrowserScenes(t *testing.T) {
	b := openViewer(t, 360, 740)
	for _, c := range []struct{ path, hash, view, agrees string }{
		{"teehistorian/reload-20.1.teehistorian", "t=400", "tee", `recfs.entities.filter((e) => e.x !== null).length === (await tree("states/00000400.json")).players.filter((p) => p.alive).length`},
		{"nethack/small.nhgame", "t=20", "nethack", `recfs.screen.length === 24 && recfs.screen.some((row) => row.includes("Dlvl:1")) &&
			recfs.inventory.length === (await tree("states/20.json")).inventory.length && recfs.changes.some((c) => c.path === "hero.nutrition" && c.from === 791 && c.to === 789)`},
		{"hcrp/run-finished", "t=100", "hcrp", `(await tree("states/100.json")).entities.every((e) => recfs.entities.some((o) => o.id === e.entity && o.x === Math.round(e.position.x * 32) && o.z === Math.round(e.position.z * 32)))`},
		{"butter/arena_private_bones_v3_zstd7.butter", "t=200", "echo", `(() => {
			const teams = s.session.teams.flatMap((team) => team.players ?? []), near = (a, b) => Math.abs(a - 100 * b) <= 0.5;
			return recfs.entities.filter((e) => e.kind === "player").length === teams.length &&
				teams.every((p) => recfs.entities.some((e) => e.name === p.name && near(e.x, p.head.position[0]) && near(e.y, p.head.position[1]) && near(e.z, p.head.position[2]))) &&
				recfs.score.blue === s.session.blue_points && recfs.score.orange === s.session.orange_points;
		})()`},
		{"datafile/maps/new.map", "c=776,264,8", "map", `recfs.layers.length === (await tree("map.json")).layers.length`},
	} {
		b.open("/.view/play/" + c.path + "#" + c.hash)
		b.wait(fmt.Sprintf("recfs.view === %q && recfs.ready && recfs.error === null && document.documentElement.scrollWidth <= 360", c.view))
		got := b.text(fmt.Sprintf(`(async () => {
			const tree = (file) => fetch(%q + file).then((r) => r.json()), s = recfs.view === "echo" ? await tree("ticks/00000200.json") : null;
			return %s;
		})()`, "/"+c.path+"/", c.agrees))
		if got != "true" {
			t.Errorf("%s: the page and the tree disagree (%s): %.1500s", c.path, got, b.text("JSON.stringify(recfs)"))
		}
	}
}

// Keys of a kind do what they say: monsters go, tiles that differ are gone through one by one.
func TestBrowserSceneKeys(t *testing.T) {
	b := openViewer(t, 1280, 800)
	b.open("/.view/play/nethack/small.nhgame#t=20")
	b.wait("recfs.ready && recfs.screen.some((row) => row.includes('F'))")
	b.press("m")
	b.wait("recfs.ready && !recfs.screen.some((row) => /\\bF\\b/.test(row))")
	b.open("/.view/play/datafile/maps/new.map#b=datafile/maps/old.map")
	b.wait("recfs.ready && recfs.differing && Object.values(recfs.differing).some((n) => n > 0)")
	before := b.text("JSON.stringify(recfs.camera)")
	b.press("n")
	b.wait(fmt.Sprintf("JSON.stringify(recfs.camera) !== %q && recfs.tile !== null", before))
	cell := b.text(`(async () => {
		const { x, y } = recfs.tile, layer = recfs.tile.layers.find((l) => l.index === 1);
		const grid = await fetch("/datafile/maps/new.map/layers/01-00-game-Game.txt").then((r) => r.text());
		return grid.split("\n")[y].trim().split(/ +/)[x] === layer.cell;
	})()`)
	if cell != "true" {
		t.Errorf("the tile is %s", b.text("JSON.stringify(recfs.tile)"))
	}
	must(t, chromedp.Do(b.ctx, chromedp.Navigate("about:blank")))
}

// A sound of a map is heard for as long as it is long, or until it is stopped.
func TestBrowserSound(t *testing.T) {
	b := openViewer(t, 1280, 800)
	b.before("const Real = window.AudioContext; window.AudioContext = class extends Real { constructor() { super(); window.audio = this; } };")
	b.open("/.view/play/datafile/maps/new.map")
	const said = "document.querySelector('[data-testid=sound]').parentElement.textContent"
	b.text("document.querySelector('[data-testid=sound]').closest('details').open = true")
	b.click("sound")
	b.wait("window.audio?.currentTime > 0.1 && audio.state === 'running'")
	b.wait("!" + said + ".includes('plays')")
	b.click("sound")
	b.wait(said + ".includes('plays')")
	b.click("sound")
	b.wait("!" + said + ".includes('plays')")
}
