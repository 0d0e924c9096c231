package teehistorian

import (
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"

	"recfs/formats/internal/jsonenc"
)

// A protocol is the version of the network protocol that a client speaks.
type protocol uint8

const (
	unknownProtocol protocol = 0
	protocol6       protocol = 6
	protocol7       protocol = 7
)

// text returns the number as clients write it, nil if it is not known.
func (p protocol) text() *string {
	if int(p) >= len(protocolTexts) || protocolTexts[p] == "" {
		return nil
	}
	return &protocolTexts[p]
}

var protocolTexts = [...]string{protocol6: "0.6", protocol7: "0.7"}

// A messageType is one kind of network message (docs/formats/teehistorian.md section 8).
type messageType struct {
	name   string
	fields []field
}

var emoticons = [...]string{
	"oop", "exclamation", "hearts", "drop", "dotdot", "music", "sorry", "ghost",
	"sushi", "splattee", "deviltee", "zomg", "zzz", "wtf", "eyes", "question",
}

var (
	infoFields = []field{
		{"name", textField},
		{"clan", textField},
		{name: "country"},
		{"skin", textField},
		{name: "use_custom_color"},
		{name: "color_body"},
		{name: "color_feet"},
	}
	skinFields  = []field{{"skin_parts", sixTexts}, {"use_custom", sixInts}, {"colors", sixInts}}
	info7Fields = append([]field{{"name", textField}, {"clan", textField}, {name: "country"}}, skinFields...)
	callVote    = []field{{"type", textField}, {"value", textField}, {"reason", textField}}
	emoticon    = []field{{"emoticon", emoticonField}}
)

var messages6 = map[int32]*messageType{
	17: {"Cl_Say", []field{{name: "team"}, {"text", textField}}},
	18: {"Cl_SetTeam", []field{{name: "team"}}},
	19: {"Cl_SetSpectatorMode", []field{{name: "spectator_id"}}},
	20: {"Cl_StartInfo", infoFields},
	21: {"Cl_ChangeInfo", infoFields},
	22: {"Cl_Kill", nil},
	23: {"Cl_Emoticon", emoticon},
	24: {"Cl_Vote", []field{{name: "vote"}}},
	25: {"Cl_CallVote", callVote},
	26: {"Cl_IsDDNetLegacy", []field{{"version", optionalField}}},
	31: {"Cl_ShowOthersLegacy", []field{{name: "show"}}},
}

var skinChange = &messageType{"Cl_SkinChange", skinFields}

var messages7 = map[int32]*messageType{
	26: {"Cl_SetSpectatorMode", []field{{name: "mode"}, {name: "spectator_id"}}},
	27: {"Cl_StartInfo", info7Fields},
	28: {"Cl_Kill", nil},
	29: {"Cl_ReadyChange", nil},
	30: {"Cl_Emoticon", emoticon},
	31: {"Cl_Vote", []field{{name: "vote"}}},
	32: {"Cl_CallVote", append(callVote[:len(callVote):len(callVote)], field{name: "force"})},
	34: skinChange,
	39: {"Cl_Command", []field{{"name", textField}, {"arguments", textField}}},
}

var extendedMessages = map[uuid.UUID]*messageType{
	uuid.MustParse("7f264cdd-71a2-3962-bbce-0f94bbd81913"): {"Cl_ShowOthers", []field{{name: "show"}}},
	uuid.MustParse("53bb28af-4252-3ac9-8fd3-6ccbc2a603e3"): {"Cl_ShowDistance", []field{{name: "x"}, {name: "y"}}},
	uuid.MustParse("8c470228-ee11-3808-93b9-c5c87d08b51c"): {"Cl_CameraInfo", []field{
		{name: "zoom"}, {name: "deadzone"}, {name: "follow_factor"},
	}},
	uuid.MustParse("e19b66e8-0646-351b-aa03-d4aba7b9545f"): {"Cl_EnableSpectatorCount", []field{{name: "enable"}}},
}

// A message is the decoded payload of a MESSAGE record.
type message struct {
	protocol protocol
	typ      *messageType // nil if unknown
	values   []value
	ok       bool // all fields are there
}

// isInfo reports whether the message has the name of its client.
func (m *message) isInfo() bool {
	return m.ok && (m.typ.name == "Cl_StartInfo" || m.typ.name == "Cl_ChangeInfo")
}

