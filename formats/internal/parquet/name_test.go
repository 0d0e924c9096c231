package parquet

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// UnescapeName undoes EscapeName, and knows no other names.
func TestUnescapeName(t *testing.T) {
	for escaped, want := range map[string]string{
		"": "", "a": "a", "tick%3D5": "tick=5", "%5Fx": "_x", "%2Eh%3Ai%25": ".h:i%", "bad%FFä": "bad\xffä", "a_b.c": "a_b.c", "back%5Cslash": `back\slash`,
		"x%2Eparquet": "x.parquet", "%2Eparquet": ".parquet", "x.parquet.d": "x.parquet.d",
	} {
		if name, ok := UnescapeName(escaped, true); name != want || !ok {
			t.Errorf("%q: %q, %t, want %q", escaped, name, ok, want)
		}
		if name, ok := UnescapeName(escaped+Extension, false); escaped != "x%2Eparquet" && (name != want || !ok) {
			t.Errorf("%q: %q, %t, want %q", escaped+Extension, name, ok, want)
		}
	}
	for _, other := range []string{"%", "a%3", "%3d", "%61", "=", "_a", ".", "%+1", "%2F", "\xff", "%C3%A4", `\`, "x.parquet", "x%2Eparquet.d"} {
		if name, ok := UnescapeName(other, true); ok {
			t.Errorf("%q: %q", other, name)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		folder := rapid.Bool().Draw(rt, "folder")
		name := string(rapid.SliceOf(rapid.SampledFrom([]byte("ab%=:\\_.3D\xc3\xa4\xff"))).Draw(rt, "name")) + rapid.SampledFrom([]string{"", Extension}).Draw(rt, "end")
		escaped := EscapeName(name, folder)
		if got, ok := UnescapeName(escaped, folder); !strings.Contains(escaped, cutMark) && (got != name || !ok) {
			rt.Fatalf("%q: %q, %q, %t", name, escaped, got, ok)
		}
	})
}

// A name that is too long is cut at a character, and ends in a hash of what it was.
func TestLongNames(t *testing.T) {
	long, odd := strings.Repeat("a", 248), strings.Repeat("a", 228)+strings.Repeat("ä", 20)
	hash := func(name string) string { return fmt.Sprintf("%%~%x", sha256.Sum256([]byte(name)))[:18] }
	for name, want := range map[string]string{
		long[1:]:                       long[1:] + ".parquet",
		long:                           long[:229] + hash(long) + ".parquet",
		odd:                            odd[:228] + hash(odd) + ".parquet",
		long + "/x":                    long + "/x.parquet",
		"x.parquet/y.parquet":          "x%2Eparquet/y.parquet.parquet",
		strings.Repeat("=", 86) + "/b": strings.Repeat("%3D", 86)[:229] + hash(strings.Repeat("=", 86)) + "/b.parquet",
	} {
		if got := EscapePath(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{long, odd, strings.Repeat("=", 86) + "/b"} {
		first, _, _ := strings.Cut(EscapePath(name), "/")
		if begin, ok := CutName(first); !ok || !strings.HasPrefix(name, begin) || len(begin) < 76 {
			t.Errorf("%q begins as %q, %t", name, begin, ok)
		}
	}
	if _, ok := CutName(EscapePath("%~")); ok {
		t.Error("a name was cut")
	}
}

// Views has what a shell or SQL would take for something else in brackets or doubled.
func TestViews(t *testing.T) {
	got := string(Views("/mnt/it's [a]*?", 1, 0, []Kind{{"butter", "events", true}, {"butter", "frames", false}, {"hcrp", "markers", true}}, ""))
	want := `-- recfs: 1 recording, 0 of them without an index
create or replace view recordings as from read_parquet('/mnt/it''s [[]a][*][?]/recordings.parquet');
create schema if not exists butter;
create or replace view butter.events as from read_parquet('/mnt/it''s [[]a][*][?]/butter/events.parquet', hive_partitioning = false);
create or replace view butter.frames as from read_parquet('/mnt/it''s [[]a][*][?]/butter/frames/**/*.parquet', hive_partitioning = false);
create schema if not exists hcrp;
create or replace view hcrp.markers as from read_parquet('/mnt/it''s [[]a][*][?]/hcrp/markers.parquet', hive_partitioning = false);
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := string(Views("s3://b", 2, 1, []Kind{{"nethack", "heroes", false}}, "month")); !strings.Contains(got, "2 recordings, 1 of") ||
		!strings.Contains(got, "'s3://b/nethack/heroes/**/*.parquet', hive_partitioning = true, hive_types = {month: varchar}") {
		t.Error(got)
	}
}
