package archive

import (
	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
)

// savedListMin is how many members a list has that is kept: less is read faster
// than this is worth.
const savedListMin = 1000

// savedLists keep lists of containers in the disk cache: not those of containers in containers,
// whose versions say too little to find them by, as the next container may hold another one of the
// same size and time.
type savedLists struct {
	ids
	disk  *cache.Disk // nil: none are kept
	limit int64       // of the memory that a list takes
}

// name names the list of the container at a path; "": it is not kept.
func (s savedLists) name(path string, kind *container.Kind, stamp formats.Stamp) string {
	if s.disk == nil || kind != container.Tar || stamp.Changed == 0 { // without a change time no stamp is the same
		return ""
	}
	if id := s.sourceID(path); id != "" {
		return id + "/" + kind.Name
	}
	return ""
}

// load returns the list of that name, nil if there is none for the stamp.
func (s savedLists) load(name string, stamp formats.Stamp) *container.Members {
	if name == "" {
		return nil
	}
	b, ok := s.disk.Load(name)
	if !ok {
		return nil
	}
	return container.Decode(b, stamp, s.limit)
}

// save keeps a list under a name.
func (s savedLists) save(name string, stamp formats.Stamp, m *container.Members) {
	if name != "" && len(m.Problems) == 0 && m.Len() >= savedListMin {
		s.disk.Save(name, container.Encode(m, stamp))
	}
}
