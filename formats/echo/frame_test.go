package echo

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
)

func near(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }

func dot(a, b Vec3) float32 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// rotation draws a unit quaternion of which Unpack can be given three components.
func rotation(t *rapid.T, name string) Quat {
	part := rapid.Float32Range(-0.55, 0.55)
	return Unpack(rapid.IntRange(0, 3).Draw(t, name+" largest"), part.Draw(t, name+" a"), part.Draw(t, name+" b"), part.Draw(t, name+" c"))
}

// TestVectors holds the directions of a rotation to be of length 1 and at right angles.
func TestVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, l, u := rotation(t, "q").Vectors()
		for _, v := range []Vec3{f, l, u} {
			if !near(dot(v, v), 1) {
				t.Fatalf("%v has length² %v", v, dot(v, v))
			}
		}
		if !near(dot(f, l), 0) || !near(dot(f, u), 0) || !near(dot(l, u), 0) {
			t.Fatalf("no right angles: %v %v %v", f, l, u)
		}
	})
	f, l, u := Identity.Vectors()
	if f != (Vec3{0, 0, 1}) || l != (Vec3{1, 0, 0}) || u != (Vec3{0, 1, 0}) {
		t.Errorf("no rotation looks to %v, left is %v, up is %v", f, l, u)
	}
}

// TestMul holds products to be rotations again, associative, with Identity as one.
func TestMul(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := rotation(t, "a"), rotation(t, "b"), rotation(t, "c")
		if a.Mul(Identity) != a || Identity.Mul(a) != a {
			t.Fatalf("%v times one", a)
		}
		left, right := a.Mul(b).Mul(c), a.Mul(b.Mul(c))
		sum := float32(0)
		for i := range left {
			if !near(left[i], right[i]) {
				t.Fatalf("%v, %v", left, right)
			}
			sum += left[i] * left[i]
		}
		if !near(sum, 1) {
			t.Fatalf("length² %v", sum)
		}
	})
}

// TestUnpack puts the greatest component where it belongs.
func TestUnpack(t *testing.T) {
	for largest, want := range []Quat{{0.8, 0.6, 0, 0}, {0.6, 0.8, 0, 0}, {0.6, 0, 0.8, 0}, {0.6, 0, 0, 0.8}} {
		got := Unpack(largest, 0.6, 0, 0)
		for i := range want {
			if !near(got[i], want[i]) {
				t.Errorf("largest %d: %v, want %v", largest, got, want)
			}
		}
	}
	nan := float32(math.NaN())
	for _, bad := range []Vec3{{1, 1, 0}, {nan, 0, 0}, {float32(math.Inf(1)), 0, 0}} {
		if got := Unpack(2, bad[0], bad[1], bad[2]); got != Identity {
			t.Errorf("%v: %v", bad, got)
		}
	}
}

// TestKeys holds the keys of a session, and their order, to the kind of map (docs/tree/butter.md).
func TestKeys(t *testing.T) {
	frame := testFrames(1)[0]
	frame.Has |= HasThrow
	for kind, want := range map[Kind]string{
		Arena: "disc orange_team_restart_request sessionid game_clock_display game_status sessionip match_type map_name " +
			"right_shoulder_pressed2 teams blue_round_score orange_points player private_match blue_team_restart_request " +
			"tournament_match orange_round_score rules_changed_by total_round_count left_shoulder_pressed2 " +
			"left_shoulder_pressed pause right_shoulder_pressed blue_points last_throw client_name game_clock possession " +
			"last_score rules_changed_at err_code",
		Combat: "sessionid game_clock_display sessionip match_type map_name right_shoulder_pressed2 teams blue_round_score " +
			"orange_points player private_match tournament_match orange_round_score total_round_count " +
			"left_shoulder_pressed2 left_shoulder_pressed pause right_shoulder_pressed blue_points last_throw client_name " +
			"contested payload_checkpoint payload_defenders payload_distance payload_speed game_clock err_code",
	} {
		frame.Kind = kind
		var keys []string
		w := jsonenc.Walk(NewEncoder(testMatch).Session(nil, &frame))
		for w.Enter(); w.More(); w.Value() {
			keys = append(keys, strings.Trim(string(w.Value()), `"`))
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("kind %d:\n%s\nwant\n%s", kind, got, want)
		}
	}
}

// TestScores counts the ticks of players and keeps the goals.
func TestScores(t *testing.T) {
	var s Summary
	for i, f := range testFrames(60) {
		s.Add(int64(i), &f)
	}
	b, err := (&Builder{summary: s}).Finish().scores(testMatch)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		BluePoints int `json:"blue_points"`
		Goals      []struct {
			Tick   int
			Scorer string `json:"person_scored"`
		}
		Players []struct {
			Name  string
			Team  string
			First int `json:"first_tick"`
			Last  int `json:"last_tick"`
			Ticks int
			Stats *struct{ Points int }
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.BluePoints != 2 || len(got.Goals) != 1 || got.Goals[0].Tick != 31 || got.Goals[0].Scorer != "Ann" {
		t.Errorf("%+v", got)
	}
	if len(got.Players) != 2 {
		t.Fatalf("%+v", got.Players)
	}
	ann, other := got.Players[0], got.Players[1]
	if ann.Name != "Ann" || ann.Team != "blue" || ann.First != 0 || ann.Last != 59 || ann.Ticks != 60 || ann.Stats == nil {
		t.Errorf("%+v", ann)
	}
	if other.Team != "orange" || other.First != 21 || other.Last != 39 || other.Ticks != 19 || other.Stats != nil {
		t.Errorf("%+v", other)
	}
}

// A number that a FLOAT cannot have is null in a table, but not one that is no number or rounds to
// what it can have.
func TestTableFloats(t *testing.T) {
	for value, nulls := range map[string]int{
		`3.4028235e38`: 0, `-3.4028235e38`: 0, `1e-50`: 0, `"Infinity"`: 0, `"NaN"`: 0,
		`3.4028236e38`: 1, `-1e40`: 1, `1e309`: 1, `null`: 1, `"x"`: 1,
	} {
		b := columnar.NewCounter(columnar.Optional(columnar.Float, "x"))
		x, ok := ParseFloat([]byte(value))
		columnar.AddIf(b, ok, b.Float, x)
		if got := int(b.Columns[0].Nulls); got != nulls {
			t.Errorf("%s is %d nulls, want %d", value, got, nulls)
		}
	}
}
