package teehistorian

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	iofs "io/fs"
	"strings"
)

// maxMap bounds the map file that is looked at.
const maxMap = 64 << 20

// findMap returns the map file of a recording that was found in fsys, nil if it is not there: the
// one with the name and the SHA-256 of the header, beside the recording or in the folder maps.
func findMap(fsys iofs.FS, h *header) []byte {
	name, sum := h.text("map_name"), strings.ToLower(h.text("map_sha256"))
	if fsys == nil || name == "" || sum == "" || strings.Contains(name, "/") {
		return nil
	}
	for _, dir := range []string{"", "maps/"} {
		for _, file := range []string{name + ".map", name + "_" + sum + ".map"} {
			b, err := readMap(fsys, dir+file)
			if err != nil {
				continue
			}
			if got := sha256.Sum256(b); hex.EncodeToString(got[:]) == sum {
				return b
			}
		}
	}
	return nil
}

func readMap(fsys iofs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxMap))
}
