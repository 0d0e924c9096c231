//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"recfs/nodes"
)

// Both filesystems serve this tree:
//
//	large/00000000.json …   files of some hundred bytes
//	raw                     the source file, byte for byte
//	small/00000000.json …   fewer such files

// directories in the order in which they are listed.
func directories() []directory { return []directory{{"large", *large}, {"small", *small}} }

type directory struct {
	name  string
	files int
}

const record = `{"tick":%d,"players":[{"cid":0,"x":1488,"y":%[1]d,"dx":-12,"dy":0,"input":{"direction":1,"jump":0,"fire":%[1]d,"hook":0}},` +
	`{"cid":1,"x":%[1]d,"y":977,"dx":0,"dy":4,"input":{"direction":0,"jump":1,"fire":14,"hook":1}}],"messages":[]}` + "\n"

// recordSize is the length of record with a number of one digit.
var (
	recordNumbers = 4
	recordSize    = len(fmt.Sprintf(record, 0))
)

func content(n int) []byte { return fmt.Appendf(make([]byte, 0, recordSize+32), record, n) }

func contentSize(n int) int64 {
	return int64(recordSize + recordNumbers*(len(strconv.Itoa(n))-1))
}

// houseTree is the tree made of the constructors that formats use.
func houseTree(source io.ReaderAt, size int64) nodes.Dir {
	entries := []nodes.Entry{{Name: "raw", File: nodes.Section(nodes.Unbound(source), 0, size)}}
	for _, d := range directories() {
		entries = append(entries, nodes.Entry{Name: d.name, Dir: &nodes.Series{
			Suffix: ".json", Width: 8, N: d.files,
			File: func(n int64) nodes.File {
				return nodes.Sized(contentSize(int(n)), func(context.Context) ([]byte, error) { return content(int(n)), nil })
			},
		}})
	}
	return nodes.List(entries...)
}
