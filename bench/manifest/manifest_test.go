//go:build linux

package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// example is a manifest with what is hard to write in a line.
func example() *manifest {
	file, link, failed := newRecord(kindFile), newRecord(kindLink), newRecord(kindFile)
	file[colSize], file[colMtime], file[colSum] = "12", "2026-01-02T03:04:05.0000006Z", "ab01"
	link[colSum] = "to\xffnowhere"
	failed[colError] = "EIO"
	return &manifest{"every file", map[string]record{
		"a\tb \"c\"\n": file, "link": link, `"quoted"`: failed, ".": newRecord(kindDir),
	}}
}

func TestParseWhatWasWritten(t *testing.T) {
	want := example()
	var b bytes.Buffer
	if err := want.write(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 2+len(want.records) {
		t.Errorf("%d lines for %d records:\n%s", n, len(want.records), &b)
	}
	got, err := parseManifest(b.String())
	if err != nil {
		t.Fatal(err)
	}
	if got.rule != want.rule || !maps.Equal(got.records, want.records) {
		t.Errorf("read back as %v, was %v", got, want)
	}
	for _, bad := range []string{"", "README\n", magic + "\n# every file\na\tfile\n", b.String() + "\"a\tfile\t-\t-\t-\t-\t-\t-\n"} {
		if m, err := parseManifest(bad); err == nil {
			t.Errorf("%q is read as %v", bad, m)
		}
	}
}

func TestCompare(t *testing.T) {
	of := func(size, mtime string) record {
		r := newRecord(kindFile)
		r[colSize], r[colMtime] = size, mtime
		return r
	}
	before := &manifest{records: map[string]record{"a": of("1", "x"), "b": of("1", "x"), "c": of("1", "x"), "d": of("5", "x")}}
	after := &manifest{records: map[string]record{"b": of("1", "y"), "c": of("2", "y"), "d": of("5", "x"), "e": of("1", "x")}}
	for _, test := range []struct {
		ignore, want string
	}{
		{"", "- a\tfile\n! b\tmtime y, was x\n! c\tsize 2, was 1\tmtime y, was x\n+ e\tfile\n1 same, 1 added, 1 removed, 2 changed: size of 1, mtime of 2\n"},
		{"inode,mtime", "- a\tfile\n! c\tsize 2, was 1\n+ e\tfile\n2 same, 1 added, 1 removed, 1 changed: size of 1\n"},
		{"size,mtime", "- a\tfile\n+ e\tfile\n3 same, 1 added, 1 removed, 0 changed\n"},
	} {
		ignored, err := parseColumns(test.ignore)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		tally := compare(&out, before, after, ignored)
		fmt.Fprintln(&out, tally)
		if out.String() != test.want || !tally.differ() {
			t.Errorf("ignoring %q:\n%s\nwant\n%s", test.ignore, &out, test.want)
		}
	}
	if tally := compare(&bytes.Buffer{}, before, before, nil); tally.differ() {
		t.Errorf("a manifest differs from itself: %s", tally)
	}
	if _, err := parseColumns("sizes"); err == nil {
		t.Error("a column that is not there is taken")
	}
}

// The choice depends on the names alone, takes both ends and as many as were asked for, and hardly
// changes when a name is added.
func TestSample(t *testing.T) {
	s := sampler{most: 32}
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("%08d.json", i))
	}
	noDir := func(string) bool { return false }
	if !s.large(names, noDir) || s.large(names[:32], noDir) || s.large(names, func(name string) bool { return name == names[5] }) {
		t.Error("other directories are large than those of many files and nothing else")
	}
	if (sampler{}).large(names, noDir) {
		t.Error("without a limit a directory is large")
	}
	chosen := s.choose(names)
	if len(chosen) != 32 || !slices.IsSorted(chosen) || chosen[0] != names[0] || chosen[31] != names[999] {
		t.Errorf("chosen: %q", chosen)
	}
	shared := 0
	for _, name := range s.choose(append(names, "00001000.json")) {
		if slices.Contains(chosen, name) {
			shared++
		}
	}
	if shared < 29 {
		t.Errorf("with one name more only %d are chosen again", shared)
	}
}
