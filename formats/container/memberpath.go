package container

import (
	"path"
	"strings"
)

const (
	maxMemberPath = 4096 // bytes in a path in a container, and kept of a target of a link: PATH_MAX of Linux
	maxMemberName = 255  // bytes in a part of it: NAME_MAX
)

// memberPath returns where a member of that name is shown: inside, whatever
// the name says; "" if nowhere. "/etc/x", "../../etc/x" and "./etc//x" are all
// etc/x, as unpacking programs have it.
func memberPath(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if len(name) > maxMemberPath || strings.Contains(name, "\x00") {
		return ""
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxMemberName {
			return ""
		}
	}
	return name
}
