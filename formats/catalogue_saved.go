package formats

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// catalogueName names the catalogue in the disk cache; "": there is none.
func (a *archive) catalogueName() string {
	if a.opt.Disk == nil || a.depth > 0 || a.base() == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, a.base(), a.opt.Sniff)
	for _, f := range a.list {
		fmt.Fprintln(h, f.Name, f.Extensions, f.Variant)
	}
	return fmt.Sprintf("catalogue %x", h.Sum(nil))
}

// catalogueVersion changes when the lines, the digests or their encoding do.
const catalogueVersion = 5

// saveEvery is how often a process saves the catalogue on disk. What changed
// since is opened again by the next one.
const saveEvery = time.Minute

// loadSaved returns the catalogue on disk, an empty one if there is none.
func (a *archive) loadSaved() *survey {
	name := a.catalogueName()
	if name == "" {
		return newSurvey(nil)
	}
	b, ok := a.opt.Disk.Load(name)
	if !ok || len(b) == 0 || b[0] != catalogueVersion {
		return newSurvey(nil)
	}
	text := string(b[1:])
	next := func() string {
		n, size := binary.Uvarint([]byte(text[:min(binary.MaxVarintLen64, len(text))]))
		if size <= 0 || n > uint64(len(text)-size) {
			text = ""
			return ""
		}
		field := text[size:][:n]
		text = text[size+int(n):]
		return field
	}
	var records []record
	for text != "" {
		r := record{path: next()}
		stamp := next()
		if len(stamp) != stampSize {
			return newSurvey(nil)
		}
		r.stamp, r.pending, r.lines = readStamp([]byte(stamp)), next(), next()
		records = append(records, r)
	}
	return newSurvey(records)
}

// save keeps a survey on disk, of what could be read.
func (a *archive) save(s *survey) {
	name := a.catalogueName()
	if name == "" || time.Since(a.saved) < saveEvery {
		return
	}
	a.saved = time.Now()
	b := make([]byte, 0, s.cost())
	b = append(b, catalogueVersion)
	for _, r := range s.records {
		if r.open {
			continue
		}
		for _, field := range []string{r.path, string(r.stamp.Append(nil)), r.pending, r.lines} {
			b = binary.AppendUvarint(b, uint64(len(field)))
			b = append(b, field...)
		}
	}
	a.opt.Disk.Save(name, b)
}
