//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"recfs/bench/internal/harness"
)

// The aims of the index of a full server.
const (
	serverPlayers = 84
	serverStays   = 49000
	serverMemory  = 64 << 10 // KiB resident at most
)

// fullServer looks at what the index of a full server takes, when it is made and when it is there.
func fullServer(ctx context.Context, recfs, dir string) error {
	sample, err := harness.ReadXZ("testdata/archive/teehistorian/busy-20.1.teehistorian.xz")
	if err != nil {
		return err
	}
	source, mnt := filepath.Join(dir, "source", "server.teehistorian"), filepath.Join(dir, "mnt")
	if err := writeServer(source, sample, serverPlayers, serverStays, 64_000_000); err != nil {
		return err
	}
	program := harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache")}
	for _, what := range []string{"made", "there"} {
		d, err := program.Start(ctx, filepath.Dir(source), mnt)
		if err != nil {
			return err
		}
		_, err = os.Stat(filepath.Join(mnt, filepath.Base(source), "lines", "000000.jsonl"))
		peak, peakErr := d.Number("status", "VmHWM")
		_, readErr := os.ReadFile(filepath.Join(mnt, filepath.Base(source), "players.json"))
		read, secondErr := d.Number("status", "VmHWM")
		if err := errors.Join(err, peakErr, readErr, secondErr, d.Stop()); err != nil {
			return err
		}
		fmt.Printf("full server, index %s: %d KiB resident at most, aim %d; with players.json %d\n", what, peak, serverMemory, read)
	}
	return os.RemoveAll(dir)
}

// A server writes the records of a full server that players enter and leave all the time: every one
// of them moves in each tick and turns his aim in some.
type server struct {
	*bufio.Writer
	rnd     *rand.Rand
	players []guest
	begun   int // stays
	b       []byte
}

// A guest is who plays on a client id.
type guest struct {
	here  bool
	until int // the tick in which he leaves
}

// Ids of records (docs/formats/teehistorian.md section 4).
const (
	recordFinish    = -1
	recordNew       = -3
	recordOld       = -4
	recordInputDiff = -5
	recordInputNew  = -6
	recordMessage   = -7
	recordJoin      = -8
	recordDrop      = -9
	recordCommand   = -10
	recordExtension = -11
)

// playerName is the UUID of the record that names a player (docs/formats/teehistorian.md section
// 7).
var playerName = uuid.NewMD5(uuid.MustParse("e05ddaaa-c4e6-4cfb-b642-5d48e80c0029"), []byte("teehistorian-player-name@ddnet.org"))

// writeServer makes a recording with the header of the sample, and so many players and stays in
// about so many bytes.
func writeServer(file string, sample []byte, players, stays int, size int64) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	s := &server{Writer: bufio.NewWriter(f), rnd: rand.New(rand.NewPCG(1, 2)), players: make([]guest, players)}
	s.Write(sample[:harness.HeaderSize(sample)]) //nolint:errcheck // Flush tells
	const diff = 4                               // bytes of a player in a tick
	ticks := int(size / int64(diff*players))
	for tick := range ticks {
		s.tick(tick, players*ticks/stays)
	}
	s.ints(recordFinish)
	s.send()
	if err := s.Flush(); err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		fmt.Printf("recording of %d bytes with %d players at a time and %d stays\n", info.Size(), players, s.begun)
	}
	return err
}

// tick writes a tick. A stay takes so many of them.
func (s *server) tick(tick, stay int) {
	for cid := range s.players {
		p := &s.players[cid]
		switch {
		case !p.here:
			s.ints(recordNew, cid, 32*cid, 1000)
			p.here, p.until = true, tick+stay/2+s.rnd.IntN(stay)
			s.send()
			s.enter(cid)
		case tick == p.until:
			s.ints(recordOld, cid)
			s.send()
			s.ints(recordDrop, cid)
			s.text("Timeout")
			s.send()
			p.here = false
		default:
			s.move(cid)
		}
	}
}

// enter writes what a server does of a client that comes.
func (s *server) enter(cid int) {
	name := fmt.Sprintf("guest %d", s.rnd.IntN(4*len(s.players)))
	s.begun++
	s.ints(recordJoin, cid)
	s.send()
	s.ints(recordExtension)
	s.b = append(s.b, playerName[:]...)
	s.sized(func() { s.ints(cid); s.text(name) })
	s.ints(recordMessage, cid)
	const startInfo = 2 * 20
	s.sized(func() {
		s.ints(startInfo)
		s.text(name)
		s.text("clan")
		s.ints(-1)
		s.text("default")
		s.ints(0, 0, 0)
	})
	s.ints(recordInputNew, cid, 1, 100, -100, 0, 0, 0, 1, 0, 0, 0)
	s.send()
	s.ints(recordCommand, cid, 128)
	s.text("team")
	s.ints(1)
	s.text(fmt.Sprint(s.rnd.IntN(len(s.players))))
	s.send()
}

// move writes what a player does in a tick.
func (s *server) move(cid int) {
	s.ints(cid, s.rnd.IntN(21)-10, s.rnd.IntN(21)-10)
	if s.rnd.IntN(12) == 0 {
		s.ints(recordInputDiff, cid, 0, s.rnd.IntN(401)-200, s.rnd.IntN(401)-200, 0, 0, 0, 0, 0, 0, 0)
	}
	s.send()
}

// ints appends ints as the format packs them: 6 bits and a sign, then 7 bits a byte.
func (s *server) ints(list ...int) {
	for _, v := range list {
		sign := byte(0)
		if v < 0 {
			v, sign = ^v, 0x40
		}
		first := byte(v&0x3f) | sign
		for v >>= 6; v > 0; v >>= 7 {
			s.b = append(s.b, first|0x80)
			first = byte(v & 0x7f)
		}
		s.b = append(s.b, first)
	}
}

func (s *server) text(t string) { s.b = append(append(s.b, t...), 0) }

// sized appends what data does, with its size before it, and ends the record.
func (s *server) sized(data func()) {
	head := len(s.b)
	data()
	payload := bytes.Clone(s.b[head:])
	s.b = s.b[:head]
	s.ints(len(payload))
	s.b = append(s.b, payload...)
	s.send()
}

// send writes the record.
func (s *server) send() {
	s.Write(s.b) //nolint:errcheck // Flush tells
	s.b = s.b[:0]
}
