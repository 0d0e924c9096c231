package export_test

import (
	"path/filepath"
	"strings"
	"testing"

	"recfs/formats/export"
	"recfs/formats/internal/testing/formatstest"
)

// TestNulls holds that the table over all recordings has their rows also where some can be null
// in a part of the recordings only, in whichever order these come, and row groups are copied.
func TestNulls(t *testing.T) {
	export.SetLimit(t, limitRows, 1<<20)
	files := map[string]string{
		"a.rec": "no nulls", "b.rec": "e", "c.rec": strings.Repeat("no", 3*limitRows), "d.rec": strings.Repeat("ye", 3*limitRows), "f.rec": "none",
	}
	for first, other := range files {
		for _, merge := range []bool{false, true} {
			l := newLake(t, 1, export.ByNone, 1<<20)
			form := export.Form{Merge: merge}
			if merge {
				form.By = export.ByNone
			}
			to, err := export.OpenDestination(l.dir, l.source, form, export.Shard{I: 1, N: 1}, []string{"rec"})
			if err != nil {
				t.Fatal(err)
			}
			defer to.Close()
			x := &target{t: t, dir: l.dir, root: l.root}
			if x.Exporter, err = export.New(l.dir, formatstest.NewCache(t), 1); err != nil {
				t.Fatal(err)
			}
			add := func(name, content string) {
				l.files[name] = content
				put(t, filepath.Join(l.source, name), content)
				if !merge {
					x.export(t.Context(), name)
				}
			}
			look := func() {
				if merge {
					if err := l.merge(export.Shard{I: 1, N: 1}, false, 0); err != nil {
						t.Fatal(err)
					}
				}
				all := &export.Lake{Exporter: x.Exporter, To: to, Mode: 0o640, Alien: func(file string, err error) { t.Errorf("%s: %v", file, err) }}
				if err := all.Single(t.Context(), "rec", "bytes", false, nil); err != nil {
					t.Fatal(err)
				}
				got := map[string]string{}
				rows := read(t, filepath.Join(l.dir, "rec", "bytes.parquet"))
				for i, at := range rows.Columns[0].Values {
					got[at.(string)] += string(byteOf(rows.Columns[2].Values[i]))
				}
				for name, content := range l.files {
					if got[name] != content {
						t.Errorf("first %s, merge %v: %s has %q, want %q", first, merge, name, got[name], content)
					}
				}
			}
			add(first, other)
			look()
			for name, content := range files {
				add(name, content)
			}
			look()
			add("a.rec", "now there are nulls, too")
			add("b.rec", "and no")
			look()
		}
	}
}
