package catalogue

import (
	"io"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/butter"
	"recfs/formats/datafile"
	"recfs/formats/echoreplay"
	"recfs/formats/hcrp"
	"recfs/formats/internal/formatstest"
	"recfs/formats/internal/ledger"
	"recfs/formats/nethack"
	"recfs/formats/teehistorian"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestSavedLayout holds the digests of the samples, and records of them, to the number of the layout: so one who changes
// what indexes say or how large tables are learns here which number is to be raised.
func TestSavedLayout(t *testing.T) {
	const samples = "../../testdata/archive/"
	list := []formats.Format{hcrp.New(hcrp.Options{}), datafile.New(datafile.Options{}), nethack.Format, butter.New(butter.Options{}), echoreplay.Format, teehistorian.Format}
	nodestest.Saved(t, "testdata/saved.sums", layout, func(b []byte) []byte {
		dir := t.TempDir()
		write(t, dir, "sample", string(b))
		root := archive.New(formatstest.OpenLocal(t, dir), list, formatstest.NewCache(t), archive.Options{Sniff: true})
		e, err := nodes.Lookup(t.Context(), root, "sample")
		r, ok := archive.RecordingOf(e.Dir)
		if err != nil || !ok {
			t.Fatalf("the sample is not a recording, %v", err)
		}
		d, _, err := loadDigest(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		d.Stamp, d.Place = formats.Stamp{Size: 1, Modified: 2, Nanos: 3, Changed: 4, Born: 5, Inode: 6}, "sample"
		saved := encodeDigest(d)
		return append(saved, savedRecord(t, ledger.Record{
			Path: "sample", Stamp: d.Stamp, Inner: true, Pending: "index", Line: string(saved), Runs: runsOf(d.Runners), Beside: d.Beside,
			Format: r.Format().Name, Tables: d.Tables,
		})...)
	}, samples+"datafile/maps/*.map", samples+"hcrp/*.hcrp", samples+"nethack/*.nhgame", samples+"butter/*.butter",
		samples+"butter/*.echoreplay", samples+"teehistorian/*.teehistorian")
}

// savedRecord returns what the disk keeps of a list of one record.
func savedRecord(t *testing.T, r ledger.Record) []byte {
	disk := cache.NewDisk(t.TempDir(), 1<<20, nil)
	sink := ledger.NewSink(disk, "list")
	w := ledger.NewWriter(sink)
	w.Append(r)
	sink.Save(w.List(), true)
	f, err := disk.Open("list")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	saved, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}
