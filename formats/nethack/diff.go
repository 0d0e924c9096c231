package nethack

import (
	"encoding/binary"
	"math/bits"
)

// A diffFormat is one of the three ways in which diffs were written.
type diffFormat uint8

const (
	noDiff diffFormat = iota // a backup, or a blob that does not decode
	beta1
	beta2
	beta3
)

var diffFormatNames = [...]string{"", "beta1", "beta2", "beta3"}

func (f diffFormat) String() string { return diffFormatNames[f] }

// formatOf tells the format of a diff by its first two bytes (docs/formats/nethack.md section 4).
// Beta1 has no header.
func formatOf(diff []byte) diffFormat {
	if len(diff) >= 2 && diff[0] == 0x01 {
		switch diff[1] {
		case 0x43:
			return beta3
		case 0x40:
			return beta2
		}
	}
	return beta1
}

// decode reads a diff against a save of length base. The patch keeps slices of the diff.
func (p *patch) decode(diff []byte, base int) error {
	p.reset(base)
	p.diff = diff
	switch formatOf(diff) {
	case beta3:
		p.beta3(diff[2:])
	case beta2:
		p.beta2(diff[2:])
	default:
		p.beta1(diff)
	}
	return p.err
}

// beta1 reads 16-bit little-endian commands: two bits operation, 14 bits argument
// (docs/formats/nethack.md section 5.1). There is no end marker; 00 00 is padding that the game
// adds.
func (p *patch) beta1(d []byte) {
	for len(d) > 0 && p.err == nil {
		if len(d) < 2 {
			p.fail(errTruncated)
			return
		}
		n := uint64(d[1]&0x3f)<<8 | uint64(d[0])
		op := d[1] >> 6
		d = d[2:]
		if op == 0 && n == 0 {
			return
		}
		switch op {
		case 0:
			if p.seek(int64(n<<50) >> 50); p.src < 0 {
				p.fail(errSeek)
			}
		case 1:
			p.fail(errUnknown)
		case 2:
			d = p.take(d, n)
		case 3:
			p.copy(n)
		}
	}
}

// beta2 reads big-endian commands of two or four bytes; the top three bits decide
// (docs/formats/nethack.md section 5.2).
func (p *patch) beta2(d []byte) {
	for len(d) > 0 && p.err == nil {
		op := d[0] >> 5
		size := 4
		if op < 4 || op == 7 {
			size = 2
		}
		if len(d) < size {
			p.fail(errTruncated)
			return
		}
		var arg uint64
		for _, b := range d[:size] {
			arg = arg<<8 | uint64(b)
		}
		d = d[size:]
		if op == 0 && arg == 0 {
			return
		}
		arg &= 1<<(8*size-3) - 1
		switch op {
		case 0, 1, 2, 3:
			p.copy(arg)
			d = p.take(d, uint64(op)+1)
		case 4:
			p.copy(arg & (1<<25 - 1))
			d = p.take(d, arg>>25)
		case 5:
			d = p.take(d, arg)
		case 6:
			p.seek(int64(arg<<35) >> 35)
		case 7:
			p.seek(int64(arg<<51) >> 51)
		}
	}
}

// take appends the next n bytes of the diff as literals and returns the rest.
func (p *patch) take(d []byte, n uint64) []byte {
	if p.err != nil || n > uint64(len(d)) {
		p.fail(errTruncated)
		return d
	}
	p.literal(int(n), len(p.diff)-len(d))
	return d[n:]
}

// Commands of a beta3 diff in their default order (docs/formats/nethack.md section 6.1).
const (
	cmdCopyEdit = iota
	cmdCopy
	cmdEdit
	cmdSeek
	cmdWider
	cmdEOF
	cmdCoord
	cmdErase
	cmdIncrement
	cmdCopyEdit1
	cmdEOFCRC32
	cmdRLE
	commands
)

// widths are the bits of a command's arguments: arg2 fixed, arg1 at least.
var widths = [commands]struct{ arg2, arg1 int }{
	cmdCopyEdit:  {2, 12},
	cmdCopy:      {0, 6},
	cmdEdit:      {0, 4},
	cmdSeek:      {0, 8},
	cmdEOF:       {0, 12},
	cmdCoord:     {3, 1},
	cmdErase:     {3, 7},
	cmdIncrement: {0, 12},
	cmdCopyEdit1: {0, 4},
	cmdEOFCRC32:  {32, 12},
	cmdRLE:       {0, 2},
}

