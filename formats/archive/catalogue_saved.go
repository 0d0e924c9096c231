package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"time"

	"recfs/formats"
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
	text, cut := string(b[1:]), false
	next := func() string {
		n, size := binary.Uvarint([]byte(text[:min(binary.MaxVarintLen64, len(text))]))
		if size <= 0 || n > uint64(len(text)-size) {
			text, cut = "", true
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
		if len(stamp) != formats.StampSize {
			return newSurvey(nil)
		}
		r.stamp, r.pending, r.lines = formats.ReadStamp([]byte(stamp)), next(), next()
		records = append(records, r)
	}
	if cut || !a.soundRecords(records) {
		return newSurvey(nil)
	}
	return newSurvey(records)
}

// soundRecords reports whether saved records are some that a scan makes: in the order of a walk, with
// lines of what lies there. The checksum does not tell, as who can write to the cache can make it.
func (a *archive) soundRecords(records []record) bool {
	for i, r := range records {
		if i > 0 && walkOrder(records[i-1].path, r.path) >= 0 || !a.soundLines(r) {
			return false
		}
	}
	return true
}

// soundLines reports whether each line of a record is a Summary of what is called like the record, or
// lies in it, and stands in the order of a walk.
func (a *archive) soundLines(r record) bool {
	last, first := "", true
	for line := range strings.Lines(r.lines) {
		var s Summary
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &s) != nil || !a.soundSummary(&s) {
			return false
		}
		at := s.Path
		if s.PathHex != "" {
			b, err := hex.DecodeString(s.PathHex)
			if err != nil {
				return false
			}
			at = string(b)
		}
		below, in := strings.CutPrefix(at, r.path+"/")
		if at != r.path && !(in && iofs.ValidPath(strings.ToValidUTF8(below, "_"))) || !first && walkOrder(last, at) >= 0 {
			return false
		}
		last, first = at, false
	}
	return true
}

// soundSummary reports whether a summary is of a format of the archive, and counts what can be counted.
func (a *archive) soundSummary(s *Summary) bool {
	return slices.ContainsFunc(a.list, func(f formats.Format) bool { return f.Name == s.Format }) &&
		s.Size >= 0 && (s.Problems == nil || *s.Problems >= 0)
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
