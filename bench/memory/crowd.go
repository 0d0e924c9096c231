package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"recfs/bench/internal/packing"
	"recfs/bench/internal/pieces"
)

// crowded is how many readers the crowd has.
const crowded = 50

// A maker writes one file.
type maker struct {
	name  string
	write func(w io.Writer, i int) error
}

// makers are the kinds of hostile files in the crowd.
var makers = []maker{
	{"tiles.map", hugeMap},
	{"lines.nhgame", longLog},
	{"image.map", imageMap},
	{"window.tar.zst", wideTar},
	{"preview.map", previewMap},
	{"frames.butter", swollen("butter/arena_v1_gzip.butter", 1<<24)},
	{"numbers.map", teleMap},
	{"line.echoreplay", longFrames},
	{"bomb.teehistorian.gz", bomb(0, "teehistorian/reload-20.1.teehistorian", 400)},
	{"quads.map", quadsMap},
	{"bodies.hcrp", swollen("hcrp/run-short.hcrp", 1<<26)},
	{"bomb.nhgame.xz", bomb(1, "nethack/small.nhgame", 400)},
	{"packed.map.zst", packed(2, imageMap)},
	{"bomb.hcrp.zst", bomb(2, "hcrp/tiny.hcrp", 400)},
	{"saves.nhgame", swollen("nethack/small.nhgame", 1<<24)},
	{"bomb.echoreplay.bz2", bomb(3, "butter/first-24-frames.echoreplay", 400)},
	{"chunks.butter", swollen("butter/arena_private_bones_v3_zstd7.butter", 1<<24)},
	{"bombs.tar.gz", bombs(0)},
	{"bombs.tar.xz", bombs(1)},
	{"bombs.tar.zst", bombs(2)},
	{"bombs.tar.bz2", bombs(3)},
	{"bombs.zip", zipBombs},
}

// crowd makes one file of each kind, and whole recordings.
func crowd(dir string) error {
	for i, m := range makers {
		if err := create(filepath.Join(dir, m.name), func(w io.Writer) error { return m.write(w, i) }); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return os.CopyFS(filepath.Join(dir, ordinary), os.DirFS(archiveDir))
}

// ordinary is where the crowd has whole recordings.
const ordinary = "whole"

const archiveDir = "testdata/archive"

func sampleOf(name string) ([]byte, error) { return os.ReadFile(filepath.Join(archiveDir, name)) }

// zeroes are n MiB of nothing.
func zeroes(n int64) io.Reader { return io.LimitReader(endless{}, n*mib) }

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// bomb is a sample with MiB of zeroes behind it, compressed.
func bomb(how int, name string, size int64) func(io.Writer, int) error {
	return func(w io.Writer, _ int) error {
		b, err := sampleOf(name)
		if err != nil {
			return err
		}
		return packing.Compressions[how].Pack(context.Background(), w, io.MultiReader(bytes.NewReader(b), zeroes(size)))
	}
}

func packed(how int, write func(io.Writer, int) error) func(io.Writer, int) error {
	return func(w io.Writer, i int) error {
		var b bytes.Buffer
		return errors.Join(write(&b, i), packing.Compressions[how].Pack(context.Background(), w, &b))
	}
}

// inTemp makes a directory of a bomb for each format, and lets do pack it.
func inTemp(do func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "recfs-bombs-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for i, name := range []string{"teehistorian/reload-20.1.teehistorian", "nethack/small.nhgame", "hcrp/tiny.hcrp"} {
		b, err := sampleOf(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), append(b, make([]byte, 100*mib)...), 0o666); err != nil {
			return err
		}
		pack := func(w io.Writer) error { return bomb(i, name, 100)(w, 0) }
		if err := create(filepath.Join(dir, "bomb-"+filepath.Base(name)+packing.Compressions[i].Ext), pack); err != nil {
			return err
		}
	}
	return do(dir)
}

func bombs(how int) func(io.Writer, int) error {
	return func(w io.Writer, _ int) error {
		return inTemp(func(dir string) error {
			r, to := io.Pipe()
			go func() { to.CloseWithError(packing.Tar(to, dir)) }()
			return packing.Compressions[how].Pack(context.Background(), w, r)
		})
	}
}

func zipBombs(w io.Writer, _ int) error {
	return inTemp(func(dir string) error { return packing.Zip(w, dir, 8) })
}

