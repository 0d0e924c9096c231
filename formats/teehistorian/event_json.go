package teehistorian

import (
	"bytes"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"

	"recfs/formats/internal/jsonenc"
)

// inputNames are the components of an input, in stored order.
var inputNames = [inputs]string{
	"direction", "target_x", "target_y", "jump", "fire", "hook", "player_flags",
	"wanted_weapon", "next_weapon", "prev_weapon",
}

// inputKeys are the names as they stand between the values of an input object.
var inputKeys = func() (keys [inputs]string) {
	for i, name := range inputNames {
		keys[i] = `,"` + name + `":`
	}
	keys[0] = "{" + keys[0][1:]
	return keys
}()

// tickMS is the length of a tick in milliseconds.
const tickMS = 20

const ticksPerSecond = 1000 / tickMS

// eventNames are the names of all kinds but extensions, by -kind.
var eventNames = [...]string{
	-playerDiff: "player_diff", -finish: "finish", -tickSkip: "tick_skip", -playerNew: "player_new",
	-playerOld: "player_old", -inputDiff: "input_diff", -inputNew: "input_new", -netMessage: "net_message",
	-join: "join", -drop: "drop", -consoleCommand: "console_command",
}

// A renderer writes events as JSON objects (docs/tree/teehistorian.md sections 3 to 5).
type renderer struct {
	idents []ident // of the header
}

// appendEvent appends e as a compact JSON object.
func (r *renderer) appendEvent(b []byte, e *event) []byte {
	return r.appendRest(appendHead(b, e), e)
}

// appendHead appends e up to the client id.
func appendHead(b []byte, e *event) []byte {
	b = append(append(append(b, `{"event":"`...), e.name()...), `","offset":`...)
	b = jsonenc.AppendInt(b, e.offset)
	if cid, ok := e.client(); ok {
		b = jsonenc.AppendInt(append(b, `,"cid":`...), cid)
	}
	return b
}

// name returns what "event" says.
func (e *event) name() string {
	if e.kind == extension {
		return e.payload.typ.event
	}
	return eventNames[-e.kind]
}

// client returns the client id of an event that has one.
func (e *event) client() (cid int32, ok bool) {
	switch e.kind {
	case finish, tickSkip:
		return 0, false
	case extension:
		return e.payload.client()
	}
	return e.cid, true
}

// appendRest appends the other members of e, each after a comma, and the bracket that closes it.
func (r *renderer) appendRest(b []byte, e *event) []byte {
	switch e.kind {
	case playerDiff:
		b = append(b, `,"dx":`...)
		b = jsonenc.AppendInt(b, e.x)
		b = append(b, `,"dy":`...)
		b = jsonenc.AppendInt(b, e.y)
		if !e.known {
			return append(b, `,"x":null,"y":null}`...)
		}
		b = append(b, `,"x":`...)
		b = jsonenc.AppendInt(b, e.player.x)
		b = append(b, `,"y":`...)
		b = jsonenc.AppendInt(b, e.player.y)
	case inputDiff:
		b = append(b, `,"diff":{`...)
		for m := e.changed; m != 0; m &= m - 1 {
			i := bits.TrailingZeros16(m)
			b = append(b, inputKeys[i][1:]...)
			b = jsonenc.AppendInt(b, e.input[i])
			if m&(m-1) != 0 {
				b = append(b, ',')
			}
		}
		b = append(b, `},"input":`...)
		if !e.known {
			return append(b, `null}`...)
		}
		b = appendInput(b, &e.player.input)
	case tickSkip:
		b = appendNumber(b, "dt", e.dt)
	case playerNew:
		b = appendNumber(b, "x", e.x)
		b = appendNumber(b, "y", e.y)
	case inputNew:
		b = appendInput(jsonenc.AppendKey(b, "input"), &e.input)
	case netMessage:
		b = appendMessage(b, e)
	case drop:
		b = jsonenc.AppendText(b, "reason", e.data)
	case consoleCommand:
		b = appendCommand(b, e)
	case extension:
		b = r.appendPayload(b, e)
	}
	return append(b, '}')
}

