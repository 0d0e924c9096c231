package datafile

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recfs/formats"
)

var updateSamples = flag.Bool("update-samples", false, "rewrite the maps in testdata/archive")

const samples = "../../testdata/archive/datafile/maps"

// TestSamples compares the maps of the sample archive with what this test makes: the same items and
// data, however they are compressed.
func TestSamples(t *testing.T) {
	for name, s := range map[string]sample{
		"old.map": {level: oldLevel, version: "1", sky: [3]int32{112, 160, 220}, settings: []string{"sv_team 1"}},
		"new.map": {level: newLevel, version: "2", sky: [3]int32{240, 150, 90}, settings: []string{"sv_team 1", "sv_deepfly 0"}},
	} {
		made, file := s.write(), filepath.Join(samples, name)
		if *updateSamples {
			if err := os.MkdirAll(samples, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, made, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sameMap(t, name, kept, made)
	}
}

func sameMap(t *testing.T, name string, a, b []byte) {
	t.Helper()
	ra, rb := mustRead(t, a), mustRead(t, b)
	if len(ra.Items) != len(rb.Items) || len(ra.Data) != len(rb.Data) {
		t.Fatalf("%s has %d items and %d data, the test makes %d and %d (rewrite with -update-samples)",
			name, len(ra.Items), len(ra.Data), len(rb.Items), len(rb.Data))
	}
	for i := range ra.Items {
		if ra.Items[i].Type != rb.Items[i].Type || !bytes.Equal(ra.ItemData(i), rb.ItemData(i)) {
			t.Errorf("%s: item %d is not what the test makes (rewrite with -update-samples)", name, i)
		}
	}
	for i := range ra.Data {
		da, errA := ra.ReadData(t.Context(), i)
		db, errB := rb.ReadData(t.Context(), i)
		if errA != nil || errB != nil || !bytes.Equal(da, db) {
			t.Errorf("%s: data %d is not what the test makes (rewrite with -update-samples): %v, %v", name, i, errA, errB)
		}
	}
}

func mustRead(t testing.TB, b []byte) *Reader {
	t.Helper()
	r, err := NewReader(t.Context(), formats.BytesReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The two versions of the sample level: # solid, = unhookable, x death, f freeze, s spawn, > start,
// < finish, t and T teleporters in and out, and everything else air.
const oldLevel = `
################################################
#..............................................#
#..............................................#
#....s.........................................#
#...s.s........................................#
#........>.....................................#
####################....#######...##############
#..................#....#.....#...#............#
#..................#....#.....#...#............#
#......====........#xxxx#.....#fff#...====.....#
#.................t#####......#####...........<#
#..............................................#
#T..........................................####
#####....###........................############
#...######.#######xxxxxxxx######################
################################################
`

const newLevel = `
################################################
#..............................................#
#..............................................#
#....s.........................................#
#...s.s..............====......................#
#........>.....................................#
####################....#######...##############
#..................#....#.....#...#............#
#..................#....#.....#...#............#
#......====........#xxxx#.....#fff#...====.....#
#.................t#####......#####...........<#
#.....................................====.....#
#T.......................................#######
#####....###.....====...............############
#...######.#######xxxxxxxxffffff################
################################################
`

// A sample is a map to look at: a small race with a sky, a sun that pulses, a tile image of its own
// and a sound.
type sample struct {
	level    string
	version  string
	sky      [3]int32
	settings []string
}

func (s sample) write() []byte {
	rows := strings.Fields(s.level)
	w, h := len(rows[0]), len(rows)
	m := &mapWriter{}
	m.item(typeVersion, 1)
	m.item(typeInfo, 1, m.text("the recfs authors"), m.text(s.version), m.text("made by a test"), m.text("CC0"),
		m.content([]byte(strings.Join(s.settings, "\x00")+"\x00")))
	m.image("bricks", imageSide, imageSide, bricks())
	m.item(typeImage, 1, 512, 512, 1, m.text("sun"), -1)
	m.item(typeEnvelope, ints(2, 4, 0, 2, textInts("Pulse", 8), 1)...)
	m.item(typeEnvelope, ints(2, 3, 2, 3, textInts("Drift", 8), 0)...)
	m.item(typeEnvPoints,
		0, 4, 1024, 1024, 1024, 1024,
		2000, 4, 1024, 900, 700, 800,
		0, 1, 0, 0, 0, 0,
		30000, 1, 64*1024, 8*1024, 0, 0,
		60000, 1, 0, 0, 0, 0)
	m.item(typeSound, 1, 0, m.text("chime"), m.content(opusFile()), 0)
	m.quads("Sky", skyQuads(w, h, s.sky))
	m.tileLayer("Game", w, h, 1, -1, gameTiles(rows))
	m.tileLayer("Bricks", w, h, 0, 0, brickTiles(rows))
	m.tileLayer("Tele", w, h, 2, -1, teleTiles(rows))
	m.item(typeLayer, ints(0, layerSounds, 0, 2, 1,
		m.content(appendInts(nil, 40*32*1024, 9*32*1024, 1, 1, 0, 64, -1, 0, -1, 0, shapeCircle, 1000*1024, 0)),
		0, textInts("Chimes", 3))...)
	m.group("Sky", 0, 0, 1)
	m.group("Game", 100, 1, 3)
	m.group("Sounds", 100, 4, 1)
	return m.bytes()
}

func gameTiles(rows []string) []byte {
	indices := map[rune]byte{'#': 1, 'x': 2, '=': 3, 'f': 9, 's': 192, '>': 33, '<': 34}
	var b []byte
	for _, row := range rows {
		for _, c := range row {
			b = append(b, indices[c], 0, 0, 0)
		}
	}
	return b
}

// brickTiles shows what stands in the game layer, every second brick mirrored.
func brickTiles(rows []string) []byte {
	cells := map[rune]byte{'#': 1, '=': 2, 'x': 3, 'f': 4, '>': 5, '<': 5, 't': 6, 'T': 6}
	var b []byte
	for y, row := range rows {
		for x, c := range row {
			flags := byte(0)
			if c == '#' && (x+y)%2 == 1 {
				flags = flagMirrorX
			}
			b = append(b, cells[c], flags, 0, 0)
		}
	}
	return b
}

func teleTiles(rows []string) []byte {
	types := map[rune]byte{'t': 26, 'T': 27}
	var b []byte
	for _, row := range rows {
		for _, c := range row {
			number := byte(0)
			if types[c] != 0 {
				number = 1
			}
			b = append(b, number, types[c])
		}
	}
	return b
}

const (
	imageSide = 128
	cellSide  = imageSide / atlasSide
)

// bricks draws the tile image, a cell after the other.
func bricks() []byte {
	colors := [][3]int{1: {150, 90, 60}, 2: {90, 100, 115}, 3: {210, 60, 45}, 4: {60, 90, 140}, 5: {240, 240, 240}, 6: {150, 110, 210}}
	pixels := make([]byte, 4*imageSide*imageSide)
	for cell, c := range colors {
		for y := range cellSide {
			for x := range cellSide {
				shade := cellPixel(cell, x, y)
				at := 4 * ((cell/atlasSide*cellSide+y)*imageSide + cell%atlasSide*cellSide + x)
				if shade == 0 {
					continue
				}
				for k := range 3 {
					pixels[at+k] = byte(min(255, c[k]*shade/100))
				}
				pixels[at+3] = 255
			}
		}
	}
	return pixels
}

// cellPixel is the brightness of a pixel in percent; 0 is nothing at all.
func cellPixel(cell, x, y int) int {
	switch {
	case cell == 0:
		return 0
	case cell == 1 && (y == 3 || y == 7 || x == 2 && y < 3 || x == 6 && y > 3):
		return 60 // the joints of a wall
	case cell == 3 && (x+y)%4 == 0 && y < 4:
		return 0 // spikes
	case cell == 5:
		return 100 - 80*((x/2+y/2)%2) // a flag
	case cell == 6 && (x-4)*(x-4)+(y-4)*(y-4) > 12:
		return 0 // a round hole
	}
	return 85 + 5*(x+y)%20
}

// quads adds a quads layer.
func (w *mapWriter) quads(name string, quads []byte) {
	w.item(typeLayer, ints(0, layerQuads, 0, 2, len(quads)/quadSize, w.content(quads), -1, textInts(name, 3))...)
}

// skyQuads are the sky, darker above, and a sun that drifts and pulses.
func skyQuads(w, h int, sky [3]int32) []byte {
	right, bottom := int32(w)*32*1024, int32(h)*32*1024
	dark := []int32{sky[0] / 2, sky[1] / 2, sky[2] / 2, 255}
	light := []int32{sky[0], sky[1], sky[2], 255}
	corners := []int32{0, 0, 1024, 0, 0, 1024, 1024, 1024}
	b := appendInts(nil, ints(0, 0, right, 0, 0, bottom, right, bottom, right/2, bottom/2,
		dark, dark, light, light, corners, -1, 0, -1, 0)...)
	yellow := []int32{255, 230, 120, 255}
	x, y, r := right*3/4, bottom/5, int32(48*1024)
	return appendInts(b, ints(x-r, y-r, x+r, y-r, x-r, y+r, x+r, y+r, x, y,
		yellow, yellow, yellow, yellow, corners, 1, 0, 0, 0)...)
}

// opusFile is an Ogg Opus file of one second: fifty packets of silence.
func opusFile() []byte {
	head := append([]byte("OpusHead"), 1, 1, 0x38, 1, 0x80, 0xbb, 0, 0, 0, 0, 0)
	tags := append([]byte("OpusTags"), 5, 0, 0, 0, 'r', 'e', 'c', 'f', 's', 0, 0, 0, 0)
	const packets = 50
	var audio [][]byte
	for range packets {
		audio = append(audio, []byte{0xf8, 0xff, 0xfe})
	}
	b := oggPage(nil, 2, 0, 0, head)
	b = oggPage(b, 0, 0, 1, tags)
	return oggPage(b, 4, packets*960, 2, audio...)
}

// oggPage appends a page that holds whole packets (RFC 3533, section 6).
func oggPage(b []byte, flags byte, position uint64, sequence uint32, packets ...[]byte) []byte {
	page := append([]byte("OggS"), 0, flags)
	page = binary.LittleEndian.AppendUint64(page, position)
	page = binary.LittleEndian.AppendUint32(page, 1)
	page = binary.LittleEndian.AppendUint32(page, sequence)
	page = append(page, 0, 0, 0, 0, byte(len(packets)))
	for _, p := range packets {
		page = append(page, byte(len(p)))
	}
	page = append(page, bytes.Join(packets, nil)...)
	binary.LittleEndian.PutUint32(page[22:], oggSum(page))
	return append(b, page...)
}

// oggSum is a CRC-32 with the usual polynomial, not reflected.
func oggSum(b []byte) uint32 {
	sum := uint32(0)
	for _, c := range b {
		sum ^= uint32(c) << 24
		for range 8 {
			carry := sum >> 31
			sum = sum<<1 ^ carry*0x04c11db7
		}
	}
	return sum
}