// decode decodes the payload of a client that speaks p, if that is known.
func (m *message) decode(data []byte, p protocol) {
	*m = message{protocol: p, values: m.values[:0]}
	head, at, ok := intAt(data, 0)
	if !ok || head&1 != 0 { // the system flag
		return
	}
	id := head >> 1
	if id == 0 {
		if len(data)-at < len(uuid.UUID{}) {
			return
		}
		m.typ = extendedMessages[uuid.UUID(data[at:at+len(uuid.UUID{})])]
		at += len(uuid.UUID{})
	} else {
		if m.protocol == unknownProtocol {
			m.protocol = inferProtocol(id)
		}
		switch m.protocol {
		case protocol6:
			m.typ = messages6[id]
		case protocol7:
			m.typ = messages7[id]
		}
	}
	if m.typ != nil {
		m.values, _, m.ok = decodeFields(m.values, m.typ.fields, data, at)
	}
}

// inferProtocol returns the only protocol whose clients send messages of that id
// (docs/formats/teehistorian.md section 8, end).
func inferProtocol(id int32) protocol {
	switch id {
	case 20, 22, 23:
		return protocol6
	case 27, 28, 30:
		return protocol7
	}
	return unknownProtocol
}

// A fieldType says how a field of a payload is stored and shown.
type fieldType uint8

const (
	intField      fieldType = iota
	optionalField           // int that may be missing
	emoticonField           // int, shown with its name
	uuidField
	textField
	restField  // all remaining bytes
	sixInts    // as a list
	sixTexts   // as a list
	listLength = 6
)

// A field of a payload, under the name it has in the tree.
type field struct {
	name string
	typ  fieldType
}

// A value is one field as decoded. Its bytes are a part of the payload.
type value struct {
	field
	num   int32
	bytes []byte // text without its 00, uuid or rest
	nums  [listLength]int32
	texts [listLength][]byte
}

// decodeFields appends the values of fields at payload[p:] to dst. It returns the position after
// them and whether all were there. A string that lacks its 00 has the bytes that are there.
func decodeFields(dst []value, fields []field, payload []byte, p int) ([]value, int, bool) {
	u := unpacker{b: payload, p: p}
	for _, spec := range fields {
		v := value{field: spec}
		missing := u.p >= len(payload)
		switch spec.typ {
		case intField, emoticonField:
			v.num = u.int()
		case optionalField:
			if missing {
				continue
			}
			v.num = u.int()
		case uuidField:
			v.bytes = u.raw(int32(len(uuid.UUID{})))
		case restField:
			v.bytes = u.raw(int32(len(payload) - u.p))
		case textField:
			v.bytes = u.string()
			if u.err != nil && !missing {
				v.bytes = payload[u.p:]
				return append(dst, v), len(payload), false
			}
		case sixInts:
			for i := range v.nums {
				v.nums[i] = u.int()
			}
		case sixTexts:
			for i := range v.texts {
				v.texts[i] = u.string()
			}
		}
		if u.err != nil {
			return dst, u.p, false
		}
		dst = append(dst, v)
	}
	return dst, u.p, true
}

// find returns the value of that name, or a zero value.
func find(values []value, name string) value {
	for _, v := range values {
		if v.name == name {
			return v
		}
	}
	return value{}
}

// appendFields appends the values as members of a JSON object, each after a comma.
func appendFields(dst []byte, values []value) []byte {
	for i := range values {
		v := &values[i]
		if v.typ == textField {
			dst = jsonenc.AppendText(dst, v.name, v.bytes)
			continue
		}
		dst = jsonenc.AppendKey(dst, v.name)
		switch v.typ {
		case intField, optionalField:
			dst = jsonenc.AppendInt(dst, v.num)
		case emoticonField:
			dst = jsonenc.AppendInt(dst, v.num)
			dst = append(dst, `,"emoticon_name":`...)
			if v.num >= 0 && int(v.num) < len(emoticons) {
				dst = jsonenc.AppendString(dst, emoticons[v.num])
			} else {
				dst = append(dst, "null"...)
			}
		case uuidField:
			dst = append(dst, '"')
			dst = append(dst, uuid.UUID(v.bytes).String()...)
			dst = append(dst, '"')
		case restField:
			dst = jsonenc.AppendHex(dst, v.bytes)
		case sixInts:
			dst = jsonenc.AppendList(dst, slices.Values(v.nums[:]), jsonenc.AppendInt[int32])
		case sixTexts:
			dst = jsonenc.AppendList(dst, slices.Values(v.texts[:]), jsonenc.AppendString[[]byte])
		}
	}
	return dst
}

// cleanText returns s with one U+FFFD for each byte that is not UTF-8.
func cleanText(s []byte) string {
	if utf8.Valid(s) {
		return string(s)
	}
	return string([]rune(string(s)))
}
