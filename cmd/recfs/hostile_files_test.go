package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// corpusNames are what a fuzzed input of a package is called, by a part of its path.
var corpusNames = map[string][]string{
	"formats/datafile/":     {"x.map"},
	"formats/echo/":         {"x.butter", "x.echoreplay"},
	"formats/hcrp/":         {"x.hcrp", "preamble.dat"},
	"formats/nethack/":      {"x.nhgame"},
	"formats/teehistorian/": {"x.teehistorian"},
	"formats/internal/":     {"x.hcrp.zst", "x.map.gz", "x.tar.xz", "x.tar.bz2"},
	"formats/testdata/":     {"x.tar", "x.tar.gz", "x.zip", "x.hcrp.gz", "x.map.zst", "x.nhgame.xz", "x.teehistorian.bz2", "x.butter"},
	"cmd/recfs/":            {"x.tar", "x.zip", "x.teehistorian", "x.hcrp", "x.map", "x.nhgame", "x.butter.zst", "preamble.dat"},
}

// fuzzCorpora writes what fuzzing has found in any package, under names that lead to its decoders.
func fuzzCorpora(t *testing.T, dir string) {
	files, err := filepath.Glob("../../formats/*/testdata/fuzz/*/*")
	for _, pattern := range []string{"../../formats/testdata/fuzz/*/*", "../../formats/internal/*/testdata/fuzz/*/*", "../../cmd/recfs/testdata/fuzz/*/*"} {
		more, globErr := filepath.Glob(pattern)
		if files = append(files, more...); globErr != nil {
			err = globErr
		}
	}
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files of corpora, %v", len(files), err)
	}
	written := 0
	for i, file := range files {
		for part, names := range corpusNames {
			if !strings.HasPrefix(filepath.ToSlash(file), "../../"+part) {
				continue
			}
			for _, name := range names {
				writeNew(t, filepath.Join(dir, fmt.Sprintf("%03d", i), name), corpusBytes(t, file))
				written++
			}
		}
	}
	if written < len(files) {
		t.Errorf("%d files of %d were written", written, len(files))
	}
}

// corpusBytes returns the longest value of an input in the encoding of package testing.
func corpusBytes(t *testing.T, file string) (longest []byte) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		_, quoted, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "(")
		if value, err := strconv.Unquote(strings.TrimSuffix(quoted, ")")); ok && err == nil && len(value) > len(longest) {
			longest = []byte(value)
		}
	}
	return longest
}

func writeNew(t *testing.T, name string, content []byte) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// A member is one of a hostile container.
type member struct {
	name, link string
	kind       byte // of tar; zip has only files, directories and links
	content    string
	claimed    int64 // size beyond that of content
}

// hostileMembers are sets of members, each a container.
func hostileMembers() map[string][]member {
	run := "HCRP\x00\x04 that ends"
	bomb := string(gzipped(make([]byte, 64<<20))) // more would be refused
	return map[string][]member{
		"names": {
			{name: "../../../../../up.hcrp", content: run},
			{name: "/absolute.hcrp", content: run},
			{name: "a//b/./c/../d.hcrp", content: run},
			{name: "..", content: run},
			{name: ".", kind: tar.TypeDir},
			{name: "", content: run},
			{name: "not\xff\xfeutf8.hcrp", content: run},
			{name: "line\nend\x1b[31m\r.hcrp", content: run},
			{name: `back\slash:colon.hcrp`, content: run},
			{name: strings.Repeat("n", 255) + ".hcrp", content: run},
			{name: strings.Repeat("n", 4000), content: run},
			{name: strings.Repeat("deep/", 1500) + "x.hcrp", content: run},
			{name: ".recfs/stats.json", content: run},
			{name: "recordings.jsonl", content: run},
			{name: "error.txt", content: run},
			{name: "x.hcrp/raw", content: run},
			{name: "x.hcrp", content: run},
		},
		"duplicates": {
			{name: "same.hcrp", content: run},
			{name: "same.hcrp", content: "another"},
			{name: "./same.hcrp", kind: tar.TypeDir},
			{name: "same.hcrp/below.hcrp", content: run},
			{name: "dir", kind: tar.TypeDir},
			{name: "dir", link: "dir", kind: tar.TypeSymlink},
		},
		"links": {
			{name: "self", link: "self", kind: tar.TypeSymlink},
			{name: "ping", link: "pong", kind: tar.TypeSymlink},
			{name: "pong", link: "ping", kind: tar.TypeSymlink},
			{name: "here", link: ".", kind: tar.TypeSymlink},
			{name: "out", link: "../../../../../etc", kind: tar.TypeSymlink},
			{name: "root", link: "/", kind: tar.TypeSymlink},
			{name: "empty", link: "", kind: tar.TypeSymlink},
			{name: "nul", link: "a\x00b", kind: tar.TypeSymlink},
			{name: "long", link: strings.Repeat("l", 5000), kind: tar.TypeSymlink},
			{name: "notutf8.hcrp", link: "\xff\xfe", kind: tar.TypeSymlink},
			{name: "run.hcrp", link: "run.hcrp/raw", kind: tar.TypeSymlink},
			{name: "hard-nothing.hcrp", link: "nothing.hcrp", kind: tar.TypeLink},
			{name: "hard-self.hcrp", link: "hard-self.hcrp", kind: tar.TypeLink},
			{name: "hard-empty.hcrp", link: "", kind: tar.TypeLink},
			{name: "hard-link.hcrp", link: "self", kind: tar.TypeLink},
			{name: "hard-dir.hcrp", link: "here", kind: tar.TypeLink},
		},
		"everywhere": everywhere(),
		"devices": {
			{name: "null.hcrp", kind: tar.TypeChar},
			{name: "block.hcrp", kind: tar.TypeBlock},
			{name: "fifo.hcrp", kind: tar.TypeFifo},
			{name: "unknown.hcrp", kind: 'Q'},
		},
		"huge":       {{name: "huge.hcrp", content: run, claimed: 1 << 50}},
		"huge-plain": {{name: "huge.txt", content: run, claimed: 1 << 62}},
		"huge-tar":   {{name: "inner.tar", content: strings.Repeat("\x00", 512), claimed: 1 << 40}},
		"bomb": {
			{name: "bomb.hcrp.gz", content: bomb},
			{name: "bomb.tar.gz", content: bomb},
		},
	}
}

