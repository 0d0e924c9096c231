package main

import (
	iofs "io/fs"
	"os"
	"path/filepath"
	"runtime"

	"recfs/formats/datafile"
)

// noMapres is the value of --mapres with which no external image is looked for.
const noMapres = "none"

// mapresDir is the directory with images in the data of the games, and beside a map.
const mapresDir = "mapres"

// A mapresSearch says where the images may lie that maps name but do not hold.
type mapresSearch struct {
	beside bool     // first in the directory mapres beside the map
	names  []string // then in these
	dirs   []iofs.FS
}

// gameData returns the folders of installed games. Tests have none.
var gameData = func() []string { return datafile.GameFolders(runtime.GOOS, os.Getenv) }

// newMapresSearch returns where --mapres says. An empty value is to look where the games are
// usually installed.
func newMapresSearch(flag string) (s mapresSearch, err error) {
	switch flag {
	case noMapres:
		return s, nil
	case "":
		s.beside = true
		for _, dir := range gameData() {
			at := filepath.Join(dir, mapresDir)
			s.names, s.dirs = append(s.names, at), append(s.dirs, os.DirFS(at))
		}
	default:
		dir, err := flagDir(flag)
		s.names, s.dirs = []string{flag}, []iofs.FS{dir}
		return s, err
	}
	return s, nil
}
