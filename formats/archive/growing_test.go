package archive

import (
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A recording is taken to be written for a moment after each write, and for long if it was seen to
// grow.
func TestRunning(t *testing.T) {
	a := &Archive{growths: cache.NewRecent[string, growth](maxGrowths)}
	at := func(ago time.Duration, size int64, inode uint64) source.Version {
		when := time.Now().Add(-ago)
		return source.Version{Dev: 1, Stamp: formats.Stamp{
			Size: size, Modified: when.Unix(), Nanos: int64(when.Nanosecond()), Inode: inode, Born: 7,
		}}
	}
	grown := at(10*time.Minute, 6, 1)
	for _, look := range []struct {
		what string
		v    source.Version
		want bool
	}{
		{"just written", at(time.Second, 5, 1), true},
		{"the same at rest", at(time.Minute, 5, 1), false},
		{"grown", grown, true},
		{"as it was", grown, true},
		{"at rest for long", at(2*time.Hour, 7, 1), false},
		{"touched", at(time.Minute, 7, 1), true},
		{"shorter", at(time.Minute, 3, 1), false},
		{"longer again", at(time.Minute, 9, 1), true},
		{"another file", at(time.Minute, 10, 2), false},
		{"of the future", at(-time.Hour, 10, 2), false},
		{"of last week", at(7*24*time.Hour, 99, 2), false},
	} {
		if got := a.running("x", look.v); got != look.want {
			t.Errorf("%s: %v", look.what, got)
		}
	}
}

// A name of which it is known that there is another file now, or a shorter one, was replaced.
func TestReplaces(t *testing.T) {
	old := source.Version{Dev: 1, Stamp: formats.Stamp{Size: 5, Changed: 100, Inode: 7, Born: 70}}
	for what, c := range map[string]struct {
		change func(v *source.Version)
		want   bool
	}{
		"grown":         {func(v *source.Version) { v.Size, v.Changed = 9, 101 }, false},
		"linked":        {func(v *source.Version) { v.Changed, v.Links = 101, 2 }, false},
		"cut":           {func(v *source.Version) { v.Size, v.Changed = 3, 101 }, true},
		"another":       {func(v *source.Version) { v.Inode, v.Born = 8, 80 }, true},
		"same number":   {func(v *source.Version) { v.Born = 80 }, true},
		"birth unknown": {func(v *source.Version) { v.Inode, v.Born = 8, 0 }, false},
	} {
		now := old
		c.change(&now)
		files := func(v source.Version) (list [3]nodes.Grower) {
			r := recording{key: recordingKey{path: "a.rec", v: v}}
			return [...]nodes.Grower{plainFile{key: source.FileKey{Path: "a", Version: v}}, r, childFile{nodes.DeferredFile[fileRef]{Target: fileRef{child{top: r, path: "log"}}}}}
		}
		for i, f := range files(now) {
			if got := f.Since(files(old)[i]) == nodes.Replaced; got != c.want {
				t.Errorf("%s: %T %v", what, f, got)
			}
		}
	}
}
