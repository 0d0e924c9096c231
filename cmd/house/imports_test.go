package house

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A room is a directory and what its files may import besides the standard
// library. Keys ending in "/..." stand for the directories below.
type room struct {
	dir     string              // relative to the module, longest match wins
	allow   []string            // import paths, or prefixes that end in "/..."
	special map[string][]string // more, only for files that match the pattern
	std     bool                // files are free: no check
}

// house is the table of ARCHITECTURE.md.
var house = []room{
	{dir: "nodes"},
	{dir: "nodes/play"},
	{dir: "nodes/nodestest", allow: []string{"recfs/nodes", "github.com/rogpeppe/go-internal/diff", "go.uber.org/goleak", "golang.org/x/tools/txtar"}},
	{dir: "cache", allow: []string{"golang.org/x/sync/semaphore", "golang.org/x/sys/..."}},
	{dir: "formats", allow: []string{"recfs/formats/columnar", "recfs/cache", "recfs/nodes", "github.com/cespare/xxhash/v2"}},
	{dir: "formats/columnar"},
	{dir: "formats/source", allow: []string{"recfs/formats", "recfs/cache", "recfs/nodes", "golang.org/x/sys/..."}},
	{
		dir: "formats/source/remote",
		allow: []string{
			"recfs/formats", "recfs/formats/source", "recfs/cache", "recfs/nodes", "github.com/cespare/xxhash/v2",
			"github.com/minio/minio-go/v7/pkg/...", "gopkg.in/ini.v1", "golang.org/x/net/html",
		},
	},
	{
		dir:   "formats/unpack",
		allow: append([]string{"recfs/formats", "recfs/formats/source", "recfs/formats/internal/wire", "recfs/cache", "recfs/nodes"}, compressors...),
	},
	{
		dir: "formats/container",
		allow: []string{
			"recfs/formats", "recfs/formats/source", "recfs/formats/unpack", "recfs/formats/internal/indexfile", "recfs/formats/internal/wire", "recfs/formats/internal/zipfile", "recfs/cache", "recfs/nodes",
			"github.com/cespare/xxhash/v2", "github.com/klauspost/compress/flate", "github.com/klauspost/compress/zip",
		},
	},
	{dir: "formats/recordings", allow: []string{"recfs/formats", "recfs/formats/columnar", "recfs/formats/internal/indexfile", "recfs/cache", "recfs/nodes", "github.com/cespare/xxhash/v2"}},
	{
		dir: "formats/archive",
		allow: []string{
			"recfs/formats", "recfs/formats/recordings", "recfs/formats/source", "recfs/formats/unpack", "recfs/formats/container", "recfs/cache", "recfs/nodes", "recfs/nodes/play",
			"github.com/cespare/xxhash/v2",
		},
	},
	{dir: "formats/catalogue", allow: []string{"recfs/formats", "recfs/formats/columnar", "recfs/formats/source", "recfs/formats/archive", "recfs/formats/container", "recfs/formats/recordings", "recfs/formats/internal/indexfile", "recfs/formats/internal/jsonenc", "recfs/formats/internal/ledger", "recfs/formats/internal/parquet", "recfs/formats/internal/rowcount", "recfs/formats/internal/wire", "recfs/cache", "recfs/nodes"}},
	{dir: "formats/shared", allow: []string{"recfs/formats", "recfs/formats/internal/indexfile", "recfs/formats/outfile", "recfs/cache", "github.com/cespare/xxhash/v2"}},
	{dir: "formats/outfile", allow: []string{"golang.org/x/sys/..."}},
	{
		dir: "formats/export",
		allow: []string{
			"recfs/formats", "recfs/formats/columnar", "recfs/formats/source", "recfs/formats/outfile", "recfs/formats/archive", "recfs/formats/catalogue", "recfs/formats/recordings", "recfs/formats/internal/parquet", "recfs/formats/internal/indexfile", "recfs/cache", "recfs/nodes",
			"github.com/klauspost/compress/zstd",
		},
	},
	{dir: "formats/compare", allow: []string{"recfs/formats", "recfs/formats/internal/jsonenc", "recfs/nodes", "recfs/nodes/play"}},
	{dir: "formats/views", allow: []string{"recfs/formats", "recfs/formats/columnar", "recfs/formats/internal/indexfile", "recfs/formats/internal/jsonenc", "recfs/formats/internal/parquet", "recfs/formats/internal/rowcount", "recfs/cache", "recfs/nodes", "recfs/nodes/play", "golang.org/x/sync/errgroup"}},
	{
		dir:   "formats/internal/...",
		allow: append([]string{"recfs/formats"}, compressors...),
	},
	{dir: "formats/internal/indexfile", allow: []string{"recfs/formats", "recfs/formats/internal/wire"}},
	{dir: "formats/internal/ledger", allow: []string{"recfs/formats", "recfs/formats/internal/indexfile", "recfs/formats/internal/wire", "recfs/cache"}},
	{dir: "formats/internal/zipfile", allow: []string{"recfs/formats"}},
	{
		dir: "formats/internal/parquet", allow: []string{"recfs/formats", "recfs/formats/columnar", "recfs/formats/internal/wire", "recfs/nodes", "github.com/klauspost/compress/zstd"},
		special: map[string][]string{"tree.go": {"recfs/cache"}, "writer.go": {"recfs/cache"}}, // rows are charged
	},
	{dir: "formats/internal/parquet/testdata/...", std: true}, // a module of its own
	{dir: "formats/internal/testing/parquettest", allow: []string{"github.com/klauspost/compress/zstd"}},
	{dir: "formats/internal/rowcount", allow: []string{"recfs/formats/columnar", "recfs/formats/internal/indexfile"}},
	{
		dir:   "formats/internal/testing/formatstest",
		allow: []string{"recfs/formats", "recfs/formats/columnar", "recfs/formats/recordings", "recfs/formats/source", "recfs/cache", "recfs/nodes", "recfs/nodes/play", "recfs/nodes/nodestest", "github.com/klauspost/compress/..."},
	},
	{
		dir:     "formats/internal/testing/example", // a format to read, which the program does not have
		allow:   []string{"recfs/formats", "recfs/formats/columnar", "recfs/formats/internal/indexfile", "recfs/formats/internal/jsonenc", "recfs/formats/internal/rowcount", "recfs/formats/internal/wire"},
		special: map[string][]string{"index.go": {"recfs/formats/views"}, "tree*.go": {"recfs/formats/views", "recfs/nodes", "recfs/nodes/play", "recfs/cache"}},
	},
	{
		dir: "formats/echo",
		allow: []string{
			"recfs/formats", "recfs/formats/columnar", "recfs/formats/internal/...", "github.com/google/uuid", "github.com/klauspost/compress/...",
		},
		special: map[string][]string{
			"tree*.go":       {"recfs/nodes", "recfs/nodes/play", "recfs/cache", "recfs/formats/views"},
			"play.go":        {"recfs/nodes/play", "recfs/formats/views"},
			"index*.go":      {"recfs/formats/views"},
			"*_container.go": {"recfs/nodes"}, // sections, and a cursor that outlives an operation
		},
	},
	{
		dir: "formats/...",
		allow: []string{
			"recfs/formats", "recfs/formats/columnar", "recfs/formats/internal/...", "github.com/google/uuid",
			"github.com/klauspost/compress/...", "github.com/pierrec/lz4/...",
		},
		special: map[string][]string{
			"tree.go": {"recfs/nodes", "recfs/nodes/play", "recfs/cache", "recfs/formats/views"}, "tree_*.go": {"recfs/nodes", "recfs/nodes/play", "recfs/cache", "recfs/formats/views"},
			"play.go": {"recfs/nodes/play", "recfs/formats/views"}, "play_*.go": {"recfs/nodes/play", "recfs/formats/views"},
			"index.go": {"recfs/formats/views"},
		},
	},
	{
		dir: "fs", allow: []string{"recfs/cache", "recfs/nodes", "recfs/fs/opened"},
		special: map[string][]string{
			"fuse*.go":  {"github.com/hanwen/go-fuse/v2/...", "golang.org/x/sys/..."},
			"mount*.go": {"github.com/hanwen/go-fuse/v2/...", "golang.org/x/sys/..."},
			"errno*.go": {"github.com/hanwen/go-fuse/v2/...", "golang.org/x/sys/..."},
		},
	},
	{dir: "fs/opened", allow: []string{"recfs/cache", "recfs/nodes"}},
	{dir: "fs/web", allow: []string{"recfs/cache", "recfs/nodes", "recfs/fs/opened", "recfs/fs/web/page", "github.com/rclone/gofakes3/signature"}},
	{dir: "fs/web/page", allow: []string{"recfs/cache", "recfs/nodes", "recfs/nodes/play"}},
	{
		dir: "cmd/recfs", allow: []string{
			"recfs/...", "github.com/spf13/pflag", "github.com/schollz/progressbar/v3", "golang.org/x/sys/...", "golang.org/x/term",
		},
	},
	{dir: "cmd/house"},
	{dir: "bench/...", std: true},
}

