package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"recfs/nodes/play"
)

// encode returns the compact JSON of a value, which is an object there, with the version before it.
func encode(value any) ([]byte, error) {
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

// A Query is what a request for data asks for.
type Query struct {
	url.Values
	name string // the path from the root
	bad  string // the first parameter that is none
}

// Refuse notes that a parameter is bad, which Err then tells.
func (q *Query) Refuse(name string) {
	if q.bad == "" {
		q.bad = name
	}
}

// Take calls set with a parameter that is there, and refuses it if that fails.
func (q *Query) Take(name string, set func(string) error) {
	if text := q.Get(name); text != "" && set(text) != nil {
		q.Refuse(name)
	}
}

// Number returns a parameter that is a number from low to high, or what is meant without it.
func (q *Query) Number(name string, without, low, high int64) int64 {
	n := without
	q.Take(name, func(text string) (err error) {
		if n, err = strconv.ParseInt(text, 10, 64); n < low || n > high {
			err = strconv.ErrRange
		}
		return err
	})
	return n
}

// Flag returns a parameter that is 0 or 1.
func (q *Query) Flag(name string) bool { return q.Number(name, 0, 0, 1) == 1 }

// Err returns why the query is bad.
func (q *Query) Err() error {
	if q.bad != "" {
		return badParameter(q.bad)
	}
	return nil
}

// refused returns an error of what plays as one of the request.
func refused(err error) error {
	if bad, ok := errors.AsType[play.BadParameter](err); ok {
		return badParameter(string(bad))
	}
	return err
}
