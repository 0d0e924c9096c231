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
	crowdPlayers = 84
	crowdStays   = 49000
	crowdMemory  = 64 << 10 // KiB resident at most
)

// measureCrowd measures what the index of a full server takes, when it is made and when it is there, and what reading
// players.json takes besides.
func measureCrowd(ctx context.Context, recfs, dir string, sample []byte) error {
	source := filepath.Join(dir, "crowd", "crowd.teehistorian")
	if err := writeCrowd(source, sample, crowdPlayers, crowdStays, *size*1e6); err != nil {
		return err
	}
	program := harness.Program{Binary: recfs, Cache: filepath.Join(dir, "crowd-cache")}
	for _, what := range []string{"made", "there"} {
		mnt := filepath.Join(dir, "crowd-mnt")
		daemon, err := program.Start(ctx, filepath.Dir(source), mnt)
		if err != nil {
			return err
		}
		_, err = os.Stat(filepath.Join(mnt, filepath.Base(source), "lines", "000000.jsonl"))
		peak, peakErr := daemon.Number("status", "VmHWM")
		_, readErr := os.ReadFile(filepath.Join(mnt, filepath.Base(source), "players.json"))
		read, secondErr := daemon.Number("status", "VmHWM")
		if err := errors.Join(err, peakErr, readErr, secondErr, daemon.Stop()); err != nil {
			return err
		}
		fmt.Printf("crowd, index %s: %d KiB resident at most, aim %d; with players.json %d\n", what, peak, crowdMemory, read)
	}
	return os.RemoveAll(filepath.Dir(source))
}

// A crowd writes the records of a full server that players enter and leave all the time: every one of them
// moves in each tick and turns his aim in some.
type crowd struct {
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

// playerName is the UUID of the record that names a player (docs/formats/teehistorian.md section 7).
var playerName = uuid.NewMD5(uuid.MustParse("e05ddaaa-c4e6-4cfb-b642-5d48e80c0029"), []byte("teehistorian-player-name@ddnet.org"))

// writeCrowd makes a recording with the header of the sample, and so many players and stays in about so many bytes.
func writeCrowd(file string, sample []byte, players, stays int, size int64) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &crowd{Writer: bufio.NewWriter(f), rnd: rand.New(rand.NewPCG(1, 2)), players: make([]guest, players)}
	c.Write(sample[:headerSize(sample)]) //nolint:errcheck // Flush tells
	const diff = 4                       // bytes of a player in a tick
	ticks := int(size / int64(diff*players))
	for tick := range ticks {
		c.tick(tick, players*ticks/stays)
	}
	c.ints(recordFinish)
	c.send()
	if err := c.Flush(); err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		fmt.Printf("recording of %d bytes with %d players at a time and %d stays\n", info.Size(), players, c.begun)
	}
	return err
}

// tick writes a tick. A stay takes so many of them.
func (c *crowd) tick(tick, stay int) {
	for cid := range c.players {
		p := &c.players[cid]
		switch {
		case !p.here:
			c.ints(recordNew, cid, 32*cid, 1000)
			p.here, p.until = true, tick+stay/2+c.rnd.IntN(stay)
			c.send()
			c.enter(cid)
		case tick == p.until:
			c.ints(recordOld, cid)
			c.send()
			c.ints(recordDrop, cid)
			c.text("Timeout")
			c.send()
			p.here = false
		default:
			c.move(cid)
		}
	}
}

// enter writes what a server does of a client that comes.
func (c *crowd) enter(cid int) {
	name := fmt.Sprintf("guest %d", c.rnd.IntN(4*len(c.players)))
	c.begun++
	c.ints(recordJoin, cid)
	c.send()
	c.ints(recordExtension)
	c.b = append(c.b, playerName[:]...)
	c.sized(func() { c.ints(cid); c.text(name) })
	c.ints(recordMessage, cid)
	const startInfo = 2 * 20
	c.sized(func() {
		c.ints(startInfo)
		c.text(name)
		c.text("clan")
		c.ints(-1)
		c.text("default")
		c.ints(0, 0, 0)
	})
	c.ints(recordInputNew, cid, 1, 100, -100, 0, 0, 0, 1, 0, 0, 0)
	c.send()
	c.ints(recordCommand, cid, 128)
	c.text("team")
	c.ints(1)
	c.text(fmt.Sprint(c.rnd.IntN(len(c.players))))
	c.send()
}

// move writes what a player does in a tick.
func (c *crowd) move(cid int) {
	c.ints(cid, c.rnd.IntN(21)-10, c.rnd.IntN(21)-10)
	if c.rnd.IntN(12) == 0 {
		c.ints(recordInputDiff, cid, 0, c.rnd.IntN(401)-200, c.rnd.IntN(401)-200, 0, 0, 0, 0, 0, 0, 0)
	}
	c.send()
}

// ints appends ints as the format packs them: 6 bits and a sign, then 7 bits a byte.
func (c *crowd) ints(list ...int) {
	for _, v := range list {
		sign := byte(0)
		if v < 0 {
			v, sign = ^v, 0x40
		}
		first := byte(v&0x3f) | sign
		for v >>= 6; v > 0; v >>= 7 {
			c.b = append(c.b, first|0x80)
			first = byte(v & 0x7f)
		}
		c.b = append(c.b, first)
	}
}

func (c *crowd) text(s string) { c.b = append(append(c.b, s...), 0) }

// sized appends what data does, with its size before it, and ends the record.
func (c *crowd) sized(data func()) {
	head := len(c.b)
	data()
	payload := bytes.Clone(c.b[head:])
	c.b = c.b[:head]
	c.ints(len(payload))
	c.b = append(c.b, payload...)
	c.send()
}

// send writes the record.
func (c *crowd) send() {
	c.Write(c.b) //nolint:errcheck // Flush tells
	c.b = c.b[:0]
}
