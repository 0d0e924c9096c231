package catalogue

import (
	"context"

	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/wire"
	"recfs/nodes"
)

// A tableRef is a table of one version of a recording, which lies at a path. It is a value.
type tableRef struct {
	r    *root
	dir  nodes.Dir // of the recording
	path string
	name string
}

// Resolve implements the target of a nodes.DeferredFile.
func (t tableRef) Resolve(ctx context.Context) (nodes.File, error) { return t.r.named.Get(ctx, t) }

// load opens the recording for its table.
func (t tableRef) load(ctx context.Context) (*parquet.Named, error) {
	recording, _ := archive.RecordingOf(t.dir)
	o, err := recording.Open(ctx)
	if err != nil {
		return nil, err
	}
	table := o.Table(t.name)
	if table == nil {
		return nil, nodes.NotExist("lookup", t.name)
	}
	format := recording.Format()
	origin := func(ctx context.Context) (columnar.Origin, error) {
		k, err := o.Summary(ctx)
		if err != nil {
			return columnar.Origin{}, err
		}
		var s Summary
		s.take(k, true)
		return originOf(t.path, s.Start), nil
	}
	return &parquet.Named{Table: table, Format: format.Name, Timeless: format.Timeless, Origin: origin}, nil
}

// A tableFile is a table as a file, whose recording is opened when it is read, or its size is not
// known. A listing leaves that out then where the recording does. It is a value.
type tableFile struct {
	nodes.DeferredFile[tableRef]
	size int64 // [ledger.Unknown]: only the recording tells
}

var _ nodes.Measured = tableFile{}

// tableOf returns a table of a recording, given what is known of the table.
func (r *root) tableOf(recording nodes.Dir, at string, t ledger.Table) tableFile {
	f := tableFile{nodes.DeferredFile[tableRef]{Target: tableRef{r, recording, at, t.Name}}, t.Size}
	if f.size != ledger.Unknown {
		f.size = parquet.NamedSize(t.Size, t.Groups, string([]rune(at)))
	}
	return f
}

// Size implements nodes.File.
func (t tableFile) Size(ctx context.Context) (int64, error) {
	if t.size != ledger.Unknown {
		return t.size, nil
	}
	return t.DeferredFile.Size(ctx)
}

// Open implements nodes.File. A table of another size than is known is stale.
func (t tableFile) Open(ctx context.Context) (nodes.Content, error) {
	content, err := t.open(ctx)
	if err != nil || t.size == ledger.Unknown || content.Size() == t.size {
		return content, err
	}
	defer nodes.CloseContent(content)
	return nil, nodes.SizeError(t.size, content.Size())
}

// open returns the content. That of a small table is kept whole.
func (t tableFile) open(ctx context.Context) (nodes.Content, error) {
	if t.size == ledger.Unknown || t.size > smallTable {
		return t.DeferredFile.Open(ctx)
	}
	packed, err := t.Target.r.small.Get(ctx, t.Target)
	if err != nil {
		return nil, err
	}
	b, err := wire.Unzstd(packed, smallTable)
	return nodes.BytesContent(b), err
}

// smallTable is how many bytes a table has at most that is kept whole, compressed: it takes less
// than the tree of its recording.
const smallTable = 64 << 10

// Version implements nodes.Versioned.
func (t tableFile) Version(ctx context.Context, _ string) (string, error) {
	r, _ := archive.RecordingOf(t.Target.dir)
	return r.VersionOf(ctx, tablesName)
}

// IsMeasured implements nodes.Measured.
func (t tableFile) IsMeasured(ctx context.Context) bool {
	if t.size != ledger.Unknown {
		return true
	}
	f, err := t.Target.Resolve(ctx)
	if err != nil {
		return true // there is nothing to make
	}
	m, ok := f.(nodes.Measured)
	return !ok || m.IsMeasured(ctx)
}
