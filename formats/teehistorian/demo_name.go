package teehistorian

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"recfs/formats/internal/demo"
)

// demoExt is the extension of demos.
const demoExt = ".demo"

// maxDemo is how many ticks a demo that is no run may have: 30 minutes.
const maxDemo = 90000

// tickDigits is the width of a tick in a name.
const tickDigits = 8

// A demoID names a demo.
type demoID struct {
	first, last int32
	follow      int32 // the stay that is followed, or noStay
	run         int32 // the place of a run, or noRun
}

// noRun is the run of a demo that is of none.
const noRun = -1

// demoName returns the name of a demo that is no run.
func (r *recording) demoName(d demoID) string {
	name := fmt.Sprintf("%0*d-%0*d", tickDigits, d.first, tickDigits, d.last)
	if d.follow != noStay {
		name += "-" + r.dirs[d.follow]
	}
	return name + demoExt
}

// A demoRange is what the name of a demo that is no run asks for.
type demoRange struct {
	from, to int64
	dir      string // of the stay that is followed
	follows  bool
}

// parseDemoName reads FROM-TO.demo and FROM-TO-DIR.demo (docs/tree/teehistorian.md section 10).
func parseDemoName(name string) (d demoRange, ok bool) {
	name, ok = strings.CutSuffix(name, demoExt)
	if !ok {
		return d, false
	}
	from, rest, ok := strings.Cut(name, "-")
	if !ok {
		return d, false
	}
	to, dir, follows := strings.Cut(rest, "-")
	d.dir, d.follows = dir, follows
	var ok2 bool
	d.from, ok = parseTick(from)
	d.to, ok2 = parseTick(to)
	return d, ok && ok2
}

var clockPattern = regexp.MustCompile(`^(?:(\d+):)?(\d+):([0-5]\d)(?:\.(\d\d))?$`)

// parseTick reads a tick, or a time of the recording's clock: H:MM:SS, H:MM:SS.cc or M:SS, which is
// the last tick at or before it.
func parseTick(s string) (int64, bool) {
	if !strings.Contains(s, ":") {
		return parsePadded(s)
	}
	m := clockPattern.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	hours, minutes, hundredths := m[1], m[2], m[4]
	if hours == "" && hundredths != "" || hours != "" && (len(minutes) != 2 || minutes > "59") {
		return 0, false
	}
	var n [4]int64
	for i, part := range m[1:] {
		if part == "" {
			continue
		}
		v, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return 0, false
		}
		n[i] = int64(v)
	}
	return ((n[0]*60+n[1])*60+n[2])*demo.TicksPerSecond + n[3]/2, true
}

// parsePadded reads a tick with no more leading zeros than a name has.
func parsePadded(s string) (int64, bool) {
	if s == "" || len(s) > tickDigits && s[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 31)
	return int64(n), err == nil
}

// find returns the demo that a name asks for, if the recording has the ticks and the stay.
func (d *demoRange) find(r *recording) (demoID, bool) {
	x := r.idx
	if len(x.chunks) == 0 || d.from >= d.to || d.to-d.from > maxDemo || d.to > demo.MaxTick ||
		!x.spans(d.from) || !x.spans(d.to) {
		return demoID{}, false
	}
	id := demoID{first: int32(d.from), last: int32(d.to), follow: noStay, run: noRun}
	if d.follows {
		i := slices.Index(r.dirs, d.dir)
		if i < 0 || x.stays[i].CID >= demo.MaxClients {
			return demoID{}, false
		}
		id.follow = int32(i)
	}
	return id, true
}

// blocks is how many parts between key frames the demo has.
func (d demoID) blocks() int { return int(d.last/demo.BlockTicks - d.first/demo.BlockTicks + 1) }

// block returns one of them.
func (d demoID) block(i int) span {
	first := (d.first/demo.BlockTicks + int32(i)) * demo.BlockTicks
	last := min(first+demo.BlockTicks-1, d.last)
	return span{max(first, d.first), last, last == d.last}
}
