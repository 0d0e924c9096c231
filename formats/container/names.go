package container

import (
	"path"
	"slices"
	"strings"

	"recfs/formats/unpack"
)

// shortTars are what the names of compressed tars end with instead of ".tar" and the extension of
// the compression.
var shortTars = map[string]string{".tgz": ".gz", ".txz": ".xz", ".tbz2": ".bz2", ".tzst": ".zst"}

// FormatOf returns the format of the container of that name: "zip", "tar", "tar.xz" and the like.
// It is "" if the name is of none.
func FormatOf(name string) string {
	k, compression := KindOf(name)
	if k == nil {
		return ""
	}
	return k.Name + compression
}

// Formats are all that FormatOf returns.
func Formats() []string {
	list := []string{Tar.Name, Zip.Name}
	for _, ext := range unpack.Extensions {
		list = append(list, Tar.Name+ext)
	}
	return list
}

// KindOf returns by its name what kind of container a file is, nil if it is none, and the extension
// of the compression around it, which may be "" (docs/tree/README.md section 1).
func KindOf(name string) (k *Kind, compression string) {
	ext := path.Ext(name)
	if ext == name { // nothing before it
		return nil, ""
	}
	if full, ok := shortTars[ext]; ok {
		return Tar, full
	}
	// A zip within compression is left as it is: its directory stands at the end, so that a list would
	// take decompressing all, and nobody makes such files.
	if slices.Contains(unpack.Extensions, ext) {
		name, compression = strings.TrimSuffix(name, ext), ext
		ext = path.Ext(name)
	}
	switch {
	case ext == name:
	case ext == ".tar":
		return Tar, compression
	case ext == ".zip" && compression == "":
		return Zip, ""
	}
	return nil, ""
}
