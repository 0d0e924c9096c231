package hcrp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// variant names the choices that a scan depends on besides the recording:
// schema, limits and dictionary.
func (rec *recording) variant() string {
	h := sha256.New()
	if rec.schema != nil {
		fmt.Fprintf(h, "%x", rec.schema.sum)
	}
	fmt.Fprintf(h, " %+v %x", rec.reader.limits, rec.reader.dictSum)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// fingerprint tells versions of the recording apart.
func (rec *recording) fingerprint() string {
	r := rec.reader
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %t", rec.src.Stored, rec.src.ModTime.UnixNano(), r.Finished)
	for _, s := range r.segments {
		fmt.Fprintf(h, " %d:%d", s.number, s.size)
	}
	fmt.Fprintf(h, " %x %x", r.head, r.indexSum)
	return hex.EncodeToString(h.Sum(nil))
}
