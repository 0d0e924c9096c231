package teehistorian

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"recfs/nodes/nodestest"
)

// sharedRecordings may lie next to the repository: more recordings, with what is in them.
const sharedRecordings = "../../../shared/recordings/teehistorian"

// The worked byte sequences of docs/formats/teehistorian.md section 5.1, as lines "tick kind
// numbers".
func TestWorkedSequences(t *testing.T) {
	for _, c := range []struct{ hex, want string }{
		{"42 00 01 02 40", "1 NEW 0 (1,2); 1 FINISH"},
		{"42 00 01 02 00 01 40 40", "1 NEW 0 (1,2); 2 DIFF 0 (2,1); 2 FINISH"},
		{"42 01 02 03 42 00 04 05 40", "1 NEW 1 (2,3); 2 NEW 0 (4,5); 2 FINISH"},
		{"42 00 04 05 41 00 42 01 02 03 40", "1 NEW 0 (4,5); 2 SKIP 0; 2 NEW 1 (2,3); 2 FINISH"},
		{"41 b3 07 42 00 40 40 40", "500 SKIP 499; 500 NEW 0 (-1,-1); 500 FINISH"},
		{"42 02 05 05 41 09 02 01 00 40", "1 NEW 2 (5,5); 11 SKIP 9; 11 DIFF 2 (6,5); 11 FINISH"},
		{
			"42 00 00 00 41 00 4a 6bb8ba880f0b382e8daedbf4052b8b7d 00 00 01 01 40",
			"1 NEW 0 (0,0); 2 SKIP 0; 2 EX test; 2 DIFF 0 (1,1); 2 FINISH",
		},
		{"42 80 01 05 05 80 01 01 00 40", "1 NEW 64 (5,5); 2 DIFF 64 (6,5); 2 FINISH"},
		{
			"47 00 42 00 10 10 45 00 01 02 03 04 05 06 07 08 09 0a 44 00 40 00 00 00 00 00 00 00 00 00 40",
			"0 JOIN 0; 1 NEW 0 (16,16); 1 INPUT 0 [1 2 3 4 5 6 7 8 9 10]; 1 INPUT 0 [0 2 3 4 5 6 7 8 9 10]; 1 FINISH",
		},
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		scan := newScanner(strings.NewReader(string(b)), 0, int64(len(b)), newDecoder(false), 16)
		var st state
		var e event
		for err = scan.next(&e.record); err == nil; err = scan.next(&e.record) {
			st.apply(&e)
			got = append(got, fmt.Sprint(e.tick, " ", brief(&e)))
		}
		if !errors.Is(err, errEnd) {
			t.Errorf("%s: %v", c.hex, err)
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.hex, got, c.want)
		}
	}
}

func brief(e *event) string {
	switch e.kind {
	case playerNew:
		return fmt.Sprintf("NEW %d (%d,%d)", e.cid, e.player.x, e.player.y)
	case playerDiff:
		return fmt.Sprintf("DIFF %d (%d,%d)", e.cid, e.player.x, e.player.y)
	case tickSkip:
		return fmt.Sprintf("SKIP %d", e.dt)
	case inputNew, inputDiff:
		return fmt.Sprintf("INPUT %d %v", e.cid, e.player.input)
	case join:
		return fmt.Sprintf("JOIN %d", e.cid)
	case extension:
		return "EX " + e.name()
	case finish:
		return "FINISH"
	}
	return "?"
}

// appendCanonical appends the line of a record in the canonical dump (docs/formats/teehistorian.md
// section 10).
func appendCanonical(b []byte, r *record) []byte {
	bytes := func(s []byte) string {
		if len(s) == 0 {
			return "-"
		}
		return hex.EncodeToString(s)
	}
	b = fmt.Appendf(b, "%d %d ", r.offset, r.tick)
	switch r.kind {
	case playerDiff:
		b = fmt.Appendf(b, "PLAYER_DIFF %d %d %d", r.cid, r.x, r.y)
	case finish:
		b = append(b, "FINISH"...)
	case tickSkip:
		b = fmt.Appendf(b, "TICK_SKIP %d", r.dt)
	case playerNew:
		b = fmt.Appendf(b, "PLAYER_NEW %d %d %d", r.cid, r.x, r.y)
	case playerOld:
		b = fmt.Appendf(b, "PLAYER_OLD %d", r.cid)
	case inputDiff, inputNew:
		b = fmt.Appendf(b, "%s %d %s", strings.ToUpper(eventNames[-r.kind]), r.cid, strings.Trim(fmt.Sprint(r.input), "[]"))
	case netMessage:
		b = fmt.Appendf(b, "MESSAGE %d %d %s", r.cid, len(r.data), bytes(r.data))
	case join:
		b = fmt.Appendf(b, "JOIN %d", r.cid)
	case drop:
		b = fmt.Appendf(b, "DROP %d %s", r.cid, bytes(r.data))
	case consoleCommand:
		args := ""
		n := 0
		for arg := range r.arguments() {
			args += " " + bytes(arg)
			n++
		}
		b = fmt.Appendf(b, "CONSOLE_COMMAND %d %d %s %d%s", r.cid, r.flags, bytes(r.data), n, args)
	case extension:
		b = fmt.Appendf(b, "EX %s %d %s", uuid.UUID(r.uuid), len(r.data), bytes(r.data))
	}
	return append(b, '\n')
}

