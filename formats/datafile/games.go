package datafile

import (
	"os"
	"path/filepath"
	"strings"
)

// gameDirs are where DDNet and Teeworlds keep their data, by operating system, "" being any other:
// what users add, what packages install, and what Steam does, whose folder ends in *. Most of them
// are not there.
var gameDirs = map[string][]string{
	"windows": {
		"$APPDATA/DDNet", "$APPDATA/Teeworlds",
		"$ProgramFiles/DDNet/data", "$ProgramFiles/Teeworlds/data", "$ProgramFiles/Steam*",
		"${ProgramFiles(x86)}/DDNet/data", "${ProgramFiles(x86)}/Teeworlds/data", "${ProgramFiles(x86)}/Steam*",
	},
	"darwin": {
		"$HOME/Library/Application Support/DDNet", "$HOME/Library/Application Support/Teeworlds",
		"/Applications/DDNet.app/Contents/Resources/data", "$HOME/Applications/DDNet.app/Contents/Resources/data",
		"/Applications/Teeworlds.app/Contents/Resources/data", "$HOME/Applications/Teeworlds.app/Contents/Resources/data",
		"$HOME/Library/Application Support/Steam*",
	},
	"": {
		"$XDG_DATA_HOME/ddnet", "$XDG_DATA_HOME/teeworlds", "$HOME/.teeworlds",
		"/usr/share/ddnet/data", "/usr/share/games/ddnet/data", "/usr/share/teeworlds/data", "/usr/share/games/teeworlds/data",
		"/usr/local/share/ddnet/data", "/usr/local/share/games/ddnet/data", "/usr/local/share/teeworlds/data", "/usr/local/share/games/teeworlds/data",
		"/usr/pkg/share/ddnet/data", "/usr/pkg/share/games/ddnet/data", "/usr/pkg/share/teeworlds/data", "/usr/pkg/share/games/teeworlds/data",
		"/opt/ddnet/data", "/opt/teeworlds/data",
		"$XDG_DATA_HOME/flatpak/app/tw.ddnet.DDNet/current/active/files/share/ddnet/data",
		"/var/lib/flatpak/app/tw.ddnet.DDNet/current/active/files/share/ddnet/data",
		"$XDG_DATA_HOME/Steam*", "$HOME/.steam/steam*",
	},
}

// steamDirs are where Steam keeps the data of the games.
var steamDirs = []string{"DDraceNetwork/ddnet/data", "DDraceNetwork/DDNet.app/Contents/Resources/data", "Teeworlds/tw/data"}

// GameFolders returns the gameDirs of an operating system, without those for which env has no
// value.
func GameFolders(goos string, env func(string) string) (list []string) {
	dirs, ok := gameDirs[goos]
	if !ok {
		dirs = gameDirs[""]
	}
	for _, dir := range dirs {
		known := true
		dir = os.Expand(dir, func(name string) string {
			value := env(name)
			if home := env("HOME"); name == "XDG_DATA_HOME" && value == "" && home != "" {
				value = home + "/.local/share"
			}
			known = known && value != ""
			return value
		})
		steam, isSteam := strings.CutSuffix(dir, "*")
		switch {
		case !known:
		case isSteam:
			for _, game := range steamDirs {
				list = append(list, filepath.Join(steam, "steamapps", "common", filepath.FromSlash(game)))
			}
		default:
			list = append(list, filepath.Clean(dir))
		}
	}
	return list
}
