package teehistorian

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"github.com/google/uuid"
)

// A kind is the id of a record (docs/formats/teehistorian.md section 4). Every id from 0 up is a
// PLAYER_DIFF of that client id.
type kind int32

const (
	playerDiff     kind = 0
	finish         kind = -1
	tickSkip       kind = -2
	playerNew      kind = -3
	playerOld      kind = -4
	inputDiff      kind = -5
	inputNew       kind = -6
	netMessage     kind = -7
	join           kind = -8
	drop           kind = -9
	consoleCommand kind = -10
	extension      kind = -11
)

// inputs is the number of components of an input (docs/formats/teehistorian.md section 4.2).
const inputs = 10

// maxFixed is the longest encoding of a record that consists of ints only: id, client id and an
// input.
const maxFixed = (2 + inputs) * maxInt

// A record is one decoded record. Its slices are parts of the bytes it was decoded from.
type record struct {
	kind    kind
	cid     int32
	tick    int32
	offset  int64
	x, y    int32         // PLAYER_NEW: position; PLAYER_DIFF: change of it
	dt      int32         // TICK_SKIP
	input   [inputs]int32 // INPUT_NEW, INPUT_DIFF, as stored
	changed uint16        // bit i: input[i] is not 0
	flags   int32         // CONSOLE_COMMAND
	uuid    uuid.UUID     // EX
	data    []byte        // payload of MESSAGE and EX, reason of DROP, name of CONSOLE_COMMAND
	args    []byte        // CONSOLE_COMMAND: the arguments, each with its 00
}

// arguments returns the arguments of a CONSOLE_COMMAND.
func (r *record) arguments() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for rest := r.args; len(rest) > 0; {
			n := bytes.IndexByte(rest, 0)
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n+1:]
		}
	}
}

// A decoder knows what is needed to decode the next record and to find its tick
// (docs/formats/teehistorian.md section 5).
type decoder struct {
	version1 bool // EX does not exist
	tick     int32
	last     int32 // client id of the last position record of the tick
}

// newDecoder returns a decoder for the first record.
func newDecoder(version1 bool) decoder {
	return decoder{version1: version1, last: math.MaxInt32}
}

// decode decodes the record at the start of b, which is not empty, and returns its length. On an
// error the decoder stays where it is.
func (d *decoder) decode(b []byte, r *record) (int, error) {
	if len(b) >= maxFixed {
		if n := decodeFixed(b, r); n > 0 {
			return n, d.follow(r)
		}
	} else {
		// A zero ends any int, so a record that is cut off turns out longer than b.
		var pad [maxFixed + 2*maxInt]byte
		copy(pad[:], b)
		if _, id := readInt(pad[:], 0); id > len(b) {
			return 0, errShort
		}
		n := decodeFixed(pad[:], r)
		if n > len(b) {
			return 0, errShort
		}
		if n > 0 {
			return n, d.follow(r)
		}
	}
	n, err := d.decodeSized(b, r)
	r.tick = d.tick
	return n, err
}

// follow advances the tick (docs/formats/teehistorian.md section 5).
func (d *decoder) follow(r *record) error {
	step := int64(0)
	switch r.kind {
	case playerDiff, playerNew, playerOld:
		if r.cid <= d.last {
			step = 1
		}
		d.last = r.cid
	case tickSkip:
		if r.dt < 0 {
			return fmt.Errorf("%w: tick skip of %d", errBad, r.dt)
		}
		step = int64(r.dt) + 1
		d.last = -1
	}
	t := int64(d.tick) + step
	if t > math.MaxInt32 {
		return fmt.Errorf("%w: a tick above %d", errBad, math.MaxInt32)
	}
	d.tick = int32(t)
	r.tick = d.tick
	return nil
}