var compressors = []string{
	"github.com/klauspost/compress/...", "github.com/mikelolasagasti/xz", "github.com/SaveTheRbtz/zstd-seekable-format-go/...",
	"github.com/cespare/xxhash/v2",
}

// testSupport is what only tests import.
var testSupport = []string{"recfs/formats/internal/testing/...", "recfs/nodes/nodestest"}

// TestImportsPointDown keeps the arrows between packages as ARCHITECTURE.md
// draws them. Test files are free.
func TestImportsPointDown(t *testing.T) {
	module := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(module, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != module {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(module, name)
		if err != nil {
			return err
		}
		files++
		checkFile(t, name, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Errorf("only %d files looked at", files)
	}
}

func checkFile(t *testing.T, name, rel string) {
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	r := findRoom(path.Dir(rel))
	if r == nil {
		t.Errorf("%s is in no room of the house", rel)
		return
	}
	if r.std {
		return
	}
	allowed := r.allow
	for pattern, more := range r.special {
		if ok, _ := path.Match(pattern, path.Base(rel)); ok {
			allowed = append(append([]string{}, allowed...), more...)
		}
	}
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(imported, "/")
		if first != "recfs" && !strings.Contains(first, ".") {
			continue // standard library
		}
		if matchAny(testSupport, imported) && !matchAny(testSupport, "recfs/"+path.Dir(rel)) {
			t.Errorf("%s imports %s, which is for tests", rel, imported)
		}
		if !matchAny(allowed, imported) {
			t.Errorf("%s imports %s, which its room does not allow", rel, imported)
		}
	}
}

// findRoom returns the room with the longest matching name.
func findRoom(dir string) *room {
	var best *room
	for i := range house {
		r := &house[i]
		if match(r.dir, dir) && (best == nil || len(strings.TrimSuffix(r.dir, "/...")) > len(strings.TrimSuffix(best.dir, "/..."))) {
			best = r
		}
	}
	return best
}

func matchAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if match(p, name) {
			return true
		}
	}
	return false
}

func match(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == prefix || strings.HasPrefix(name, prefix+"/")
	}
	return pattern == name
}
