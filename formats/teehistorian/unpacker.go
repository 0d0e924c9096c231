package teehistorian

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// errShort says that the bytes end inside a record.
var errShort = errors.New("the bytes end inside a record")

// errBad is the base of errors about records that cannot be decoded.
var errBad = errors.New("bad record")

// An unpacker takes the ints, strings and raw bytes of a record or of a payload
// (docs/formats/teehistorian.md section 2) one after another. Its first error stays; behind it
// every value is zero.
type unpacker struct {
	b   []byte
	p   int // of the next value
	err error
}

func (u *unpacker) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}

func (u *unpacker) int() int32 {
	v, p, ok := intAt(u.b, u.p)
	if !ok {
		u.fail(errShort)
	}
	if u.err != nil {
		return 0
	}
	u.p = p
	return v
}

// raw returns the next n bytes, not copied.
func (u *unpacker) raw(n int32) []byte {
	if n < 0 {
		u.fail(fmt.Errorf("%w: size %d", errBad, n))
	}
	if u.err == nil && int64(n) > int64(len(u.b)-u.p) {
		u.fail(shortBy{need: int64(u.p) + int64(n)})
	}
	if u.err != nil {
		return nil
	}
	u.p += int(n)
	return u.b[u.p-int(n) : u.p]
}

func (u *unpacker) uuid() (id uuid.UUID) {
	copy(id[:], u.raw(int32(len(id))))
	return id
}

// string returns the bytes up to a 00, not copied.
func (u *unpacker) string() []byte {
	n := bytes.IndexByte(u.b[u.p:], 0)
	if n < 0 {
		u.fail(errShort)
	}
	if u.err != nil {
		return nil
	}
	u.p += n + 1
	return u.b[u.p-n-1 : u.p-1]
}

// shortBy is errShort where the record says how many bytes it needs.
type shortBy struct{ need int64 }

func (e shortBy) Error() string { return errShort.Error() }

func (e shortBy) Is(target error) bool { return target == errShort }
