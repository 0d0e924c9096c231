package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// writeMap writes a map (docs/formats/datafile.md) with a game layer of hookable and empty tiles in
// turn, and others of the same tiles above it, without an image.
func writeMap(t *testing.T, name string, width, height, layers int) {
	t.Helper()
	var data bytes.Buffer
	z, err := zlib.NewWriterLevel(&data, zlib.BestSpeed)
	must(t, err)
	row := bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, width/2+1)[:4*width]
	for range height {
		_, err = z.Write(row)
		must(t, err)
	}
	must(t, z.Close())
	sizes := []int32{1, 15, 18} // of a version, a group, a layer, in ints
	items := [][]int32{{1}, {3, 0, 0, 100, 100, 0, int32(layers), 0, 0, 0, 0, 0, -2139062144, -2139062144, -2139062272}}
	for i := range layers {
		items = append(items, []int32{0, 2, 0, 3, int32(width), int32(height), 0, 255, 255, 255, 255, -1, 0, -1, 0, -2139062144, -2139062144, -2139062272})
		if i == 0 {
			items[2][6] = 1
		}
	}
	types := []int32{0, 0, 1, 4, 1, 1, 5, 2, int32(layers)}
	var offsets, body []int32
	for i, item := range items {
		kind, id := min(i, 2), max(0, i-2)
		offsets = append(offsets, int32(4*len(body)))
		body = append(append(body, []int32{0, 4, 5}[kind]<<16|int32(id), 4*sizes[kind]), item...)
	}
	tables := append(append(append(types, offsets...), 0, int32(4*width*height)), body...)
	swapped := int32(20 + 4*len(tables))
	head := []int32{4, swapped + int32(data.Len()), swapped, 3, int32(len(items)), 1, int32(4 * len(body)), int32(data.Len())}
	file := bytes.NewBufferString("DATA")
	must(t, binary.Write(file, binary.LittleEndian, append(head, tables...)))
	_, err = io.Copy(file, &data)
	must(t, err)
	must(t, os.WriteFile(name, file.Bytes(), 0o666))
}

// Maps of one tile, of 100 million and of 65,000 layers are shown, and their tiles are told, by a
// server that keeps to its memory.
func TestBrowserMapSizes(t *testing.T) {
	needBrowser(t)
	const budget = 32
	dir := t.TempDir()
	for name, size := range map[string][3]int{"one": {1, 1, 1}, "large": {10_000, 10_000, 1}, "layers": {2, 2, 65_000}} {
		writeMap(t, filepath.Join(dir, name+".map"), size[0], size[1], size[2])
	}
	b := openBrowser(t, dir, 1280, 800, "--cache-mem", fmt.Sprint(budget, "MiB"))
	idle := b.server.peak(t)
	for _, c := range []struct{ hash, does string }{
		{"one.map", "recfs.layers.length === 1 && recfs.tile.x === 0 && recfs.tile.y === 0"},
		{"large.map#c=319984,319984,20", "recfs.layers.length === 1 && recfs.tile.x === 9999 && recfs.tile.y === 9999"},
		{"large.map", "recfs.tile.x === 5000 && recfs.tile.y === 5000 && document.querySelector('[data-testid=layer]').textContent.includes('drawn coarsely')"},
		{"layers.map", "recfs.layers.length === 65000 && recfs.tile.layers.length === 64"},
	} {
		b.open("/.view/play/" + c.hash)
		b.wait("recfs.ready && recfs.error === null && " + c.does)
		x := evaluate[int](b, "recfs.tile.x")
		if cell, want := b.text("recfs.tile.layers[0].cell"), []string{"1", "."}[x%2]; cell != want {
			t.Errorf("%s: the tile in column %d is %q, not %q", c.hash, x, cell, want)
		}
		if n := evaluate[int](b, "document.getElementsByTagName('*').length"); n > 6000 {
			t.Errorf("%s: %d elements", c.hash, n)
		}
		b.picture("map-" + strings.ReplaceAll(c.hash, "#", "-") + ".png")
	}
	b.figure("MiB of the server at most, above those at the start", b.server.peak(t)-idle, budget+64)
	b.text("document.querySelector('[data-testid=layers] .rows + button').click()")
	b.wait("document.querySelectorAll('[data-testid=layer]').length === 200")
}

// peak is how many MiB of memory the server had at most.
func (p serverProcess) peak(t *testing.T) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	must(t, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(peak)[0], 64)
	must(t, err)
	return kib / 1024
}

// A recording of one tick is played, and one of none is a sentence.
func TestBrowserShortest(t *testing.T) {
	head := "\x69\x9d\xb1\x7b\x8e\xfb\x34\xff\xb1\xd8\xda\x6f\x60\xc1\x5d\xd1" + `{"version":"2","version_minor":"22"}` + "\x00"
	var one records
	one.ints(-2, 0, -8, 0, -3, 0, 320, 320, -1)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "one.teehistorian"), append([]byte(head), one...), 0o666))
	must(t, os.WriteFile(filepath.Join(dir, "none.teehistorian"), []byte(head), 0o666))
	b := openBrowser(t, dir, 1280, 800)
	b.open("/.view/play/one.teehistorian")
	b.wait("recfs.first === recfs.last && recfs.tick === recfs.first && recfs.entities.length === 1 && recfs.entities[0].x === 320")
	for _, key := range []string{" ", ".", "5", "n", "]", "+", "a"} {
		b.press(key)
	}
	b.wait("recfs.ready && !recfs.playing && recfs.tick === recfs.first && recfs.error === null && recfs.entities.length === 1")
	b.open("/.view/play/none.teehistorian#t=5&p=1")
	b.wait("recfs.ready && recfs.first === null && recfs.tick === null && recfs.error.includes('nothing to play')")
	for _, key := range []string{" ", ".", "5", "n", "]", "+", "a", "z"} {
		b.press(key)
	}
	b.wait("recfs.ready && !recfs.playing && document.querySelector('[data-testid=error]').textContent.includes('nothing to play')")
}