// steps are the changes of x and y in the eight directions of a coord command
// (docs/formats/nethack.md section 6.4).
var steps = [8]struct{ dx, dy int8 }{{-1, 0}, {-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}}

const (
	west = 0
	east = 4

	monsterSize = 85 // distance that coord counts in
)

// An mdiff reads the commands of a beta3 diff. Headers are bit strings, most significant bit first.
type mdiff struct {
	*patch
	data  []byte
	pos   int // in bits
	order [commands]uint8
}

// beta3 decodes a diff whose header is already off.
func (p *patch) beta3(d []byte) {
	m := mdiff{patch: p, data: d}
	for i := range m.order {
		m.order[i] = uint8(i)
	}
	anchor := 0
	for p.err == nil {
		cmd, arg1, arg2 := m.command()
		switch cmd {
		case cmdCopyEdit:
			m.copyEdit(arg1, arg2+1)
		case cmdCopy:
			p.copy(arg1)
			anchor = p.size
		case cmdEdit:
			m.copyEdit(0, arg1+1)
		case cmdSeek:
			p.seek(int64(arg1))
		case cmdEOF, cmdEOFCRC32:
			p.sum, p.summed = uint32(arg2), cmd == cmdEOFCRC32
			p.copy(arg1)
			return
		case cmdCoord:
			p.coord(anchor, arg1, arg2)
		case cmdErase:
			p.copy(arg1)
			p.literal(int(arg2)+3, zeros)
		case cmdIncrement:
			p.copy(arg1)
			p.adjust(1)
		case cmdCopyEdit1:
			m.copyEdit(arg1, 1)
		default:
			p.fail(errUnsupported)
		}
	}
}

// copyEdit copies, then appends n literal bytes that follow the command.
func (m *mdiff) copyEdit(copied, n uint64) {
	m.copy(copied)
	rest := m.take(m.data[m.pos/8:], n)
	m.pos = 8 * (len(m.data) - len(rest))
}

// coord copies up to a place a multiple of a monster's size behind the anchor and moves one step.
func (p *patch) coord(anchor int, far, dir uint64) {
	if far > maxBlob/monsterSize {
		p.fail(errCopyEnd)
		return
	}
	gap := (anchor - p.size) % monsterSize
	if gap < 0 {
		gap += monsterSize
	}
	p.copy(uint64(gap) + monsterSize*far)
	p.adjust(byte(steps[dir].dx))
	if dir != west && dir != east {
		p.adjust(byte(steps[dir].dy))
	}
}

// command reads a command with its widening prefixes and arguments (docs/formats/nethack.md
// section 6.2). A seek's arg1 is extended by its sign.
func (m *mdiff) command() (cmd int, arg1, arg2 uint64) {
	wider := 0
	for cmd = m.which(); cmd == cmdWider; cmd = m.which() {
		wider += 8
	}
	arg2 = m.bits(widths[cmd].arg2)
	width := -m.pos & 7
	for width < widths[cmd].arg1+wider {
		width += 8
	}
	if width > 63 {
		m.fail(errWide)
		return cmd, 0, 0
	}
	arg1 = m.bits(width)
	if cmd == cmdSeek {
		arg1 = uint64(int64(arg1<<(64-width)) >> (64 - width))
	}
	return cmd, arg1, arg2
}

// which reads an index into the order list and moves the command found there to its front.
func (m *mdiff) which() int {
	ones := bits.LeadingZeros64(^m.ahead())
	if ones > 2 {
		m.fail(errUnknown)
		return 0
	}
	r := m.bits(2*ones + 2) // the ones, a zero, and as many bits as these
	i := 1<<(ones+1) - 2 + int(r&(1<<(ones+1)-1))
	if i >= commands {
		m.fail(errUnknown)
		return 0
	}
	cmd := m.order[i]
	copy(m.order[1:i+1], m.order[:i])
	m.order[0] = cmd
	return int(cmd)
}

// bits reads n bits, at most 63, of no more than eight bytes.
func (m *mdiff) bits(n int) uint64 {
	if m.err != nil || n > 8*len(m.data)-m.pos {
		m.fail(errTruncated)
		return 0
	}
	v := m.ahead() >> (64 - n)
	m.pos += n
	return v
}

// ahead returns the bits that come, the next one first: those of eight bytes, with zeros behind the
// end of the diff.
func (m *mdiff) ahead() uint64 {
	rest := m.data[m.pos/8:]
	if len(rest) < 8 {
		var last [8]byte
		copy(last[:], rest)
		rest = last[:]
	}
	return binary.BigEndian.Uint64(rest) << (m.pos % 8)
}