func appendInput(b []byte, input *[inputs]int32) []byte {
	for i, key := range &inputKeys {
		b = append(b, key...)
		b = jsonenc.AppendInt(b, input[i])
	}
	return append(b, '}')
}

func appendNumber(b []byte, name string, v int32) []byte {
	return jsonenc.AppendInt(jsonenc.AppendKey(b, name), v)
}

func appendMessage(b []byte, e *event) []byte {
	m := &e.message
	b = jsonenc.AppendKey(b, "protocol")
	b = appendProtocol(b, m.protocol)
	b = jsonenc.AppendKey(b, "message")
	if m.typ == nil {
		b = append(b, "null"...)
	} else {
		b = jsonenc.AppendString(b, m.typ.name)
	}
	b = jsonenc.AppendKey(b, "fields")
	if m.ok {
		start := len(b)
		if b = appendFields(b, m.values); len(b) == start {
			b = append(b, '{')
		}
		b[start] = '{' // in place of the comma of the first field
		b = append(b, '}')
	} else {
		b = append(b, "null"...)
	}
	return jsonenc.AppendHex(jsonenc.AppendKey(b, "data"), e.data)
}

func appendProtocol(b []byte, p protocol) []byte {
	if text := p.text(); text != nil {
		return jsonenc.AppendString(b, *text)
	}
	return append(b, "null"...)
}

func appendCommand(b []byte, e *event) []byte {
	b = appendNumber(b, "flags", e.flags)
	b = jsonenc.AppendText(b, "command", e.data)
	b = jsonenc.AppendList(jsonenc.AppendKey(b, "args"), e.arguments(), jsonenc.AppendString[[]byte])
	if !utf8.Valid(e.args) {
		b = jsonenc.AppendList(jsonenc.AppendKey(b, "args_hex"), e.arguments(), jsonenc.AppendHex)
	}
	return b
}

func (r *renderer) appendPayload(b []byte, e *event) []byte {
	p := &e.payload
	if p.typ == &unknownExtension {
		b = jsonenc.AppendString(jsonenc.AppendKey(b, "uuid"), e.uuid.String())
		i, ok := slices.BinarySearchFunc(r.idents, e.uuid, func(a ident, id uuid.UUID) int { return bytes.Compare(a.id[:], id[:]) })
		if ok {
			b = jsonenc.AppendString(jsonenc.AppendKey(b, "name"), r.idents[i].name)
		}
		return jsonenc.AppendHex(jsonenc.AppendKey(b, "data"), e.data)
	}
	values := p.values
	if _, ok := p.client(); ok {
		values = values[1:]
	}
	b = appendFields(b, values)
	if p.short {
		b = append(b, `,"short":true`...)
	}
	if p.short || p.longer {
		b = jsonenc.AppendHex(jsonenc.AppendKey(b, "data"), e.data)
	}
	return b
}

// appendTickHead appends the part of a line of lines/ before the events.
func appendTickHead(b []byte, tick int32) []byte {
	b = append(b, `{"tick":`...)
	b = jsonenc.AppendInt(b, tick)
	b = append(b, `,"time_ms":`...)
	b = jsonenc.AppendInt(b, int64(tick)*tickMS)
	return append(b, `,"events":[`...)
}

const tickTail = "]}\n"

// appendDocumentHead appends the beginning of a document of ticks/ or states/.
func appendDocumentHead(b []byte, tick int32) []byte {
	b = append(b, "{\n  \"tick\": "...)
	b = jsonenc.AppendInt(b, tick)
	b = append(b, ",\n  \"time_ms\": "...)
	return jsonenc.AppendInt(b, int64(tick)*tickMS)
}

const (
	eventsHead   = ",\n  \"events\": ["
	element      = "\n    " // before each element of a list of objects
	documentTail = "\n  ]\n}\n"
)
