package nethack

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// An op is one step of a diff, the same for all formats.
type op struct {
	cmd    int // cmdCopy, cmdEdit, cmdSeek; only beta3 has the others
	n      int // bytes copied, or the argument of a seek or coord
	data   []byte
	arg2   int // direction of a coord, length of an erase
	widely int // needless wider prefixes
}

// run is the plain reading of docs/formats/nethack.md section 4: what a diff makes of base.
func run(base []byte, ops []op) []byte {
	var out []byte
	src, anchor := 0, 0
	take := func(n int) {
		if n > 0 {
			out = append(out, base[src:src+n]...)
			src += n
		}
	}
	step := func(delta int8) {
		out = append(out, base[src]+byte(delta))
		src++
	}
	for _, o := range ops {
		switch o.cmd {
		case cmdCopy:
			take(o.n)
			anchor = len(out)
		case cmdSeek:
			src -= o.n
		case cmdEdit, cmdCopyEdit, cmdCopyEdit1:
			take(o.n)
			out = append(out, o.data...)
			src += len(o.data)
		case cmdErase:
			take(o.n)
			out = append(out, make([]byte, o.arg2)...)
			src += o.arg2
		case cmdIncrement:
			take(o.n)
			step(1)
		case cmdCoord:
			take(coordGap(anchor, len(out)) + monsterSize*o.n)
			step(steps[o.arg2].dx)
			if o.arg2 != west && o.arg2 != east {
				step(steps[o.arg2].dy)
			}
		}
	}
	return out
}

func coordGap(anchor, at int) int { return ((anchor-at)%monsterSize + monsterSize) % monsterSize }

// encodeDiff writes ops in a format. sum is the checksum of a beta3 diff; the other two have none.
func encodeDiff(f diffFormat, ops []op, sum uint32) []byte {
	switch f {
	case beta1:
		return encodeBeta1(ops)
	case beta2:
		return encodeBeta2(ops)
	}
	return encodeBeta3(ops, sum)
}

func encodeBeta1(ops []op) []byte {
	var b []byte
	command := func(kind, n int) { b = append(b, byte(n), byte(kind<<6|n>>8&0x3f)) }
	for _, o := range ops {
		for n := o.n; o.cmd == cmdSeek && n != 0; {
			part := min(max(n, -8192), 8191)
			command(0, part)
			n -= part
		}
		for n := o.n; o.cmd != cmdSeek && n > 0; {
			part := min(n, 1<<14-1)
			command(3, part)
			n -= part
		}
		for d := o.data; len(d) > 0; {
			part := min(len(d), 1<<14-1)
			command(2, part)
			b = append(b, d[:part]...)
			d = d[part:]
		}
	}
	return b
}

func encodeBeta2(ops []op) []byte {
	b := []byte{0x01, 0x40}
	for _, o := range ops {
		n := len(o.data)
		switch {
		case o.cmd == cmdSeek && -4096 <= o.n && o.n < 4096:
			b = binary.BigEndian.AppendUint16(b, 7<<13|uint16(o.n)&0x1fff)
		case o.cmd == cmdSeek:
			b = binary.BigEndian.AppendUint32(b, 6<<29|uint32(o.n)&(1<<29-1))
		case n >= 1 && n <= 4 && o.n < 1<<13 && (o.n > 0 || n > 1):
			b = binary.BigEndian.AppendUint16(b, uint16(n-1)<<13|uint16(o.n))
		case n < 16 && o.n > 0:
			b = binary.BigEndian.AppendUint32(b, 4<<29|uint32(n)<<25|uint32(o.n))
		default:
			if o.n > 0 {
				b = binary.BigEndian.AppendUint32(b, 4<<29|uint32(o.n))
			}
			b = binary.BigEndian.AppendUint32(b, 5<<29|uint32(n))
		}
		b = append(b, o.data...)
	}
	return b
}

// An mdiffWriter writes the commands of a beta3 diff.
type mdiffWriter struct {
	b     []byte
	bits  int // used of the last byte; 0: all
	order [commands]uint8
}

func (w *mdiffWriter) bit(v uint64) {
	if w.bits == 0 {
		w.b = append(w.b, 0)
	}
	w.b[len(w.b)-1] |= byte(v) << (7 - w.bits)
	w.bits = (w.bits + 1) % 8
}

func (w *mdiffWriter) number(v uint64, n int) {
	for i := n - 1; i >= 0; i-- {
		w.bit(v >> i & 1)
	}
}

func (w *mdiffWriter) which(cmd int) {
	i := bytes.IndexByte(w.order[:], byte(cmd))
	k := 0
	for i >= 1<<(k+2)-2 {
		k++
	}
	w.number(1<<(k+1)-2, k+1)
	w.number(uint64(i-(1<<(k+1)-2)), k+1)
	copy(w.order[1:i+1], w.order[:i])
	w.order[0] = byte(cmd)
}

// command writes a command with as many wider prefixes as arg1 needs, and at least widely.
func (w *mdiffWriter) command(cmd int, arg1 int64, arg2 uint64, widely int) {
	for wider := widely; ; wider++ {
		try := mdiffWriter{append([]byte(nil), w.b...), w.bits, w.order}
		for range wider {
			try.which(cmdWider)
		}
		try.which(cmd)
		try.number(arg2, widths[cmd].arg2)
		width := (8 - try.bits) % 8
		for width < widths[cmd].arg1+8*wider {
			width += 8
		}
		if cmd == cmdSeek {
			if arg1 < -1<<(width-1) || arg1 >= 1<<(width-1) {
				continue
			}
		} else if arg1>>width != 0 {
			continue
		}
		try.number(uint64(arg1)&(1<<width-1), width)
		*w = try
		return
	}
}

