package export_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recfs/formats/datafile"
	"recfs/formats/echo"
	"recfs/formats/hcrp"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/nethack"
	"recfs/formats/teehistorian"
)

// TestContract holds that tables have the columns of docs/tree/tables.md in that order, with their
// types.
func TestContract(t *testing.T) {
	contract := readContract(t)
	x := newTarget(t, "../../testdata/archive", formatstest.NewCache(t),
		hcrp.New(hcrp.Options{}), datafile.New(datafile.Options{}), nethack.Format, teehistorian.Format, echo.NewButter(echo.Options{}))
	for format, at := range map[string]string{
		"teehistorian": "teehistorian/reload-20.1.teehistorian", "butter": "butter/arena_v1_gzip.butter", "nethack": "nethack/small.nhgame",
		"datafile": "datafile/maps/new.map", "hcrp": "hcrp/design-snapshot.hcrp",
	} {
		for _, f := range x.export(t.Context(), at) {
			var got []string
			for _, c := range read(t, f.File).Columns {
				got = append(got, c.Name+" "+c.Type)
			}
			want := contract[format+"/"+f.Table]
			origins := []string{"recording text", "start TIMESTAMP?"}
			if format == "datafile" {
				origins = origins[:1]
			}
			if n := len(origins); !slices.Equal(got[:n], origins) {
				t.Errorf("%s: %s begins with %q", format, f.Table, got[:n])
			}
			got = got[len(origins):]
			if want.inWords {
				got = got[:min(len(got), len(want.columns))]
			}
			if !slices.Equal(got, want.columns) {
				t.Errorf("%s: %s has %q, want %q", format, f.Table, got, want.columns)
			}
		}
	}
}

// contractColumns are the columns of a table with their types. Those that follow may be told in
// words.
type contractColumns struct {
	columns []string
	inWords bool
}

var (
	contractSection = regexp.MustCompile(`^## [2-6]\. (\w+)`)
	contractRow     = regexp.MustCompile("^\\| `(\\w+)` \\|.*\\| (.*) \\|$")
	contractNote    = regexp.MustCompile(` \([^()]*\)`)
	contractIntro   = regexp.MustCompile("^(its|the) keys.*?: ")
	contractRun     = regexp.MustCompile("^(?:and )?((?:`\\w+`\\??(?: |$))+)(?:([A-Z0-9]+|text)(\\??))?$")
	contractName    = regexp.MustCompile("`(\\w+)`(\\??)")
)

// readContract returns the columns by format and table.
func readContract(t *testing.T) map[string]contractColumns {
	t.Helper()
	doc, err := os.ReadFile("../../docs/tree/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	all, format := map[string]contractColumns{}, ""
	for line := range strings.Lines(string(doc)) {
		line = strings.TrimSpace(line)
		if m := contractSection.FindStringSubmatch(line); m != nil {
			format = strings.ToLower(m[1])
		}
		if m := contractRow.FindStringSubmatch(line); m != nil {
			all[format+"/"+m[1]] = readColumns(m[2])
		}
	}
	return all
}

// readColumns reads a list of columns. Names that only a blank parts have one type; one is that of
// most columns of its name if there is none.
func readColumns(cell string) (c contractColumns) {
	cell, _, _ = strings.Cut(contractIntro.ReplaceAllString(contractNote.ReplaceAllString(cell, ""), ""), ";")
	for run := range strings.SplitSeq(cell, ", ") {
		m := contractRun.FindStringSubmatch(run)
		if m == nil {
			return contractColumns{c.columns, true}
		}
		for _, name := range contractName.FindAllStringSubmatch(m[1], -1) {
			kind := m[2]
			switch {
			case kind != "":
			case name[1] == "tick":
				kind = "INT64"
			case name[1] == "time":
				kind = "TIMESTAMP"
			default:
				kind = "INT32"
			}
			c.columns = append(c.columns, name[1]+" "+kind+m[3]+name[2])
		}
	}
	return c
}