// canonicalHash is the hash of the canonical dump of a recording, read through windows of the given
// size.
func canonicalHash(t *testing.T, recording []byte, window int) string {
	t.Helper()
	src := strings.NewReader(string(recording))
	h, err := readHeader(t.Context(), src, 0)
	if err != nil {
		t.Fatal(err)
	}
	scan := newScanner(src, h.start, int64(len(recording)), newDecoder(h.version1), window)
	sum := sha256.New()
	var r record
	for {
		if err := scan.next(&r); err != nil {
			if !errors.Is(err, errEnd) && !errors.Is(err, errShort) && !errors.Is(err, errBad) {
				t.Fatal(err)
			}
			return hex.EncodeToString(sum.Sum(nil))
		}
		sum.Write(appendCanonical(nil, &r))
		if r.kind == finish {
			return hex.EncodeToString(sum.Sum(nil))
		}
	}
}

// The truth about the samples, found by an independent decoder.
func TestCanonicalDump(t *testing.T) {
	reload, err := os.ReadFile("../../testdata/archive/teehistorian/reload-20.1.teehistorian")
	if err != nil {
		t.Fatal(err)
	}
	for _, window := range []int{61, scanWindow, 4096, 1}[:nodestest.Times(4, 2)] {
		if got, want := canonicalHash(t, reload, window), reloadHash; got != want {
			t.Errorf("reload-20.1 in windows of %d: %s, want %s", window, got, want)
		}
	}
	if got, want := canonicalHash(t, readBusy(t), scanWindow), busyHash; got != want {
		t.Errorf("busy-20.1: %s, want %s", got, want)
	}
}

func TestSharedRecordings(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(sharedRecordings, "*.truth.json"))
	if len(files) == 0 {
		t.Skip("no folder shared next to the repository")
	}
	for _, file := range files {
		stem := strings.TrimSuffix(file, ".truth.json")
		t.Run(filepath.Base(stem), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var truth struct {
				Opens *bool
				Hash  string `json:"canonical_dump_sha256"`
			}
			if err := json.Unmarshal(text, &truth); err != nil {
				t.Fatal(err)
			}
			recording, err := os.ReadFile(stem + ".teehistorian")
			if err != nil {
				t.Fatal(err)
			}
			if truth.Opens != nil && !*truth.Opens {
				if _, err := openBytes(t, newCache(t), recording); err == nil {
					t.Error("it opens")
				}
				return
			}
			if diff := cmp.Diff(truth.Hash, canonicalHash(t, recording, 4096)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Records that cannot be decoded, and those that end too early.
func TestBadRecords(t *testing.T) {
	for _, c := range []struct {
		hex  string
		want error
	}{
		{"4b", errBad},             // kind -12
		{"ffffffff0f", errBad},     // kind -2147483648
		{"c0", errShort},           // an id without its end
		{"4140", errBad},           // TICK_SKIP -1
		{"41bfffffff0f", errBad},   // a tick above 2147483647
		{"46004041", errBad},       // MESSAGE of size -1
		{"460003", errShort},       // of size 3, no bytes
		{"46003f0000", errShort},   // 2 of 63
		{"49000061004041", errBad}, // -1 arguments
		{"4900006100bfffffff0f6100", errShort},
		{"4800616263", errShort},
		{"4a0000", errShort},
		{"4a" + strings.Repeat("00", 16) + "40", errBad},
		{"4a" + strings.Repeat("00", 16) + "0100", nil},
		{"4500010203", errShort},
	} {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		for _, pad := range []int{0, maxFixed} {
			if pad > 0 && errors.Is(c.want, errShort) {
				continue
			}
			d := newDecoder(false)
			var r record
			if _, err := d.decode(append(b, make([]byte, pad)...), &r); !errors.Is(err, c.want) {
				t.Errorf("%s and %d zeros: %v, want %v", c.hex, pad, err, c.want)
			}
		}
	}
	d := newDecoder(true)
	var r record
	if _, err := d.decode([]byte{0x4a}, &r); !errors.Is(err, errBad) {
		t.Errorf("EX in version 1: %v", err)
	}
	d = newDecoder(false)
	d.tick = math.MaxInt32
	if _, err := d.decode([]byte{0, 0, 0}, &r); !errors.Is(err, errBad) {
		t.Errorf("a step from the last tick: %v", err)
	}
}

// Hashes of the canonical dumps of the samples.
const (
	reloadHash = "832365e2c3f18eac3df77549c76bc054a71c9efa727f58a564366548c06ee8ce"
	busyHash   = "adf4a3d1ed90fdd8abbf0bec12f21db125bcea9fb7f64abc7c5dc29951dc85be"
)
