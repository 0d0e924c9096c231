//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"fmt"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// The benchmarks do what a server does for one request, without the kernel.

func BenchmarkReadDir(b *testing.B) {
	const files = 10_000
	r := newServer(ticks(files), &Options{})
	buf := make([]byte, 32<<10)
	for b.Loop() {
		in := &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: rootID}}
		for in.Offset < files {
			list := fuse.NewDirEntryList(buf, in.Offset)
			if status := r.ReadDir(nil, in, list); status != fuse.OK {
				b.Fatal(status)
			}
			in.Offset = list.Offset
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files, "ns/entry")
}

func BenchmarkLookup(b *testing.B) {
	const files = 10_000
	r := newServer(ticks(files), &Options{})
	names := make([]string, files)
	for i := range names {
		names[i] = fmt.Sprintf("%08d.json", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		var out fuse.EntryOut
		if status := r.Lookup(nil, &fuse.InHeader{NodeId: rootID}, names[i%files], &out); status != fuse.OK || out.NodeId == 0 {
			b.Fatal(status)
		}
	}
}

func BenchmarkReadSmall(b *testing.B) {
	const files = 10_000
	r := newServer(ticks(files), &Options{})
	buf := make([]byte, 4096)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in := &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: rootNumber<<indexBits | uint64(i%files+1)}}
		if _, status := r.Read(nil, in, buf); status != fuse.OK {
			b.Fatal(status)
		}
	}
}
