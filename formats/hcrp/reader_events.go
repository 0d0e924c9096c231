package hcrp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// eventFormat returns what is needed to decode bodies with that schema.
func (r *Reader) eventFormat(s *Schema) eventFormat { return eventFormat{r.Header.Layout, s, r.limits} }

// An eventReader decodes the chunks of a recording.
type eventReader struct {
	*Reader
	schema *Schema // nil: no events can be told apart
}

// decode decodes chunk i without remembering it. If the chunk is to blame for an error it is a
// *damage.
func (r eventReader) decode(ctx context.Context, i int) (*chunk, error) {
	body, err := r.Body(ctx, i)
	if err != nil {
		return nil, err
	}
	return r.eventFormat(r.schema).decode(i, r.Entry(i), body), nil
}

// variant names the choices that an index depends on besides the recording: schema, limits and
// dictionary.
func (r eventReader) variant() string {
	h := sha256.New()
	if r.schema != nil {
		fmt.Fprintf(h, "%x", r.schema.sum)
	}
	fmt.Fprintf(h, " %+v %x", r.limits, r.dictSum)
	return hex.EncodeToString(h.Sum(nil)[:8])
}
