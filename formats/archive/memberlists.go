package archive

import (
	"recfs/formats/container"
)

// savedListMin is how many members a list has that is kept: less is read faster
// than this is worth.
const savedListMin = 1000

// listName names the list of a container in the disk cache; "": it is not
// kept. The version of a tar in a container says too little to find it by: the
// next container may hold another one of the same size and time.
func (a *archive) listName(k containerKey) string {
	if a.depth > 0 || k.v.Changed == 0 { // without a change time no stamp is the same
		return ""
	}
	if id := a.sourceID(k.path); a.opt.Disk != nil && id != "" && k.c == container.Tar {
		return id + "/" + k.c.Name
	}
	return ""
}

// savedList returns the list of a container that was saved.
func (a *archive) savedList(k containerKey) *container.Members {
	name := a.listName(k)
	if name == "" {
		return nil
	}
	b, ok := a.opt.Disk.Load(name)
	if !ok {
		return nil
	}
	return container.Decode(b, k.stamp(), a.maxList)
}

func (a *archive) saveList(k containerKey, m *container.Members) {
	if name := a.listName(k); name != "" && m.Damage == nil && m.Len() >= savedListMin {
		a.opt.Disk.Save(name, container.Encode(m, k.stamp()))
	}
}
