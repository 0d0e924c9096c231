package export

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"recfs/formats"
	"recfs/formats/internal/parquet"
)

// A part is a file with the rows of many recordings.
type part struct {
	tableDir
	folder  string // KEY=VALUE, "" for none
	last    string // name in its folder
	shard   Shard  // of that, as is number
	number  int
	info    os.FileInfo
	lines   []line
	entries []*entry        // of the lines
	rows    *parquet.Reader // of its footer
}

// at returns where in the directory a part lies.
func (p *part) at() string { return filepath.Join(p.path, p.folder, p.last) }

// told returns what is told of a part with so many recordings.
func (p *part) told(recordings int) *File {
	f := p.file(filepath.Join(p.folder, p.last))
	f.Recordings = &recordings
	return f
}

const (
	manifestKey   = "recfs.manifest"   // where in the file its manifest is: offset and bytes
	byKey         = "recfs.by"         // of a part, as in [Form]
	recordingsKey = "recfs.recordings" // how many it has
)

var partName = regexp.MustCompile(`^part-(?:(\d+)-(\d+)-)?(\d{6,9})\.parquet$`)

// numberOf returns the number of a part, and the shard that it is of.
func numberOf(name string) (s Shard, number int, ok bool) {
	m := partName.FindStringSubmatch(name)
	if m == nil {
		return s, 0, false
	}
	s = Shard{1, 1}
	if m[1] != "" {
		s.I, _ = strconv.Atoi(m[1])
		s.N, _ = strconv.Atoi(m[2])
	}
	number, _ = strconv.Atoi(m[3])
	return s, number, true
}

// nameOfPart returns the name of a part.
func nameOfPart(s Shard, number int) string {
	if s.N == 1 {
		return fmt.Sprintf("part-%06d%s", number, parquet.Extension)
	}
	return fmt.Sprintf("part-%d-%d-%06d%s", s.I, s.N, number, parquet.Extension)
}

// openPart reads the manifest of a part.
func openPart(d tableDir, folder, name, by string) (*part, error) {
	p := &part{tableDir: d, folder: folder, last: name}
	f, err := p.open(p.at())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p.shard, p.number, _ = numberOf(name)
	if p.info, err = f.Stat(); err == nil {
		err = p.read(f, by)
	}
	return p, err
}

// openOwn reads the footer of a file that has the rows of one recording: a part with one line.
func openOwn(d tableDir, name string) (*part, error) {
	p := &part{tableDir: d, last: name}
	r, closeFile, err := p.directory.rows(p.at())
	if err != nil {
		return nil, err
	}
	closeFile()
	l := lineOf(r.Metadata)
	at, ok := recordingOf(filepath.ToSlash(name), l.Recording)
	if !ok || l.Made == "" || !isOf(r.Metadata, d) {
		return nil, errAlien
	}
	l.Hex = formats.HexOf(at)
	for g := range r.Groups() {
		l.Rows += int64(r.Rows(g))
	}
	p.rows, p.lines = r, []line{l}
	p.add(0, r.Groups(), 1)
	return p, nil
}

// read reads the footer and the manifest.
func (p *part) read(f *os.File, by string) error {
	var err error
	if p.rows, err = parquet.NewReader(f, p.info.Size()); unread(err) != nil {
		return err
	} else if err != nil {
		return errAlien
	}
	m := p.rows.Metadata
	var offset, length int64
	if n, err := fmt.Sscanf(m[manifestKey]+"\n", "%d %d\n", &offset, &length); n != 2 || err != nil {
		return errAlien
	}
	if offset < p.rows.RowsEnd() || length < 0 || length > p.rows.FooterStart()-offset || length > maxManifest || !isOf(m, p.tableDir) || m[byKey] != by {
		return errAlien
	}
	packed := make([]byte, length)
	if _, err := f.ReadAt(packed, offset); err != nil {
		return err
	}
	if p.lines, err = readManifest(packed); err != nil || m[recordingsKey] != strconv.Itoa(len(p.lines)) || !p.place() {
		return errAlien
	}
	return nil
}

// unit returns the unit of some row groups.
func (p *part) unit(group, groups int) *unit {
	u := &unit{file: p.at(), group: group, groups: groups}
	for g := range groups {
		u.size = u.plus(size{int64(p.rows.Rows(group + g)), p.rows.Plain(group + g)})
	}
	return u
}

// add makes the entries of the lines up to one, whose rows are in some row groups.
func (p *part) add(group, groups, lines int) {
	u, row := p.unit(group, groups), int64(0)
	for i := len(p.entries); i < lines; i++ {
		l := &p.lines[i]
		bytes := int64(float64(u.bytes) * float64(l.Rows) / float64(max(u.rows, 1)))
		u.entries = append(u.entries, &entry{line: l, size: size{l.Rows, bytes}, from: u, row: row})
		row += l.Rows
	}
	p.entries = append(p.entries, u.entries...)
}

// place makes the entries of all lines. It reports whether the row groups are those of the lines.
func (p *part) place() bool {
	i := 0
	for g := 0; g < p.rows.Groups(); {
		group := g
		n := int64(p.rows.Rows(g)) // that are of no line yet
		for g++; n > 0 && i < len(p.lines); i++ {
			rows := p.lines[i].Rows
			if rows > n {
				if n != int64(p.rows.Rows(group)) {
					return false
				}
				p.add(group, 0, i)
				for ; rows > n && g < p.rows.Groups(); g++ {
					n += int64(p.rows.Rows(g))
				}
				if n != rows {
					return false
				}
			}
			n -= rows
		}
		if n > 0 {
			return false
		}
		end := i
		if g == p.rows.Groups() && g-group == 1 {
			end = len(p.lines)
		}
		p.add(group, g-group, end)
	}
	p.add(0, 0, len(p.lines))
	return !slices.ContainsFunc(p.lines[i:], func(l line) bool { return l.Rows > 0 })
}
