package source

import (
	iofs "io/fs"
	"slices"
	"strings"
)

// A Name is a name in a directory with its type.
type Name struct {
	Name string
	Type iofs.FileMode
}

// NewNames returns the names in a directory. list is all that lies there: sockets, devices and
// fifos are not shown. It keeps list, and sorts it.
func NewNames(list []Name) Names {
	list = slices.DeleteFunc(list, func(n Name) bool { return n.Type != 0 && n.Type != iofs.ModeDir && n.Type != iofs.ModeSymlink })
	slices.SortFunc(list, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	return &nameList{list}
}

// A nameList is Names of a directory that is asked for the rest.
type nameList struct{ list []Name }

func (l *nameList) Len() int { return len(l.list) }

func (l *nameList) At(i int) (string, iofs.FileMode) { return l.list[i].Name, l.list[i].Type }

func (l *nameList) Find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.list, name, func(n Name, name string) int { return strings.Compare(n.Name, name) })
}

func (l *nameList) Info(int) (Info, bool) { return Info{}, false }

func (l *nameList) Cost() (n int64) {
	for _, name := range l.list {
		n += int64(len(name.Name)) + nameCost
	}
	return n
}

// nameCost is what a name takes in memory besides its text, whose size is rounded up.
const nameCost = 24 + 8
