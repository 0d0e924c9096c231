package archive

import (
	"context"
	"errors"
	iofs "io/fs"
	"maps"
	"path"
	"sync"
	"sync/atomic"
	"testing"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A memTree is a tree in memory, in which files have the versions that a test wants. Like one over
// a network it lists its files with what it knows of them.
type memTree struct {
	mu    sync.Mutex
	files map[string]memFile
	stats atomic.Int64 // calls of Stat
}

func newMemTree() *memTree { return &memTree{files: map[string]memFile{}} }

// write makes a file of a version, whose size is that of the content.
func (m *memTree) write(name, content string, v source.Version) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v.Size = int64(len(content))
	m.files[name] = memFile{formats.BytesReader([]byte(content)), source.Info{Version: v}}
}

func (m *memTree) ID() string { return "mem:test" }

func (m *memTree) Inside(string) (string, bool) { return "", false }

func (m *memTree) Stat(ctx context.Context, name string) (source.Info, error) {
	m.stats.Add(1)
	if err := ctx.Err(); err != nil {
		return source.Info{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if f, ok := m.files[name]; ok {
		return f.info, nil
	}
	for at := range m.files {
		for at != "." {
			if at = path.Dir(at); at == name {
				return source.Info{Type: iofs.ModeDir}, nil
			}
		}
	}
	return source.Info{}, &iofs.PathError{Op: "stat", Path: name, Err: iofs.ErrNotExist}
}

func (m *memTree) List(ctx context.Context, name string) (source.Names, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	types := map[string]iofs.FileMode{}
	for at := range m.files {
		for typ := iofs.FileMode(0); at != "."; typ = iofs.ModeDir {
			if path.Dir(at) == name {
				types[path.Base(at)] |= typ
			}
			at = path.Dir(at)
		}
	}
	var list []source.Name
	for name, typ := range types {
		list = append(list, source.Name{Name: name, Type: typ})
	}
	return memNames{source.NewNames(list), name, maps.Clone(m.files)}, nil
}

// memNames are names with what is known of their files.
type memNames struct {
	source.Names
	dir   string
	files map[string]memFile
}

func (n memNames) Info(i int) (source.Info, bool) {
	name, _ := n.At(i)
	f, ok := n.files[path.Join(n.dir, name)]
	return f.info, ok
}

func (m *memTree) ReadLink(_ context.Context, name string) (string, error) {
	return "", &iofs.PathError{Op: "readlink", Path: name, Err: iofs.ErrInvalid}
}

func (m *memTree) Open(ctx context.Context, name string) (source.File, error) {
	if _, err := m.Stat(ctx, name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.files[name], nil
}

// A memFile is a file of a memTree.
type memFile struct {
	nodes.ReaderAt
	info source.Info
}

func (f memFile) Info(ctx context.Context) (source.Info, error) { return f.info, ctx.Err() }

func (f memFile) Close() error { return nil }

// Any tree is shown as a directory of this machine is: recordings, also compressed, in files and in
// containers. What its listing tells it is not asked for again, and no operation outlives its
// context.
func TestArchiveOfAnyTree(t *testing.T) {
	tree := newMemTree()
	v := source.Version{Stamp: formats.Stamp{Modified: 1e9}}
	for name, content := range map[string]string{
		"plain": "text", "d/one.rec": "RECone", "d/two.rec.gz": string(formatstest.Gzip(t, []byte("RECtwo"))),
		"seg/first.part": "1", "seg/second.part": "2",
		"a.tar": string(formatstest.Tar(t, entry{"in/b.rec", "RECthree"}, entry{"c", "->in"})),
	} {
		tree.write(name, content, v)
	}
	root := New(tree, testFormats, formatstest.NewCache(t), Options{})
	nodestest.Check(t, root)
	got := show(t, root)
	delete(got, "d/two.rec.gz/raw")
	wantTree(t, got, map[string]string{
		"./": "", "plain": "text", "d/": "", "d/one.rec/": "", "d/one.rec/body": "one", "d/one.rec/raw": "RECone",
		"d/two.rec.gz/": "", "d/two.rec.gz/body": "two", "seg/": "", "seg/body": "1",
		"a.tar/": "", "a.tar/in/": "", "a.tar/in/b.rec/": "", "a.tar/in/b.rec/body": "three", "a.tar/in/b.rec/raw": "RECthree",
		"a.tar/c": "->in",
	})
	d, err := nodes.Lookup(t.Context(), root, "d")
	if err != nil {
		t.Fatal(err)
	}
	names, err := d.Dir.(nodes.Volatile).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree.stats.Store(0)
	for i := range 2 {
		if e, err := names.At(t.Context(), i); err != nil || e.Dir == nil {
			t.Errorf("%d: %+v, %v", i, e, err)
		}
	}
	if n := tree.stats.Load(); n != 0 {
		t.Errorf("asked %d times for what the listing tells", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := nodes.Lookup(ctx, root, "d"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context ended: %v", err)
	}
}
