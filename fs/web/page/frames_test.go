package page

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"recfs/nodes/play"
)

// TestBlock holds the JSON of a block to the keys, differences and runs of
// docs/tree/page.md section 3.
func TestBlock(t *testing.T) {
	lost := []string(nil)
	b := &play.Block{
		First: 4, Frames: 3,
		Tracks: []play.Track{
			{ID: "7", Name: "a\"<b", Team: "2", Kind: "tee", At: 1, N: 2, X: []int32{-1 << 31, 1<<31 - 1}, Y: []int32{5, 3}, S: []int32{1, 1}},
			{ID: "0/1", Kind: "entity", N: 3, X: []int32{1, 1, 2}, Y: []int32{0, 0, 0}, Z: []int32{9, 8, 7}, A: []int32{0, 64, 255}},
		},
		Events: []play.Event{{Tick: 5, Kind: "chat", Text: "/load …", Secret: "/load x", ID: "7"}},
		More:   2,
		Screen: &play.Screens{Ticks: []int64{4, 5, 6}, Turns: []int64{1, 1, 2}, Rows: [][]string{{"@", "-"}, {"@", "|"}, lost}, Plain: [][]string{lost, {"é"}, {"é"}}},
	}
	want := `{"v":1,"block":9,"step":2,"first":4,"frames":3,"tracks":[` +
		`{"id":7,"name":"a\"<b","team":2,"kind":"tee","at":1,"n":2,"x":[-2147483648,4294967295],"y":[5,-2],"a":null,"s":[2,1]},` +
		`{"id":"0/1","name":"","team":null,"kind":"entity","at":0,"n":3,"x":[1,0,1],"y":[0,0,0],"z":[9,-1,-1],"a":[0,64,191],"s":null}],` +
		`"events":[{"t":5,"kind":"chat","text":"TEXT","id":7}],"events_more":2,` +
		`"ticks":[4,5,6],"turns":[1,1,2],"screens":[["@","-"],[null,"|"],null],"plain":[null,["é"],[null]]}`
	for _, told := range []bool{false, true} {
		text := map[bool]string{false: "/load …", true: "/load x"}[told]
		got, err := encode(answerBlock(b, 9, 2, told))
		if err != nil {
			t.Fatal(err)
		}
		var one, two any
		if err := json.Unmarshal(got, &one); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if err := json.Unmarshal([]byte(strings.Replace(want, "TEXT", text, 1)), &two); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one, two) {
			t.Errorf("it is\n%s\nnot\n%s", got, want)
		}
	}
}
