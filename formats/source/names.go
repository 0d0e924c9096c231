package source

import (
	"errors"
	iofs "io/fs"
	"math"
	"slices"
	"sort"
	"strings"
)

// A Name is a name in a directory with its type.
type Name struct {
	Name string
	Type iofs.FileMode
}

// NewNames returns the names in a directory, of which list is all that lies there. It sorts list.
func NewNames(dir string, list []Name) (Names, error) {
	list = slices.DeleteFunc(list, func(n Name) bool { return !shown(n.Type) })
	slices.SortFunc(list, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	size := 0
	for _, n := range list {
		size += len(n.Name)
	}
	if int64(size) > math.MaxUint32 {
		return nil, &iofs.PathError{Op: "readdir", Path: dir, Err: errors.ErrUnsupported}
	}
	l := &nameList{ends: make([]uint32, len(list)), types: make([]nameType, len(list))}
	var text strings.Builder
	text.Grow(size)
	for i, n := range list {
		text.WriteString(n.Name)
		l.ends[i], l.types[i] = uint32(text.Len()), typeOf(n.Type)
	}
	l.text = text.String()
	return l, nil
}

// shown reports whether what has that type is shown: sockets, devices and fifos are not.
func shown(typ iofs.FileMode) bool {
	return typ == 0 || typ == iofs.ModeDir || typ == iofs.ModeSymlink
}

// A nameList is Names of a directory that is asked for the rest.
type nameList struct {
	text  string // the names end to end
	ends  []uint32
	types []nameType
}

// A nameType is a type in a byte: a directory may hold millions.
type nameType uint8

const (
	fileName nameType = iota
	dirName
	linkName
)

func typeOf(typ iofs.FileMode) nameType {
	switch typ {
	case iofs.ModeDir:
		return dirName
	case iofs.ModeSymlink:
		return linkName
	}
	return fileName
}

func (t nameType) mode() iofs.FileMode {
	return [...]iofs.FileMode{fileName: 0, dirName: iofs.ModeDir, linkName: iofs.ModeSymlink}[t]
}

func (l *nameList) Len() int { return len(l.ends) }

func (l *nameList) At(i int) (string, iofs.FileMode) { return l.name(i), l.types[i].mode() }

func (l *nameList) name(i int) string {
	start := uint32(0)
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.text[start:l.ends[i]]
}

func (l *nameList) Find(name string) (int, bool) {
	return sort.Find(len(l.ends), func(i int) int { return strings.Compare(name, l.name(i)) })
}

func (l *nameList) Info(int) (Info, bool) { return Info{}, false }

func (l *nameList) Cost() int64 { return int64(len(l.text) + 5*len(l.ends)) }