// swollen is a sample whose largest compressed piece holds itself again and again, up to size bytes.
func swollen(name string, size int) func(io.Writer, int) error {
	return func(w io.Writer, _ int) error {
		b, err := sampleOf(name)
		if err != nil {
			return err
		}
		found := pieces.Find(b)
		if len(found) == 0 {
			return errors.New("nothing is compressed there")
		}
		i := 0
		for k, p := range found {
			if len(p.Content) > len(found[i].Content) {
				i = k
			}
		}
		p := found[i].Content
		_, err = w.Write(pieces.Replace(b, found, i, bytes.Repeat(p, size/len(p))))
		return err
	}
}

// longFrames is a recording of lines of 9 MiB each.
func longFrames(w io.Writer, _ int) error {
	filler := strings.Repeat(`{"name":"x","id":12345,"position":[0.1,2.3,4.5]},`, 9*mib/49)
	for i := range 30 {
		_, err := fmt.Fprintf(w, "2022/05/01 20:15:30.%03d\t{\"sessionid\":\"0123\",\"game_status\":\"playing\",\"extra\":[%s{}],\"teams\":[{},{},{}]}\r\n", i, filler)
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns a stream of rows that differ.
func rowsOf(width, height, record int) func(io.Writer) error {
	return func(w io.Writer) error {
		row := make([]byte, width*record)
		for i := range row {
			row[i] = byte(i / record % 7)
		}
		for y := range height {
			binary.LittleEndian.PutUint16(row, uint16(y))
			if _, err := w.Write(row); err != nil {
				return err
			}
		}
		return nil
	}
}

func layerItem(flags, side, image, data int32) []int32 {
	l := []int32{0, 2, 0, 3, side, side, flags, 255, 255, 255, 255, -1, 0, image, data, 0, 0, 0, -1, -1, -1, -1, -1}
	return l
}

func groupItem(layers int32) []int32 {
	return []int32{3, 0, 0, 100, 100, 0, layers, 0, 0, 0, 0, 0, 0, 0, 0}
}

// imageMap is a map with an image of 400 MB, which a layer shows.
func imageMap(w io.Writer, _ int) error {
	const side = 10_000
	return mapOf(w, []item{
		{typeVersion, []int32{1}},
		{typeImage, []int32{1, side, side, 0, -1, 0}},
		{typeGroup, groupItem(2)},
		{typeLayer, layerItem(1, 1000, -1, 1)},
		{typeLayer, layerItem(0, 1000, 0, 1)},
	}, content{4 * side * side, rowsOf(side, side, 4)}, content{4_000_000, rowsOf(1000, 1000, 4)})
}

// previewMap is one whose preview has as many pixels as one may have.
func previewMap(w io.Writer, _ int) error {
	const side = 9400
	return mapOf(w, []item{
		{typeVersion, []int32{1}},
		{typeGroup, groupItem(2)},
		{typeLayer, layerItem(1, side, -1, 0)},
		{typeLayer, layerItem(0, side, -1, 0)},
	}, content{4 * side * side, rowsOf(side, side, 4)})
}

// teleMap is one with as many numbered tiles as a document may have.
func teleMap(w io.Writer, _ int) error {
	const side = 2300
	tele := layerItem(2, side, -1, 0)
	tele[len(tele)-5] = 1
	return mapOf(w, []item{
		{typeVersion, []int32{1}},
		{typeGroup, groupItem(2)},
		{typeLayer, layerItem(1, side, -1, 0)},
		{typeLayer, tele},
	}, content{4 * side * side, rowsOf(side, side, 4)}, content{2 * side * side, rowsOf(side, side, 2)})
}

// quadsMap is one with as many quads as a document may have.
func quadsMap(w io.Writer, _ int) error {
	const quads, size = 650_000, 152
	return mapOf(w, []item{
		{typeVersion, []int32{1}},
		{typeGroup, groupItem(2)},
		{typeLayer, layerItem(1, 1000, -1, 1)},
		{typeLayer, []int32{0, 3, 0, 2, quads, 0, -1, 0, 0, 0}},
	}, content{quads * size, rowsOf(size, quads, 1)}, content{4_000_000, rowsOf(1000, 1000, 4)})
}

// A content is that of a data item.
type content struct {
	size  int32
	write func(io.Writer) error
}
