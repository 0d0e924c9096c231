package main

import (
	"math"
	"testing"
)

func TestByteSize(t *testing.T) {
	for in, want := range map[string]byteSize{
		"0": 0, "65536": 64 * kib, "1k": kib, "256MiB": 256 * mib, "4G": 4 * gib, "4gb": 4 * gib, "2T": 2 * tib, "7B": 7, "7b": 7,
		"1K": kib, "1KB": kib, "1KiB": kib, "1Ki": kib, "3M": 3 * mib, "3MB": 3 * mib, "3mib": 3 * mib, "4GIB": 4 * gib, "2TB": 2 * tib, "2TiB": 2 * tib,
		"9223372036854775807": math.MaxInt64, "8388607T": 8388607 * tib, "010": 10,
	} {
		var got byteSize
		if err := got.Set(in); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", in, got, err, want)
		}
		var again byteSize
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%q prints as %q, which is %d, %v", in, got, again, err)
		}
	}
	for _, in := range []string{
		"", "M", "B", "-1", "-1M", "+1", "1.5G", "1.5GiB", "1X", "5I", "5i", "5IB", "5Bi", "5KiBB", "5BB", "5KM", "5KiBi", " 5", "5 ", "5 MiB", "0x10", "1e3", "1_000",
		"9223372036854775807K", "9223372036854775808", "18446744073709551616", "99999999999999999999999T", "8388608T", "٣M", "3\xff", "3M\x00",
	} {
		var b byteSize
		if b.Set(in) == nil {
			t.Errorf("%q is taken as %d", in, b)
		}
	}
}

func TestHumanSize(t *testing.T) {
	for in, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 86038: "84 KiB", 5 << 30: "5 GiB"} {
		if got := humanSize(in); got != want {
			t.Errorf("%d: %q, want %q", in, got, want)
		}
	}
}
