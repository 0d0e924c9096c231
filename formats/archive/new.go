package archive

import (
	"cmp"
	"log/slog"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/recordings"
	"recfs/formats/source"
	"recfs/formats/unpack"
)

// newArchive returns an archive of the files of a tree that lies in so many containers.
func newArchive(tree source.Tree, list []formats.Format, c *cache.Cache, opt Options, depth int) *Archive {
	a := &Archive{
		tree: tree, namings: newNamings(list, depth < maxDepth),
		cache: c, list: list, opt: opt, log: cmp.Or(opt.Log, slog.New(slog.DiscardHandler)), depth: depth,
		openFiles: source.NewFiles(tree, c), warned: cache.NewRecent[string, source.Version](maxWarned),
		growths: cache.NewRecent[string, growth](maxGrowths),
	}
	if depth == 0 {
		a.openFiles.OnRead = opt.OnRead
	}
	if opt.Disk != nil && depth == 0 {
		a.contents = formats.NewContents(opt.Disk)
	}
	a.listings = cache.NewMemo(c, a.loadListing)
	a.kinds = cache.NewMemo[kindKey, kind](c, nil)
	a.unpack = unpack.New(a.openFiles, c, unpack.Options{Disk: opt.Disk, Log: a.log, Nested: depth > 0})
	a.unpacked = cache.NewMemo(c, a.loadUnpacked)
	a.recordings = recordings.NewStore(c, a.log, a.recordingOf)
	a.trees = cache.NewMemo(c, a.open)
	a.lists = cache.NewMemo(c, a.loadList).Durable(a.listPlace, (*memberList).encode, a.resumeList).Eager().
		Peak(func(recordingKey) int64 { return listWork })
	a.containers = cache.NewMemo(c, a.loadContainer)
	return a
}
