package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

// The version of a file is the same in another process, and another one when its source, or the
// options of the format, are others.
func TestVersions(t *testing.T) {
	dir, root := mount(t, map[string]string{
		"one.rec": "RECone", "plain": "text", "a.tar": string(formatstest.Tar(t, entry{"in/b.rec", "RECb"})),
	}, Options{})
	names := []string{"one.rec/body", "one.rec/raw", "plain", "a.tar/in/b.rec/body"}
	versions := func(root nodes.Dir) map[string]string {
		t.Helper()
		all := map[string]string{}
		for _, name := range names {
			w, err := nodes.FollowWay(t.Context(), nodes.Entry{Name: ".", Dir: root}, name)
			if err != nil {
				t.Fatal(err)
			}
			if all[name], err = w.Version(t.Context()); err != nil || all[name] == "" {
				t.Fatalf("%s: %q, %v", name, all[name], err)
			}
		}
		return all
	}
	again := func(change func([]formats.Format) []formats.Format) Root {
		return New(formatstest.OpenLocal(t, dir), change(testFormats), formatstest.NewCache(t), Options{})
	}
	first := versions(root)
	if now := versions(again(func(l []formats.Format) []formats.Format { return l })); fmt.Sprint(now) != fmt.Sprint(first) {
		t.Errorf("after a restart\n%v, it was\n%v", now, first)
	}
	other := versions(again(func(l []formats.Format) []formats.Format {
		l = append([]formats.Format{}, l...)
		for i := range l {
			l[i].Variant += "other"
		}
		return l
	}))
	for _, name := range names {
		raw := name == "plain" || name == "one.rec/raw"
		if same := other[name] == first[name]; same != raw {
			t.Errorf("%s: with other options the version is the same: %t", name, same)
		}
	}
	for _, name := range []string{"one.rec", "plain", "a.tar"} {
		formatstest.AppendTo(t, filepath.Join(dir, name), "\x00")
	}
	for name, v := range versions(root) {
		if v == first[name] {
			t.Errorf("%s: the same version of another source", name)
		}
	}
	one, err := root.(Root).File(t.Context(), "one.rec")
	if err != nil {
		t.Fatal(err)
	}
	names = []string{"raw", "body"}
	before := versions(one)
	if err := os.WriteFile(filepath.Join(dir, "one.rec"), []byte("RECtwo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, v := range versions(one) {
		if v == before[name] {
			t.Errorf("%s of the recording: the same version of another source", name)
		}
	}
}
