package teehistorian

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	iofs "io/fs"
	"strings"

	"recfs/formats"
)

// mapsDir is the folder beside a recording in which its map may lie, too.
const mapsDir = "maps"

// maxMap bounds the size of a map file.
const maxMap = 64 << 20

// findMap returns the map file of a recording and its path in fsys, the folder of the recording. It
// has the name and the SHA-256 that the header tells, and lies there or in maps. Without one,
// content is nil.
func findMap(fsys iofs.FS, h *header) (content []byte, at string) {
	name, sum := h.text("map_name"), strings.ToLower(h.text("map_sha256"))
	if fsys == nil || name == "" || sum == "" || strings.Contains(name, "/") {
		return nil, ""
	}
	for _, dir := range []string{"", mapsDir + "/"} {
		for _, file := range []string{name + ".map", name + "_" + sum + ".map"} {
			b, err := readMap(fsys, dir+file)
			if err != nil {
				continue
			}
			if got := sha256.Sum256(b); hex.EncodeToString(got[:]) == sum {
				return b, dir + file
			}
		}
	}
	return nil, ""
}

// needs are the Needs of the format: its map.
func needs(document []byte) []formats.Need {
	var d struct {
		Header struct {
			Name string      `json:"map_name"`
			Sum  string      `json:"map_sha256"`
			Size json.Number `json:"map_size"`
		} `json:"header"`
	}
	h := &d.Header
	err := json.Unmarshal(document, &d)
	size, sizeErr := h.Size.Int64()
	if err != nil || sizeErr != nil || h.Name == "" || len(h.Sum) != 2*sha256.Size {
		return nil
	}
	return []formats.Need{{
		Kind: "map", Name: h.Name, Ext: ".map", Dir: mapsDir, Size: size, SHA256: strings.ToLower(h.Sum),
		Hint: "paths.svg draws it if it lies beside the recording or in " + mapsDir + "/ there",
	}}
}

func readMap(fsys iofs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxMap))
}