// everywhere is ten directories with links to each other: a walk that enters them does not end.
func everywhere() (all []member) {
	for i := range 10 {
		all = append(all, member{name: fmt.Sprintf("d%d", i), kind: tar.TypeDir})
		for j := range 10 {
			all = append(all, member{name: fmt.Sprintf("d%d/to%d", i, j), link: fmt.Sprintf("../d%d", j), kind: tar.TypeSymlink})
		}
	}
	return all
}

// hostileContainers writes every set as tar, compressed tar and zip, whole and cut, and containers
// in containers, one deeper than is shown.
func hostileContainers(t *testing.T, dir string) {
	for name, members := range hostileMembers() {
		asTar, asZip := tarOf(members), zipOf(t, members)
		asTgz := gzipped(asTar)
		writeNew(t, filepath.Join(dir, name+".tar"), asTar)
		writeNew(t, filepath.Join(dir, name+".tgz"), asTgz)
		writeNew(t, filepath.Join(dir, name+".zip"), asZip)
		if name == "bomb" {
			continue // each takes long, and all others are cut
		}
		writeNew(t, filepath.Join(dir, name+"-cut.tar"), asTar[:len(asTar)*2/3])
		writeNew(t, filepath.Join(dir, name+"-cut.tar.gz"), asTgz[:len(asTgz)*2/3])
		writeNew(t, filepath.Join(dir, name+"-cut.zip"), asZip[len(asZip)/3:])
	}
	linksOnDisk(t, filepath.Join(dir, "links"))
	content := []byte("HCRP")
	for depth, name := 1, "x.hcrp"; depth <= 5; depth++ {
		content = tarOf([]member{{name: name, content: string(content)}})
		if name = fmt.Sprintf("%d.tar", depth); depth%2 == 0 {
			content, name = gzipped(content), name+".gz"
		}
		writeNew(t, filepath.Join(dir, "nested", name), content)
	}
}

// linksOnDisk makes directories with links to each other, and links that loop and lead out.
func linksOnDisk(t *testing.T, dir string) {
	links := append(everywhere(), member{name: "self.hcrp", link: "self.hcrp"}, member{name: "above.hcrp", link: "../.."},
		member{name: "root", link: "/"}, member{name: "run.hcrp", link: "run.hcrp/raw"}, member{name: "preamble.dat", link: "preamble.dat"})
	for _, m := range links {
		at := filepath.Join(dir, m.name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if m.kind == tar.TypeDir {
			continue
		}
		if err := os.Symlink(m.link, at); err != nil {
			t.Fatal(err)
		}
	}
}

// tarOf writes members as they are, also where package tar would refuse. It has no end if the last
// one claims more than it has.
func tarOf(members []member) []byte {
	var b bytes.Buffer
	for _, m := range members {
		kind := m.kind
		if kind == 0 {
			kind = tar.TypeReg
		}
		if len(m.name) > 100 {
			tarMember(&b, "././@LongLink", "", 'L', m.name, 0)
		}
		if len(m.link) > 100 {
			tarMember(&b, "././@LongLink", "", 'K', m.link, 0)
		}
		tarMember(&b, m.name, m.link, kind, m.content, m.claimed)
	}
	b.Write(make([]byte, 1024))
	return b.Bytes()
}

// tarMember writes a header of 512 bytes and content, filled up to a multiple of that. The fields
// of the header: name 100 bytes, mode, owner, group 8, size, time 12, checksum 8, kind 1, link 100,
// magic 8.
func tarMember(b *bytes.Buffer, name, link string, kind byte, content string, claimed int64) {
	h := make([]byte, 512)
	copy(h[:100], name)
	copy(h[100:], "0000644\x000000000\x000000000\x00")
	copy(h[124:136], fmt.Sprintf("%011o", len(content)))
	if size := uint64(len(content)) + uint64(claimed); claimed > 0 { // in base 256, marked by the first bit
		for i := range 8 {
			h[135-i] = byte(size >> (8 * i))
		}
		copy(h[124:128], "\x80\x00\x00\x00")
	}
	copy(h[136:148], "14000000000")
	copy(h[148:156], "        ")
	h[156] = kind
	copy(h[157:257], link)
	copy(h[257:], "ustar  \x00")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:156], fmt.Sprintf("%06o\x00 ", sum))
	b.Write(h)
	b.WriteString(content)
	b.Write(make([]byte, -len(content)&511))
}

// zipOf writes what a zip can hold of members.
func zipOf(t *testing.T, members []member) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Store}
		content := m.content
		switch m.kind {
		case tar.TypeDir:
			h.Name += "/"
		case tar.TypeSymlink:
			h.SetMode(os.ModeSymlink | 0o777)
			content = m.link
		default:
			h.SetMode(0o644)
		}
		h.UncompressedSize64 = uint64(int64(len(content)) + m.claimed)
		h.CompressedSize64 = h.UncompressedSize64
		w, err := z.CreateRaw(h)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}
