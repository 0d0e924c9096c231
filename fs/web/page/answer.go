package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"runtime"
	"slices"
	"strings"
)

// encoded is the JSON of an answer with all that is in it.
type encoded []byte

// encode returns the compact JSON of a value, which is an object there, with the version before it.
func encode(value any) ([]byte, error) {
	if done, ok := value.(encoded); ok {
		return done, nil
	}
	out := bytes.NewBufferString(`{"v":1,`)
	begin := out.Len()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	b := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	b = slices.Delete(b, begin, begin+1) // the brace
	if b[begin] == '}' {
		b = slices.Delete(b, begin-1, begin)
	}
	return b, nil
}

func sumTag(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// isKnown sets the ETag and reports whether the client has what has it, and was told so. That of a
// compressed body is another one.
func isKnown(w Writer, r *http.Request, tag string) bool {
	if takesGzip(r) {
		tag += "-gzip"
	}
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if one = strings.TrimSpace(one); strings.TrimPrefix(one, "W/") == tag || one == "*" {
			w.Header().Add("Vary", "Accept-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// packers are the compressors, each of which takes a megabyte.
var packers = func() chan *gzip.Writer {
	c := make(chan *gzip.Writer, runtime.GOMAXPROCS(0))
	for range cap(c) {
		c <- nil
	}
	return c
}()

// pack returns compressed bytes.
func pack(plain []byte) []byte {
	z := <-packers
	defer func() { packers <- z }()
	out := bytes.NewBuffer(make([]byte, 0, len(plain)/4+64))
	if z == nil {
		z = gzip.NewWriter(out)
	}
	z.Reset(out)
	_, _ = z.Write(plain) // to memory
	_ = z.Close()
	return out.Bytes()
}
