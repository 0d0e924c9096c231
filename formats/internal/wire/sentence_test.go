package wire

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
)

func TestExplain(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{io.ErrUnexpectedEOF, endsEarly},
		{fmt.Errorf("a table: %w", io.ErrUnexpectedEOF), noSense},
		{zstd.ErrCRCMismatch, wrongChecksum},
		{bzip2.StructuralError("block checksum mismatch"), wrongChecksum},
		{bzip2.StructuralError("no symbols in input"), noSense},
		{formats.Reasonf(formats.ErrCorrupt, "a sentence"), "a sentence"},
		{formats.Corrupt("test", 5, "a sentence"), "test: at 0x5: a sentence"},
	} {
		if got := Explain(test.err); got.Error() != test.want || !errors.Is(got, test.err) {
			t.Errorf("%v: %v, want %s", test.err, got, test.want)
		}
	}
	if Explain(nil) != nil {
		t.Error("an error of none")
	}
}

// TestDamageSpeaks damages streams: what is said of each is no message of a library.
func TestDamageSpeaks(t *testing.T) {
	ours := regexp.MustCompile(`^(the compressed data|the decompressed bytes|there is no header of a|it needs|it is) `)
	content := []byte(fmt.Sprint(rand.New(rand.NewPCG(1, 2)).Perm(5000)))
	z, gz, zst := compressed(t, content)
	size := int64(len(content))
	for name, expand := range map[string]func([]byte) error{
		"zlib": func(b []byte) error { _, _, err := Zlib(b, size); return err },
		"gzip": func(b []byte) error { _, err := Gunzip(nil, b, size); return err },
		"zstd": func(b []byte) error { _, err := Unzstd(b, size); return err },
	} {
		stream := map[string][]byte{"zlib": z, "gzip": gz, "zstd": zst}[name]
		for i := range min(300, len(stream)) {
			flipped := bytes.Clone(stream)
			flipped[i] ^= 0x55
			for _, b := range [][]byte{stream[:i], flipped} {
				bad := (*StreamError)(nil)
				if err := expand(b); errors.As(err, &bad) && !ours.MatchString(err.Error()) {
					t.Errorf("%s at %d: %v", name, i, err)
				}
			}
		}
	}
}
