package container

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"strconv"
	"strings"
)

// Fields of a tar header, by where they begin in its block.
const (
	tarName  = 0
	tarSize  = 124
	tarSum   = 148
	tarType  = 156
	tarMagic = 257
)

// tarWindow is how much is read at once to find a header, whole blocks.
const tarWindow = 128 << 10

// validHeader reports whether a block has the checksum that a header has: the sum of its bytes,
// those of the checksum itself as blanks, of signed bytes as old programs wrote it, or of unsigned
// ones.
func validHeader(b []byte) bool {
	want, ok := tarNumber(b[tarSum:tarType])
	if !ok {
		return false
	}
	var signed, unsigned int64
	for i, c := range b[:tarBlock] {
		if i >= tarSum && i < tarType {
			c = ' '
		}
		signed += int64(int8(c))
		unsigned += int64(c)
	}
	return want == unsigned || want == signed
}

// tarNumber reads a number in octal digits or, if the first bit is set, in the bytes that follow.
func tarNumber(b []byte) (int64, bool) {
	if b[0]&0x80 != 0 {
		n := binary.BigEndian.Uint64(b[len(b)-8:])
		return int64(n), n < 1<<62 && b[0] == 0x80
	}
	n, err := strconv.ParseInt(strings.Trim(string(b), " \x00"), 8, 64)
	return n, err == nil && n >= 0
}

// headerIn returns where the first header in b begins, at a whole block or where its magic number
// says so, -1 if there is none. Bytes that are missing from a tar move all headers after them away
// from whole blocks, counted from its beginning; headers older than POSIX have no magic number to
// find them by.
func headerIn(b []byte) int {
	first := -1
	for i := 0; i+tarBlock <= len(b) && first < 0; i += tarBlock {
		if validHeader(b[i:]) {
			first = i
		}
	}
	for at := tarMagic; at < len(b); at++ {
		m := bytes.Index(b[at:], []byte("ustar"))
		at += m
		start := at - tarMagic
		switch {
		case m < 0, start+tarBlock > len(b), first >= 0 && start >= first:
			return first
		case validHeader(b[start:]):
			return start
		}
	}
	return first
}

// findHeader returns where the first header from at on begins, -1 if there is none.
func (s *tarSection) findHeader(ctx context.Context, at int64) (int64, error) {
	buf := make([]byte, tarWindow)
	for ; at+tarBlock <= s.size; at += tarWindow - tarBlock {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := s.r.ReadAt(buf[:min(tarWindow, s.size-at)], at)
		if err != nil && err != io.EOF {
			return 0, err
		}
		if i := headerIn(buf[:n]); i >= 0 {
			return at + int64(i), nil
		}
	}
	return -1, nil
}

// bytes reads n bytes, or what there is of them before the tar ends.
func (s *tarSection) bytes(at, n int64) ([]byte, error) {
	b := make([]byte, n)
	got, err := s.r.ReadAt(b, at)
	if got == len(b) || err == io.EOF {
		err = nil
	}
	return b[:got], err
}

// after returns where the header after the one at at should begin, as far as that one tells.
func after(at int64, b []byte) (int64, bool) {
	n, ok := tarNumber(b[tarSize:][:12])
	if !ok || n > 1<<60 {
		return 0, false
	}
	return at + tarBlock + (n+tarBlock-1)/tarBlock*tarBlock, true
}

// badHeader returns the header at which reading stopped: the first of those for one member, from at
// on, that is not valid, or the last. It has fewer bytes than a block if the tar ends inside it.
// begun reports whether the member has a header before it, as for a long name.
func (s *tarSection) badHeader(ctx context.Context, at int64) (bad int64, b []byte, begun bool, err error) {
	for {
		b, err := s.bytes(at, tarBlock)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || len(b) < tarBlock || !validHeader(b) {
			return at, b, begun, err
		}
		switch b[tarType] {
		case tar.TypeXHeader, tar.TypeGNULongName, tar.TypeGNULongLink:
			begun = true
		case tar.TypeXGlobalHeader:
		default:
			return at, b, begun, nil
		}
		next, ok := after(at, b)
		if !ok {
			return at, b, begun, nil
		}
		at = next
	}
}

// resume returns where to read on after the damaged header at at: where that says the next one is,
// if there is one, or else at the next that has a valid checksum. It is -1 if nothing follows.
func (s *tarSection) resume(ctx context.Context, at int64, b []byte) (int64, error) {
	if next, ok := after(at, b); ok {
		b, err := s.bytes(next, tarBlock)
		if err != nil || len(b) == tarBlock && validHeader(b) {
			return next, err
		}
	}
	if !validHeader(b) { // bytes that were put in front of a header make its block a damaged one
		return s.findHeader(ctx, at)
	}
	return s.findHeader(ctx, at+tarBlock)
}

// nameIn returns about what the member of a damaged header is called.
func nameIn(b []byte) string {
	name, _, _ := bytes.Cut(b[tarName:][:100], []byte{0})
	return strings.ToValidUTF8(string(name), "\ufffd")
}
