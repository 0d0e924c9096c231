package main

import "testing"

func TestByteSize(t *testing.T) {
	for in, want := range map[string]byteSize{
		"0": 0, "65536": 64 * kib, "1k": kib, "256MiB": 256 * mib, "4G": 4 * gib, "4gb": 4 * gib, "2T": 2 * tib, "7B": 7,
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
	for _, in := range []string{"", "M", "-1", "1.5G", "9223372036854775807K", "1X"} {
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