func encodeBeta3(ops []op, sum uint32) []byte {
	w := mdiffWriter{b: []byte{0x01, 0x43}}
	for i := range w.order {
		w.order[i] = byte(i)
	}
	for _, o := range ops {
		switch o.cmd {
		case cmdCopyEdit:
			w.command(cmdCopyEdit, int64(o.n), uint64(len(o.data)-1), o.widely)
		case cmdEdit:
			w.command(cmdEdit, int64(len(o.data)-1), 0, o.widely)
		case cmdErase:
			w.command(cmdErase, int64(o.n), uint64(o.arg2-3), o.widely)
		case cmdCoord:
			w.command(cmdCoord, int64(o.n), uint64(o.arg2), o.widely)
		default:
			w.command(o.cmd, int64(o.n), 0, o.widely)
		}
		w.b = append(w.b, o.data...)
	}
	w.command(cmdEOFCRC32, 0, uint64(sum), 0)
	return w.b
}

// zlibWriters are not in use: to make one takes longer than to write a blob.
var zlibWriters = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(nil, zlib.BestCompression)
	return w
}}

// encodeBlob writes a blob the way the game does, compressed only if that is shorter.
func encodeBlob(data []byte, comp compression) string {
	switch comp {
	case zlibStream:
		var z bytes.Buffer
		w := zlibWriters.Get().(*zlib.Writer)
		defer zlibWriters.Put(w)
		w.Reset(&z)
		w.Write(data)
		w.Close()
		if prefix := fmt.Sprintf("$%d$", len(data)); len(prefix)+z.Len() < len(data) {
			return prefix + base64.StdEncoding.EncodeToString(z.Bytes())
		}
	case lz4Block:
		dst := make([]byte, lz4.CompressBlockBound(len(data)))
		if n, err := lz4.CompressBlock(data, dst, nil); err == nil && n > 0 {
			return fmt.Sprintf("#%d#", len(data)) + base64.StdEncoding.EncodeToString(dst[:n])
		}
	}
	return base64.StdEncoding.EncodeToString(data)
}

// A gameWriter writes a log as the game would.
type gameWriter struct {
	bytes.Buffer
	save       []byte
	clock      uint64
	lastBackup int
	comp       compression
}

const testStart = 0x660be99a67bac // 2026-11-21T00:39:58.141356Z

func newGame(player string) *gameWriter {
	w := &gameWriter{clock: testStart, comp: zlibStream}
	fmt.Fprintf(w, "NHGAME save 00000001 4.003.000\n%78s\n%x 0 0 %s Val hum fem neu\n",
		"(new game)", w.clock, encodeBlob([]byte(player), plain))
	return w
}

// line writes a command or an answer and, if it is not negative, a time step.
func (w *gameWriter) line(text string, step int64) {
	fmt.Fprintf(w, "%s\n", text)
	if step >= 0 {
		w.clock += uint64(step)
		fmt.Fprintf(w, "+%x\n", step)
	}
}

// testSave makes a save of n bytes that no incarnation claims.
func testSave(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*i>>7 + i)
	}
	binary.LittleEndian.PutUint32(b, 0x04030100)
	binary.LittleEndian.PutUint32(b[timezoneAt:], 0)
	return b
}

// stamp sets turn and clock of the current save in place.
func (w *gameWriter) stamp(save []byte, turn int32) []byte {
	binary.LittleEndian.PutUint32(save[movesAt:], uint32(turn))
	binary.LittleEndian.PutUint64(save[turnTimeAt:], w.clock)
	return save
}

func (w *gameWriter) backup(save []byte, turn int32) {
	w.save = w.stamp(save, turn)
	at := w.lastBackup
	if at == 0 {
		at = w.Len()
	}
	w.lastBackup = w.Len()
	fmt.Fprintf(w, "*%08x %s\n", at, encodeBlob(w.save, w.comp))
}

// diff writes a diff that sets turn and clock and then runs ops, whose source starts at byte 24.
func (w *gameWriter) diff(f diffFormat, turn int32, ops ...op) {
	head := w.stamp(append([]byte(nil), w.save[:24]...), turn)
	ops = append([]op{{cmd: cmdCopy, n: movesAt}, {cmd: cmdEdit, data: head[movesAt:]}}, ops...)
	w.save = run(w.save, ops)
	fmt.Fprintf(w, "~%s\n", encodeBlob(encodeDiff(f, ops, crc32.ChecksumIEEE(w.save)), w.comp))
}

// rest copies the base from offset at to its end.
func (w *gameWriter) rest(at int) op { return op{cmd: cmdCopy, n: len(w.save) - at} }

// TestWriter holds the test encoder to what run says, so that other tests can trust it.
func TestWriter(t *testing.T) {
	base := testSave(100)
	ops := []op{{cmd: cmdCopy, n: 10}, {cmd: cmdEdit, data: []byte("abc")}, {cmd: cmdSeek, n: 5}, {cmd: cmdCopy, n: 90}}
	want := append(append(append([]byte(nil), base[:10]...), "abc"...), base[8:98]...)
	if got := run(base, ops); !bytes.Equal(got, want) {
		t.Errorf("run: %x, want %x", got, want)
	}
}
