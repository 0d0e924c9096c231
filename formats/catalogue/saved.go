package catalogue

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
	"recfs/formats/archive"
	"recfs/formats/container"
)

// savedName names the catalogue in the disk cache; "": there is none.
func (c *Catalogue) savedName(view archive.View) string {
	if c.disk == nil || view.ID() == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, view.ID(), c.sniff)
	for _, f := range view.Formats() {
		fmt.Fprintln(h, f.Name, f.Extensions, f.Variant)
	}
	return fmt.Sprintf("catalogue %x", h.Sum(nil))
}

// catalogueVersion changes when the lines, the digests or their encoding do.
const catalogueVersion = 9

// saveEvery is how often a process saves the catalogue on disk. What changed
// since is opened again by the next one.
const saveEvery = time.Minute

// loadSaved returns the catalogue on disk, an empty one if there is none.
func (c *Catalogue) loadSaved(view archive.View) *survey {
	name := c.savedName(view)
	if name == "" {
		return newSurvey(nil)
	}
	b, ok := c.disk.Load(name)
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
		r.stamp, r.pending, r.lines, r.tables = formats.ReadStamp([]byte(stamp)), next(), next(), next()
		r.runs = next()
		records = append(records, r)
	}
	if cut || !soundRecords(records, view.Formats()) {
		return newSurvey(nil)
	}
	return newSurvey(records)
}

// soundRecords reports whether saved records are some that a scan makes: in the order of a walk, with
// lines of what lies there. The checksum does not tell, as who can write to the cache can make it.
func soundRecords(records []record, list []formats.Format) bool {
	for i, r := range records {
		if i > 0 && walkOrder(records[i-1].path, r.path) >= 0 || !soundLines(r, list) || !soundTables(r.tables, r.lines) || !soundRuns(r.runs, r.lines) {
			return false
		}
	}
	return true
}

// soundLines reports whether each line of a record is a Summary of what is called like the record, or
// lies in it, and stands in the order of a walk.
func soundLines(r record, list []formats.Format) bool {
	last, first := "", true
	for line := range strings.Lines(r.lines) {
		var s Summary
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &s) != nil || !s.sound(list) {
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

// sound reports whether a summary is of a format of the list or of a damaged container, and counts what
// can be counted.
func (s *Summary) sound(list []formats.Format) bool {
	known := slices.ContainsFunc(list, func(f formats.Format) bool { return f.Name == s.Format })
	return (known || s.Error != "" && slices.Contains(container.Formats(), s.Format)) &&
		s.Size >= 0 && (s.Problems == nil || *s.Problems >= 0)
}

// save keeps a survey on disk, of what could be read.
func (r *root) save(view archive.View, s *survey) {
	name := r.c.savedName(view)
	if name == "" || time.Since(r.saved) < saveEvery {
		return
	}
	r.saved = time.Now()
	b := make([]byte, 0, s.cost())
	b = append(b, catalogueVersion)
	for _, known := range s.records {
		if known.open {
			continue
		}
		for _, field := range []string{known.path, string(known.stamp.Append(nil)), known.pending, known.lines, known.tables, known.runs} {
			b = binary.AppendUvarint(b, uint64(len(field)))
			b = append(b, field...)
		}
	}
	r.c.disk.Save(name, b)
}