// decodeFixed decodes a record made of ints from b, which has at least maxFixed bytes. It returns 0
// if the record has strings or a payload or is unknown.
func decodeFixed(b []byte, r *record) int {
	if b[0] < 0x40 { // the id of a PLAYER_DIFF, in one byte
		if x, y, n := readTwo(binary.LittleEndian.Uint64(b[1:])); n > 0 {
			r.kind, r.cid, r.x, r.y = playerDiff, int32(b[0]), x, y
			return 1 + n
		}
	}
	id, p := readInt(b, 0)
	if id >= 0 {
		r.kind, r.cid = playerDiff, id
		r.x, p = readInt(b, p)
		r.y, p = readInt(b, p)
		return p
	}
	r.kind = kind(id)
	switch r.kind {
	case inputDiff, inputNew:
		r.cid, p = readInt(b, p)
		return decodeInput(b, p, r)
	case finish:
	case tickSkip:
		r.dt, p = readInt(b, p)
	case playerNew:
		r.cid, p = readInt(b, p)
		r.x, p = readInt(b, p)
		r.y, p = readInt(b, p)
	case playerOld, join:
		r.cid, p = readInt(b, p)
	default:
		return 0
	}
	return p
}

// decodeInput decodes the components of an input. In most differences only the direction and the
// target are not 0.
func decodeInput(b []byte, p int, r *record) int {
	var direction, x, y int32
	direction, p = readInt(b, p)
	var n int
	if x, y, n = readTwo(binary.LittleEndian.Uint64(b[p:])); n > 0 {
		p += n
	} else {
		x, p = readInt(b, p)
		y, p = readInt(b, p)
	}
	r.input = [inputs]int32{direction, x, y}
	changed := notZero(direction) | notZero(x)<<1 | notZero(y)<<2
	if binary.LittleEndian.Uint64(b[p:])<<8 == 0 { // seven zeros
		r.changed = changed
		return p + 7
	}
	for i := 3; i < inputs; i++ {
		r.input[i], p = readInt(b, p)
		changed |= notZero(r.input[i]) << i
	}
	r.changed = changed
	return p
}

// notZero is 0 for 0, else 1.
func notZero(v int32) uint16 {
	return uint16(uint32(v|-v) >> 31)
}

// decodeSized decodes the records that have strings or a payload.
func (d *decoder) decodeSized(b []byte, r *record) (int, error) {
	u := unpacker{b: b}
	r.kind = kind(u.int())
	switch {
	case r.kind == netMessage:
		r.cid = u.int()
		r.data = u.raw(u.int())
	case r.kind == drop:
		r.cid = u.int()
		r.data = u.string()
	case r.kind == consoleCommand:
		r.cid = u.int()
		r.flags = u.int()
		r.data = u.string()
		argc := u.int()
		if argc < 0 {
			u.fail(fmt.Errorf("%w: %d arguments", errBad, argc))
		}
		start := u.p
		for ; argc > 0 && u.err == nil; argc-- {
			u.string()
		}
		r.args = u.b[start:u.p]
	case r.kind == extension && !d.version1:
		r.uuid = u.uuid()
		r.data = u.raw(u.int())
	case r.kind == extension:
		return 0, fmt.Errorf("%w: an extension in version 1", errBad)
	default:
		return 0, fmt.Errorf("%w: unknown kind %d", errBad, r.kind)
	}
	return u.p, u.err
}

// namespace is that of the names of all extensions (docs/formats/teehistorian.md section 1).
var namespace = uuid.MustParse("e05ddaaa-c4e6-4cfb-b642-5d48e80c0029")

// An extensionType is one kind of EX record (docs/formats/teehistorian.md section 7).
type extensionType struct {
	event  string // as in the tree
	name   string // hashes to its UUID
	fields []field
	kind   string // as which the page shows it (docs/tree/page.md section 3); "": it does not
	line   string // in events.txt, where $NAME is the value of a field; "": it has none
}

