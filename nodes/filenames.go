package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// A FileName is the name of a file of the i-th thing that a directory shows.
type FileName struct {
	Name string
	I    int
}

type fileNames struct {
	names []FileName
	file  func(FileName) File
}

// FileNames is List for a directory of very many files: file makes each when it is asked for. cost
// is about how much memory the names take.
func FileNames(names []FileName, file func(FileName) File) (dir Dir, cost int64) {
	const text = 24 // about how long a name is, of which an allocation takes twice as much
	slices.SortStableFunc(names, func(a, b FileName) int { return strings.Compare(a.Name, b.Name) })
	names = slices.CompactFunc(names, func(a, b FileName) bool { return a.Name == b.Name })
	return &fileNames{names, file}, int64(cap(names)) * (int64(unsafe.Sizeof(FileName{})) + 2*text)
}

// Len implements Dir.
func (f *fileNames) Len(context.Context) (int, error) { return len(f.names), nil }

// At implements Dir.
func (f *fileNames) At(_ context.Context, i int) (Entry, error) {
	if i < 0 || i >= len(f.names) {
		return Entry{}, NotExist("find", fmt.Sprint(i))
	}
	return Entry{Name: f.names[i].Name, File: f.file(f.names[i])}, nil
}

// Find implements Dir.
func (f *fileNames) Find(_ context.Context, name string) (int, error) {
	i, ok := slices.BinarySearchFunc(f.names, name, func(n FileName, name string) int { return strings.Compare(n.Name, name) })
	if !ok {
		return 0, NotExist("find", name)
	}
	return i, nil
}
