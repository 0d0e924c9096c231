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
	folder string // KEY=VALUE, "" for none
	name   string
	shard  Shard // of the name, as is number
	number int
	info   os.FileInfo
	lines  []line
	units  []unit
	rows   *parquet.Reader // of its footer
}

// at returns where a part lies.
func (p *part) at() string { return filepath.Join(p.path, p.folder, p.name) }

// told returns what is told of a part with so many recordings.
func (p *part) told(recordings int) *File {
	f := newFile(p.format, p.table, p.at())
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
	p := &part{tableDir: d, folder: folder, name: name}
	f, err := openRegular(p.at())
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
	p := &part{tableDir: d, name: name}
	r, closeFile, err := openRows(p.at())
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
	p.rows, p.lines, p.units = r, []line{l}, []unit{{0, r.Groups(), 0, 1}}
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

// A unit is row groups that were made together: one of whole recordings, or those of a large one
// alone. Recordings without rows that lie beside a large one are a unit of no row groups.
type unit struct {
	group, groups int
	line, lines   int
}

// size returns how large a unit is.
func (p *part) size(u unit) (n size) {
	for g := range u.groups {
		n = n.plus(size{int64(p.rows.Rows(u.group + g)), p.rows.Plain(u.group + g)})
	}
	return n
}

// each calls fn for each line, with the entry of its rows.
func (p *part) each(fn func(i int, e *entry)) {
	for _, u := range p.units {
		all, row := p.size(u), int64(0)
		for i := u.line; i < u.line+u.lines; i++ {
			l := &p.lines[i]
			bytes := int64(float64(all.bytes) * float64(l.Rows) / float64(max(all.rows, 1)))
			fn(i, &entry{line: l, rows: l.Rows, bytes: bytes, old: oldRows{p.at(), l, u.group, u.groups, row, all.bytes}})
			row += l.Rows
		}
	}
}

// place finds the lines of the row groups.
func (p *part) place() bool {
	i := 0
	for g := 0; g < p.rows.Groups(); {
		u := unit{group: g, line: i}
		n := int64(p.rows.Rows(g)) // that are of no line yet
		for g++; n > 0 && i < len(p.lines); i++ {
			rows := p.lines[i].Rows
			if rows > n {
				if n != int64(p.rows.Rows(u.group)) {
					return false
				}
				p.units = append(p.units, unit{line: u.line, lines: i - u.line})
				u.line = i
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
		u.groups, u.lines = g-u.group, i-u.line
		p.units = append(p.units, u)
	}
	if last := len(p.units) - 1; last >= 0 && p.units[last].groups == 1 {
		p.units[last].lines = len(p.lines) - p.units[last].line
	} else {
		p.units = append(p.units, unit{line: i, lines: len(p.lines) - i})
	}
	return !slices.ContainsFunc(p.lines[i:], func(l line) bool { return l.Rows > 0 })
}