// extensionTypes are the known kinds of EX records, in the order of docs/formats/teehistorian.md
// section 7.
var extensionTypes = []extensionType{
	{"test", "teehistorian-test@ddnet.tw", nil, "", ""},
	{"ddnetver_old", "teehistorian-ddnetver-old@ddnet.tw", []field{{name: "cid"}, {name: "version"}}, "", ""},
	{"ddnetver", "teehistorian-ddnetver@ddnet.tw", []field{
		{name: "cid"}, {"connection_id", uuidField}, {name: "version"}, {"version_str", textField},
	}, "", ""},
	{"auth_init", "teehistorian-auth-init@ddnet.tw", []field{{name: "cid"}, {name: "level"}, {"identity", textField}}, "login", " logged in as $identity level $level"},
	{"auth_login", "teehistorian-auth-login@ddnet.tw", []field{{name: "cid"}, {name: "level"}, {"identity", textField}}, "login", " logged in as $identity level $level"},
	{"auth_logout", "teehistorian-auth-logout@ddnet.tw", []field{{name: "cid"}}, "login", " logged out"},
	{"joinver6", "teehistorian-joinver6@ddnet.tw", []field{{name: "cid"}}, "", ""},
	{"joinver7", "teehistorian-joinver7@ddnet.tw", []field{{name: "cid"}}, "", ""},
	{"save_success", "teehistorian-save-success@ddnet.tw", []field{{name: "team"}, {"save_id", uuidField}, {"save", textField}}, "save", " team $team saved $save_id"},
	{"save_failure", "teehistorian-save-failure@ddnet.tw", []field{{name: "team"}}, "save", " team $team save failed"},
	{"load_success", "teehistorian-load-success@ddnet.tw", []field{{name: "team"}, {"save_id", uuidField}, {"save", textField}}, "load", " team $team loaded $save_id"},
	{"load_failure", "teehistorian-load-failure@ddnet.tw", []field{{name: "team"}}, "load", " team $team load failed"},
	{"player_team", "teehistorian-player-team@ddnet.tw", []field{{name: "cid"}, {name: "team"}}, "team", " enters team $team"},
	{"team_practice", "teehistorian-team-practice@ddnet.tw", []field{{name: "team"}, {name: "practice"}}, "team", " team $team practice $practice"},
	{"player_ready", "teehistorian-player-ready@ddnet.tw", []field{{name: "cid"}}, "", ""},
	{"player_switch", "teehistorian-player-swap@ddnet.tw", []field{{name: "cid1"}, {name: "cid2"}}, "other", " swaps with"},
	{"player_rejoin", "teehistorian-rejoinver6@ddnet.org", []field{{name: "cid"}}, "join", " reconnected"},
	{"antibot", "teehistorian-antibot@ddnet.org", []field{{"data", restField}}, "", ""},
	{"player_name", "teehistorian-player-name@ddnet.org", []field{{name: "cid"}, {"name", textField}}, "name", " is called $name"},
	{"player_finish", "teehistorian-player-finish@ddnet.org", []field{{name: "cid"}, {name: "time_ticks"}}, "finish", " finished in $time_ticks"},
	{"team_finish", "teehistorian-team-finish@ddnet.org", []field{{name: "team"}, {name: "time_ticks"}}, "finish", " team $team finished in $time_ticks"},
}

// unknownExtension stands for every other UUID.
var unknownExtension = extensionType{event: "ex"}

// extensions holds the known kinds by their UUID.
var extensions = func() map[uuid.UUID]*extensionType {
	m := make(map[uuid.UUID]*extensionType, len(extensionTypes))
	for i := range extensionTypes {
		m[extensionID(extensionTypes[i].name)] = &extensionTypes[i]
	}
	return m
}()

// extensionID returns the UUID of an extension of that name.
func extensionID(name string) uuid.UUID {
	return uuid.NewMD5(namespace, []byte(name))
}

// A payload is the content of an EX record.
type payload struct {
	typ    *extensionType
	values []value
	short  bool // fields are missing
	longer bool // there are bytes after the fields
}

// decode decodes an EX record into p. It reuses the slice of p.
func (p *payload) decode(r *record) {
	p.typ = extensions[r.uuid]
	if p.typ == nil {
		p.typ = &unknownExtension
	}
	values, n, ok := decodeFields(p.values[:0], p.typ.fields, r.data, 0)
	p.values, p.short, p.longer = values, !ok, n < len(r.data)
}

// client returns the client id if the record has one: it is the first field.
func (p *payload) client() (cid int32, ok bool) {
	if len(p.values) == 0 || p.values[0].name != "cid" {
		return 0, false
	}
	return p.values[0].num, true
}

// num returns the int field of that name.
func (p *payload) num(name string) int32 { return find(p.values, name).num }
