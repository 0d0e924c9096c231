package nethack

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBlobs(t *testing.T) {
	for _, c := range []struct {
		blob, want string
		fails      bool
	}{
		{blob: "", want: ""},
		{blob: "QWduZXM=", want: "Agnes"},
		{blob: "$31$eNpLTMQLALwPC8A=", want: strings.Repeat("a", 31)},
		{blob: "$31$eNpLTMQLALwPC8AAAAAA", want: strings.Repeat("a", 31)}, // bytes behind the stream
		{blob: "$30$eNpLTMQLALwPC8A=", fails: true},
		{blob: "$32$eNpLTMQLALwPC8A=", fails: true},
		{blob: "$31$eNpLTMQLALwPC8E=", fails: true}, // checksum
		{blob: "$31$eNpLTMQLALw=", fails: true},
		{blob: "$31#eNpLTMQLALwPC8A=", fails: true},
		{blob: "$$eNpLTMQLALwPC8A=", fails: true},
		{blob: "$31", fails: true},
		{blob: "$", fails: true},
		{blob: "$99999999999$eNpLTMQLALwPC8A=", fails: true},
		{blob: "$9999999999$eNpLTMQLALwPC8A=", fails: true},
		{blob: "QWduZXM", fails: true},
		{blob: "QWdu\rZXM=", fails: true},
		{blob: "QWdu*ZXM", fails: true},
		{blob: "#5#UEFnbmVz", want: "Agnes"},
		{blob: "#4#UEFnbmVz", fails: true},
		{blob: "#6#UEFnbmVz", fails: true},
		{blob: "#60000000#UEFnbmVz", fails: true},
	} {
		got, err := decodeBlob([]byte(c.blob))
		if (err != nil) != c.fails || err == nil && string(got) != c.want {
			t.Errorf("%q: %q, %v, want %q", c.blob, got, err, c.want)
		}
	}
}

func TestBlobsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Repeat(rapid.SliceOf(rapid.Byte()).Draw(t, "data"), rapid.IntRange(1, 50).Draw(t, "times"))
		comp := rapid.SampledFrom([]compression{plain, zlibStream, lz4Block}).Draw(t, "compression")
		got, err := decodeBlob([]byte(encodeBlob(data, comp)))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%x, %v, want %x", got, err, data)
		}
	})
}

// TestClaimedSize holds that a blob cannot make the decoder allocate by its word.
func TestClaimedSize(t *testing.T) {
	for _, blob := range []string{"$16777216$eNpLTMQLALwPC8A=", "#16777216#UEFnbmVz"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := decodeBlob([]byte(blob)); err == nil {
			t.Errorf("%s decodes", blob)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%s: %d bytes allocated", blob, n)
		}
	}
}

func FuzzBlob(f *testing.F) {
	for _, s := range []string{"", "QWduZXM=", "$31$eNpLTMQLALwPC8A=", "#5#UEFnbmVz", "$9999999999$AAAA"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, blob []byte) {
		data, err := decodeBlob(bytes.Clone(blob))
		if err != nil {
			return
		}
		again, err := decodeBlob([]byte(encodeBlob(data, plain)))
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x, %v after another round, want %x", again, err, data)
		}
	})
}
