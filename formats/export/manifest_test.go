package export

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func packed(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var stamp = strings.Repeat("0", 96)

// TestManifest reads what was written, and nothing that says more than a manifest may.
func TestManifest(t *testing.T) {
	lines := []line{{"a", "", 3, stamp, "1-2", "4"}, {"b\ufffd", "62fe", 0, stamp, "", "4"}, {"b\ufffd", "62ff", 0, stamp, "", "4"}}
	b, err := manifest(lines)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readManifest(b); err != nil || !slices.Equal(got, lines) || got[1].path() != "b\xfe" {
		t.Errorf("%v, %v", got, err)
	}
	one := `{"recording":"%s","rows":%s,"stamp":"` + stamp + `","sum":"","made":""}` + "\n"
	for name, text := range map[string]string{
		"many rows":     fmt.Sprintf(one, "a", "9223372036854775808"),
		"less than 0":   fmt.Sprintf(one, "a", "-1"),
		"no name":       fmt.Sprintf(one, "", "1"),
		"no order":      fmt.Sprintf(one, "b", "1") + fmt.Sprintf(one, "a", "1"),
		"twice":         fmt.Sprintf(one, "b", "1") + fmt.Sprintf(one, "b", "1"),
		"no stamp":      `{"recording":"a","rows":1}`,
		"cut":           fmt.Sprintf(one, "b", "1")[:20],
		"no JSON":       "recordings",
		"a bomb":        strings.Repeat(" ", maxManifest+1) + fmt.Sprintf(one, "a", "1") + "x",
		"another thing": "[]",
	} {
		if got, err := readManifest(packed(t, text)); err == nil && (name != "a bomb" || len(got) > 0) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, err := readManifest([]byte("no gzip")); err == nil || errors.Is(err, errAlien) {
		t.Error(err)
	}
}

// FuzzManifest holds that what is read is in order, and is the same once it was written.
func FuzzManifest(f *testing.F) {
	f.Add(`{"recording":"a","rows":1,"stamp":"` + stamp + `","sum":"1","made":"4"}`)
	f.Add(`{"recording":"a","recording_hex":"61","rows":9223372036854775807}`)
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := readManifest(packed(t, text))
		if err != nil {
			return
		}
		b, err := manifest(lines)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readManifest(b); err != nil || !slices.Equal(again, lines) {
			t.Errorf("%v, %v; %v", again, err, lines)
		}
	})
}
