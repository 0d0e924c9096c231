package nethack

import (
	"encoding/binary"
	"errors"
)

// The part of a save that stands at the same place in all versions (docs/formats/nethack.md
// sections 7.1 and 7.2).
const (
	movesAt    = 12
	turnTimeAt = 16
	timezoneAt = 32
	minSave    = 36
)

var errSave = errors.New("the save has no turn or is too short for one")

// A rebuilder holds one save and turns it into the next, line by line.
type rebuilder struct {
	save   []byte // nil: no save to start from
	spare  []byte
	patch  patch
	format diffFormat // of the last diff
}

// backup takes the save of a backup line, whose blob it writes over, as diff and look do.
func (r *rebuilder) backup(blob []byte) error {
	r.format, r.save = noDiff, r.save[:0]
	data, err := decodeBlob(blob)
	if err == nil && !isSave(data) {
		err = errSave
	}
	if err != nil {
		r.save = nil
		return err
	}
	r.save = append(r.save, data...)
	return nil
}

// start takes a copy of a save that was rebuilt before, with room to grow to size bytes.
func (r *rebuilder) start(save []byte, size int) {
	r.save = make([]byte, max(len(save), size))
	copy(r.save, save)
	r.save = r.save[:len(save)]
}

// release hands the save out, and leaves none.
func (r *rebuilder) release() []byte {
	save := r.save
	r.save = nil
	return save
}

// diff applies a diff line to the save. check is false where the checksum was found right before.
// After an error there is no save.
func (r *rebuilder) diff(blob []byte, check bool) error {
	data, err := r.look(blob)
	if err == nil {
		err = r.apply(data, check)
	}
	if err != nil {
		r.save = nil
	}
	return err
}

func (r *rebuilder) apply(diff []byte, check bool) error {
	if err := r.patch.decode(diff, len(r.save)); err != nil {
		return err
	}
	r.save, r.spare = r.patch.apply(r.save, r.spare)
	if !isSave(r.save) {
		return errSave
	}
	if check {
		return r.patch.verify(r.save)
	}
	return nil
}

// look returns a diff, and notes its format.
func (r *rebuilder) look(blob []byte) (data []byte, err error) {
	r.format = noDiff
	if data, err = decodeBlob(blob); err == nil {
		r.format = formatOf(data)
	}
	return data, err
}

func isSave(b []byte) bool { return len(b) >= minSave && saveTurn(b) >= 0 }

func saveTurn(b []byte) int32     { return int32(binary.LittleEndian.Uint32(b[movesAt:])) }
func saveClock(b []byte) uint64   { return binary.LittleEndian.Uint64(b[turnTimeAt:]) }
func saveTimezone(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b[timezoneAt:])) }
