//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"recfs/nodes"
)

// A tree is what the mount and its floor serve: files, a directory of so many of some hundred
// bytes, and raw, the source byte for byte.
type tree struct {
	files  int
	source *os.File
	size   int64
}

const record = `{"tick":%d,"players":[{"cid":0,"x":1488,"y":%[1]d,"dx":-12,"dy":0,"input":{"direction":1,"jump":0,"fire":%[1]d,"hook":0}},` +
	`{"cid":1,"x":%[1]d,"y":977,"dx":0,"dy":4,"input":{"direction":0,"jump":1,"fire":14,"hook":1}}],"messages":[]}` + "\n"

// recordSize is the length of record with a number of one digit.
var recordSize = len(fmt.Sprintf(record, 0))

func content(n int) []byte { return fmt.Appendf(make([]byte, 0, recordSize+32), record, n) }

func contentSize(n int) int64 {
	const numbers = 4 // in a record
	return int64(recordSize + numbers*(len(strconv.Itoa(n))-1))
}

// house mounts the tree, made of the constructors that formats use.
func (t tree) house(mnt string) (func() error, error) {
	raw := nodes.Entry{Name: "raw", File: nodes.Section(nodes.Unbound(t.source), 0, t.size)}
	return serveNodes(nodes.List(nodes.Entry{Name: "files", Dir: manyFiles(t.files)}, raw))(mnt)
}

// manyFiles are files whose sizes are known.
func manyFiles(n int) nodes.Dir {
	return &nodes.Series{Width: 8, Suffix: ".json", N: n, File: func(n int64) nodes.File {
		return nodes.Sized(contentSize(int(n)), func(context.Context) ([]byte, error) { return content(int(n)), nil })
	}}
}
