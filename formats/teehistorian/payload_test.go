package teehistorian

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// rootOf opens what w has written.
func rootOf(t testing.TB, w *writer) nodes.Dir {
	t.Helper()
	root, err := openBytes(t, newCache(t), w.b)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// eventsOf returns the objects of all records of a recording of one chunk, without their offsets.
func eventsOf(t testing.TB, w *writer) (events []string) {
	t.Helper()
	offset := regexp.MustCompile(`"offset":\d+,?`)
	for line := range strings.Lines(nodestest.Read(t, rootOf(t, w), "lines/000000.jsonl")) {
		var tick struct{ Events []json.RawMessage }
		if err := json.Unmarshal([]byte(line), &tick); err != nil {
			t.Fatal(err)
		}
		for _, e := range tick.Events {
			events = append(events, strings.Replace(offset.ReplaceAllString(string(e), ""), ",}", "}", 1))
		}
	}
	return events
}

// The kinds of EX records are those of the table in docs/formats/teehistorian.md section 7: their
// names hash to the UUIDs of the table, and they have its fields.
func TestExtensionsOfTheSheet(t *testing.T) {
	sheet, err := os.ReadFile("../../docs/formats/teehistorian.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| ([A-Z_0-9]+) \| (\S+@\S+) \| ([0-9a-f-]{36}) \| ([^|]*) \|`).FindAllStringSubmatch(string(sheet), -1)
	if len(rows) != len(extensionTypes) {
		t.Errorf("%d kinds, %d in the sheet", len(extensionTypes), len(rows))
	}
	types := map[fieldType]string{intField: "int", uuidField: "uuid", textField: "str", restField: "raw, all of it"}
	for _, row := range rows {
		typ := extensions[uuid.MustParse(row[3])]
		if typ == nil {
			t.Errorf("%s: no kind has its UUID", row[1])
			continue
		}
		var fields []string
		for _, f := range typ.fields {
			fields = append(fields, fmt.Sprintf("%s(%s)", strings.TrimSuffix(f.name, "_ticks"), types[f.typ]))
		}
		got := strings.ToUpper(typ.event) + " " + typ.name + " " + strings.Join(fields, " ")
		if want := strings.TrimSuffix(strings.Join([]string{row[1], row[2], row[4]}, " "), "(none)"); got != want {
			t.Errorf("%s, in the sheet %s", got, want)
		}
	}
}

// A payload that is longer or shorter than its fields has what is there, and all of it in hex.
func TestPayloadLengths(t *testing.T) {
	id := uuid.MustParse("00112233-4455-6677-8899-aabbccddeeff")
	for _, c := range []struct{ event, data, want string }{
		{"auth_init", packed(1, 2, "me"), `{"event":"auth_init","cid":1,"level":2,"identity":"me"}`},
		{"auth_init", packed(1, 2, "me", "x"), `{"event":"auth_init","cid":1,"level":2,"identity":"me","data":"01026d65007800"}`},
		{"auth_init", packed(1, 2) + "me", `{"event":"auth_init","cid":1,"level":2,"identity":"me","short":true,"data":"01026d65"}`},
		{"auth_init", packed(1, 2), `{"event":"auth_init","cid":1,"level":2,"short":true,"data":"0102"}`},
		{"auth_init", packed(1), `{"event":"auth_init","cid":1,"short":true,"data":"01"}`},
		{"auth_init", "", `{"event":"auth_init","short":true,"data":""}`},
		{"ddnetver", packed(3, id, 160400, "v"), `{"event":"ddnetver","cid":3,"connection_id":"00112233-4455-6677-8899-aabbccddeeff","version":160400,"version_str":"v"}`},
		{"ddnetver", packed(3) + "\x00\x11", `{"event":"ddnetver","cid":3,"short":true,"data":"030011"}`},
		{"save_success", packed(4, id) + "cut\xff", `{"event":"save_success","team":4,"save_id":"00112233-4455-6677-8899-aabbccddeeff","save":"cut\ufffd","save_hex":"637574ff","short":true,"data":"0400112233445566778899aabbccddeeff637574ff"}`},
		{"antibot", "\x01\xfe", `{"event":"antibot","data":"01fe"}`},
		{"player_finish", packed(-1, -1<<31), `{"event":"player_finish","cid":-1,"time_ticks":-2147483648}`},
	} {
		w := newWriter(nil)
		w.ex(c.event, 0, c.data)
		if got := eventsOf(t, w); got[0] != c.want {
			t.Errorf("%s of %x:\n got %s\nwant %s", c.event, c.data, got[0], c.want)
		}
	}
}

// An EX record of an unknown UUID has the name that the header lists for it, if it lists one.
func TestUnknownExtensions(t *testing.T) {
	w := newWriter(map[string]any{"version": "2", "uuids": []any{"mine@example.org", 7, nil, "other@example.org"}})
	w.rawEx(extensionID("mine@example.org"), "a")
	w.rawEx(extensionID("nobody@example.org"), "")
	got := eventsOf(t, w)
	for i, want := range []string{
		fmt.Sprintf(`{"event":"ex","uuid":"%s","name":"mine@example.org","data":"61"}`, extensionID("mine@example.org")),
		fmt.Sprintf(`{"event":"ex","uuid":"%s","data":""}`, extensionID("nobody@example.org")),
	} {
		if got[i] != want {
			t.Errorf("got %s, want %s", got[i], want)
		}
	}
}

// The network messages of docs/formats/teehistorian.md section 8, each as a client of its protocol
// sends it.
func TestMessages(t *testing.T) {
	six := []any{"body", "", "decoration", "hands", "feet", "eyes", 1, 0, 1, 0, 1, 0, -1, 2, 3, 4, 5, 6}
	const skin = `"skin_parts":["body","","decoration","hands","feet","eyes"],"use_custom":[1,0,1,0,1,0],"colors":[-1,2,3,4,5,6]}`
	const info = `{"name":"n","clan":"c","country":276,"skin":"s","use_custom_color":1,"color_body":2,"color_feet":3}`
	for _, c := range []struct {
		protocol, data string // first bytes of the table in hex
		fields         []any
		name, want     string
	}{
		{"6", "22", []any{0, "hi"}, "Cl_Say", `{"team":0,"text":"hi"}`},
		{"6", "24", []any{-1}, "Cl_SetTeam", `{"team":-1}`},
		{"6", "26", []any{-1}, "Cl_SetSpectatorMode", `{"spectator_id":-1}`},
		{"6", "28", []any{"n", "c", 276, "s", 1, 2, 3}, "Cl_StartInfo", info},
		{"6", "2a", []any{"n", "c", 276, "s", 1, 2, 3}, "Cl_ChangeInfo", info},
		{"6", "2c", nil, "Cl_Kill", `{}`},
		{"6", "2e", []any{15}, "Cl_Emoticon", `{"emoticon":15,"emoticon_name":"question"}`},
		{"6", "2e", []any{16}, "Cl_Emoticon", `{"emoticon":16,"emoticon_name":null}`},
		{"6", "2e", []any{-1}, "Cl_Emoticon", `{"emoticon":-1,"emoticon_name":null}`},
		{"6", "30", []any{1}, "Cl_Vote", `{"vote":1}`},
		{"6", "32", []any{"kick", "1", "why"}, "Cl_CallVote", `{"type":"kick","value":"1","reason":"why"}`},
		{"6", "34", []any{16040}, "Cl_IsDDNetLegacy", `{"version":16040}`},
		{"6", "34", nil, "Cl_IsDDNetLegacy", `{}`},
		{"6", "3e", []any{1}, "Cl_ShowOthersLegacy", `{"show":1}`},
		{"7", "34", []any{1, 2}, "Cl_SetSpectatorMode", `{"mode":1,"spectator_id":2}`},
		{"7", "36", append([]any{"n", "c", -1}, six...), "Cl_StartInfo", `{"name":"n","clan":"c","country":-1,` + skin},
		{"7", "38", nil, "Cl_Kill", `{}`},
		{"7", "3a", nil, "Cl_ReadyChange", `{}`},
		{"7", "3c", []any{0}, "Cl_Emoticon", `{"emoticon":0,"emoticon_name":"oop"}`},
		{"7", "3e", []any{-1}, "Cl_Vote", `{"vote":-1}`},
		{"7", "8001", []any{"t", "v", "r", 1}, "Cl_CallVote", `{"type":"t","value":"v","reason":"r","force":1}`},
		{"7", "8401", six, "Cl_SkinChange", "{" + skin},
		{"7", "8e01", []any{"w", "bob hi"}, "Cl_Command", `{"name":"w","arguments":"bob hi"}`},
		{"6", "007f264cdd71a239620bce", nil, "", "null"}, // the UUID is cut
		{"7", "007f264cdd71a23962bbce0f94bbd81913", []any{2}, "Cl_ShowOthers", `{"show":2}`},
		{"6", "0053bb28af42523ac98fd36ccbc2a603e3", []any{-5, 1 << 30}, "Cl_ShowDistance", `{"x":-5,"y":1073741824}`},
		{"6", "008c470228ee11380893b9c5c87d08b51c", []any{1, 2, 3}, "Cl_CameraInfo", `{"zoom":1,"deadzone":2,"follow_factor":3}`},
		{"6", "00e19b66e80646351baa03d4aba7b9545f", []any{1}, "Cl_EnableSpectatorCount", `{"enable":1}`},
		{"6", "00ffffffffffffffffffffffffffffffff", []any{1}, "", "null"},
		{"6", "36", nil, "", "null"},                         // an id of 0.7 only
		{"7", "28", []any{"n", "c", 276}, "", "null"},        // an id of 0.6 only
		{"6", "29", []any{"n", "c"}, "", "null"},             // the system flag
		{"6", "28", []any{"n", "c"}, "Cl_StartInfo", "null"}, // too short
		{"6", "2c", []any{"more"}, "Cl_Kill", `{}`},          // longer
		{"6", "22", []any{0, "\xff"}, "Cl_Say", `{"team":0,"text":"\ufffd","text_hex":"ff"}`},
	} {
		head, err := hex.DecodeString(c.data)
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(nil)
		w.ex("joinver"+c.protocol, 0, packed(0))
		data := string(head) + packed(c.fields...)
		w.message(0, data)
		name := "null"
		if c.name != "" {
			name = fmt.Sprintf("%q", c.name)
		}
		want := fmt.Sprintf(`{"event":"net_message","cid":0,"protocol":"0.%s","message":%s,"fields":%s,"data":"%x"}`, c.protocol, name, c.want, data)
		if got := eventsOf(t, w); got[1] != want {
			t.Errorf("0.%s %s:\n got %s\nwant %s", c.protocol, c.data, got[1], want)
		}
	}
}

// The protocol of a client is that of its JOINVER, or follows from the first telling message, until
// its DROP.
func TestProtocol(t *testing.T) {
	join6 := func(w *writer) { w.ex("joinver6", 0, packed(0)) }
	join7 := func(w *writer) { w.ex("joinver7", 0, packed(0)) }
	drop := func(w *writer) { w.drop(0, "") }
	again := func(w *writer) { w.join(0) }
	head := func(id int) func(w *writer) { return func(w *writer) { w.message(0, packed(2*id)) } }
	system := func(w *writer) { w.message(0, packed(2*20+1)) }
	other := func(w *writer) { w.message(1, packed(2*27)) }
	for _, c := range []struct {
		name    string
		records []func(*writer)
		want    string // protocol of each MESSAGE of client 0
	}{
		{"nothing tells", []func(*writer){head(26), head(31), head(17), head(0)}, "null null null null"},
		{"ids of 0.6", []func(*writer){head(20), head(26)}, `"0.6" "0.6"`},
		{"22", []func(*writer){head(22)}, `"0.6"`},
		{"23", []func(*writer){head(23)}, `"0.6"`},
		{"ids of 0.7", []func(*writer){head(26), head(27), head(22)}, `null "0.7" "0.7"`},
		{"28", []func(*writer){head(28)}, `"0.7"`},
		{"30", []func(*writer){head(30)}, `"0.7"`},
		{"a system message tells nothing", []func(*writer){system, head(26)}, "null null"},
		{"another client", []func(*writer){other, head(26)}, "null"},
		{"JOINVER counts more", []func(*writer){join7, head(20), head(27)}, `"0.7" "0.7"`},
		{"JOINVER after an inference", []func(*writer){head(20), join7, head(26)}, `"0.6" "0.7"`},
		{"the last JOINVER", []func(*writer){join7, join6, head(27)}, `"0.6"`},
		{"DROP forgets", []func(*writer){join7, head(26), drop, head(26)}, `"0.7" null`},
		{"JOIN does not", []func(*writer){join7, again, head(26), again, head(26)}, `"0.7" "0.7"`},
	} {
		w := newWriter(nil)
		for _, record := range c.records {
			record(w)
		}
		var got []string
		for _, e := range eventsOf(t, w) {
			if _, rest, ok := strings.Cut(e, `"cid":0,"protocol":`); ok {
				p, _, _ := strings.Cut(rest, ",")
				got = append(got, p)
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
