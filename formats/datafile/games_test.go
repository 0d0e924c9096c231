package datafile

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestGameFolders finds folders of each system among those that are looked into.
func TestGameFolders(t *testing.T) {
	for _, c := range []struct {
		goos string
		env  map[string]string
		want []string
	}{
		{"linux", map[string]string{"HOME": "/home/u"}, []string{
			"/home/u/.local/share/ddnet", "/home/u/.teeworlds", "/usr/share/games/ddnet/data", "/usr/share/teeworlds/data",
			"/opt/ddnet/data", "/home/u/.steam/steam/steamapps/common/DDraceNetwork/ddnet/data",
		}},
		{"linux", map[string]string{"HOME": "/home/u", "XDG_DATA_HOME": "/data"}, []string{"/data/ddnet", "/data/teeworlds"}},
		{"freebsd", nil, []string{"/usr/local/share/ddnet/data"}},
		{"darwin", map[string]string{"HOME": "/Users/u"}, []string{
			"/Users/u/Library/Application Support/DDNet", "/Applications/DDNet.app/Contents/Resources/data",
			"/Applications/Teeworlds.app/Contents/Resources/data",
		}},
		{"windows", map[string]string{"APPDATA": "/roaming", "ProgramFiles(x86)": "/programs"}, []string{
			"/roaming/DDNet", "/roaming/Teeworlds", "/programs/Steam/steamapps/common/DDraceNetwork/ddnet/data",
		}},
	} {
		got := GameFolders(c.goos, func(name string) string { return c.env[name] })
		for _, dir := range c.want {
			if !slices.Contains(got, filepath.FromSlash(dir)) {
				t.Errorf("%s %v: %s is not among %v", c.goos, c.env, dir, got)
			}
		}
		for _, dir := range got {
			if !filepath.IsAbs(dir) && filepath.VolumeName(dir) == "" {
				t.Errorf("%s %v: %s is not absolute", c.goos, c.env, dir)
			}
		}
	}
}
