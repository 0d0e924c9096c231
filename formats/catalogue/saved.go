package catalogue

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"time"

	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
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
	return fmt.Sprintf("catalogue %x %x", layout, h.Sum(nil))
}

// saveEvery is how often a process saves the catalogue on disk. What changed
// since is opened again by the next one.
const saveEvery = time.Minute

// loadSaved returns the catalogue on disk, an empty one if there is none.
func (c *Catalogue) loadSaved(view archive.View) *survey {
	list := view.Formats()
	sound := func(records []ledger.Record) bool {
		return !slices.ContainsFunc(records, func(r ledger.Record) bool { return !soundRecord(&r, list) })
	}
	return &survey{file: file{ledger.Load(c.disk, c.savedName(view), sound), c.pages}}
}

// soundRecord reports whether a saved record is one that a scan makes, with the line of what lies
// there. The checksum does not tell, as who can write to the cache can make it. Of one that is open
// nothing is shown.
func soundRecord(r *ledger.Record, list []formats.Format) bool {
	if r.Open || r.Line == "" {
		return r.Open || r.Outcome == "" && r.Beside == "" && r.Tables == nil
	}
	var s Summary
	if !strings.HasSuffix(r.Line, "\n") || strings.Count(r.Line, "\n") != 1 || json.Unmarshal([]byte(r.Line), &s) != nil || !s.sound(list) {
		return false
	}
	outcome, err := outcomeOf(r.Outcome)
	opens := s.Error == ""
	return s.place() == r.Path && iofs.ValidPath(strings.ToValidUTF8(r.Path, "_")) && err == nil && soundRunners(outcome.Runners) &&
		soundTables(r.Tables) && (opens && r.Format == s.Format || !opens && r.Format == "" && r.Tables == nil) && r.Indexed == (opens && s.Indexed)
}

// sound reports whether a summary is of a format of the list or of a damaged container, and counts
// what can be counted.
func (s *Summary) sound(list []formats.Format) bool {
	known := slices.ContainsFunc(list, func(f formats.Format) bool { return f.Name == s.Format })
	return (known || s.IsContainer()) &&
		s.Size >= 0 && (s.Problems == nil || *s.Problems >= 0)
}
