package main

import (
	iofs "io/fs"
	"os"
	"path/filepath"
	"runtime"
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
var gameData = func() []string { return gameFolders(runtime.GOOS, os.Getenv) }

// newMapresSearch returns where --mapres says. An empty value is to look where the games are usually
// installed.
func newMapresSearch(flag string) (s mapresSearch, err error) {
	switch flag {
	case noMapres:
		return s, nil
	case "":
		s.beside = true
		for _, dir := range gameData() {
			s.names = append(s.names, filepath.Join(dir, mapresDir))
		}
	default:
		if _, err := flagDir(flag); err != nil {
			return s, err
		}
		s.names = []string{flag}
	}
	for _, name := range s.names {
		abs, err := filepath.Abs(name)
		if err != nil {
			return s, err
		}
		s.dirs = append(s.dirs, os.DirFS(abs))
	}
	return s, nil
}

// gameFolders returns where DDNet and Teeworlds keep their data on an operating system: what users
// add, what packages install, and what Steam does. Most of them are not there.
func gameFolders(goos string, env func(string) string) (list []string) {
	home := env("HOME")
	add := func(base string, names ...string) {
		if base == "" {
			return
		}
		for _, name := range names {
			list = append(list, filepath.Join(base, filepath.FromSlash(name)))
		}
	}
	switch goos {
	case "windows":
		add(env("APPDATA"), "DDNet", "Teeworlds")
		for _, programs := range []string{env("ProgramFiles"), env("ProgramFiles(x86)")} {
			add(programs, "DDNet/data", "Teeworlds/data")
			addSteam(add, programs, "Steam")
		}
	case "darwin":
		const support = "Library/Application Support/"
		add(home, support+"DDNet", support+"Teeworlds")
		for _, app := range []string{"DDNet.app/Contents/Resources/data", "Teeworlds.app/Contents/Resources/data"} {
			add("/Applications", app)
			add(home, "Applications/"+app)
		}
		addSteam(add, home, support+"Steam")
	default:
		data := env("XDG_DATA_HOME")
		if data == "" && home != "" {
			data = filepath.Join(home, ".local/share")
		}
		add(data, "ddnet", "teeworlds")
		add(home, ".teeworlds")
		for _, share := range []string{"/usr/share", "/usr/local/share", "/usr/pkg/share"} {
			add(share, "ddnet/data", "games/ddnet/data", "teeworlds/data", "games/teeworlds/data")
		}
		add("/opt", "ddnet/data", "teeworlds/data")
		const flatpak = "flatpak/app/tw.ddnet.DDNet/current/active/files/share/ddnet/data"
		add(data, flatpak)
		add("/var/lib", flatpak)
		addSteam(add, data, "Steam")
		addSteam(add, home, ".steam/steam")
	}
	return list
}

// addSteam adds where Steam installs the games.
func addSteam(add func(string, ...string), base, steam string) {
	common := steam + "/steamapps/common/"
	add(base, common+"DDraceNetwork/ddnet/data", common+"DDraceNetwork/DDNet.app/Contents/Resources/data",
		common+"Teeworlds/tw/data")
}
