package teehistorian

import "github.com/google/uuid"

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
