package teehistorian

import "github.com/google/uuid"

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

// isStart reports whether the game begins for the client with this message.
func (m *message) isStart() bool { return m.ok && m.typ.name == "Cl_StartInfo" }

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
