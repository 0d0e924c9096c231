package datafile

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/fnv"
	"image"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"recfs/formats"
)

const (
	maxMapres     = 1 << 24 // pixels of an external image
	mapresPixel   = 4       // bytes of one
	maxMapresFile = mapresPixel * maxMapres
)

// needs are the Needs of the format: the external images of a map.
func needs(page []byte) (list []formats.Need) {
	var m mapPage
	if json.Unmarshal(page, &m) != nil {
		return nil
	}
	for i := range m.Images {
		if o := &m.Images[i]; o.External {
			list = append(list, formats.Need{
				Kind: "images", Name: o.Name, Ext: ".png", Dir: mapresDir,
				Hint: "for real pictures install DDNet or give --mapres DIR",
			})
		}
	}
	return list
}

// findImage returns the external image of that name, as NAME.png, from the first directory that has
// it and lets it be read.
func findImage(ctx context.Context, dirs []formats.Folder, name string) (f formats.File, ok bool) {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return f, false
	}
	for _, dir := range dirs {
		f, err := dir.Open(ctx, name+".png")
		if err == nil {
			_, err = f.ReadAt(ctx, make([]byte, 1), 0)
		}
		if err == nil || err == io.EOF {
			return f, true
		}
	}
	return f, false
}

// mapresDir is the directory beside a map that may hold its external images, as that of the games.
const mapresDir = "mapres"

// An externalImage is one that a map names but does not hold.
type externalImage struct {
	name string
	file formats.File // without a reader if it is nowhere
	sum  uint64       // of name and version
}

// external returns the external images of the map by their index. They are looked for once, when
// the first picture that may need one is asked for, so that all pictures of a tree show the same,
// and again after one could not be read: it may have been replaced.
func (p *pictures) external(ctx context.Context) (map[int32]*externalImage, error) {
	p.looking.Lock()
	defer p.looking.Unlock()
	if p.externals != nil {
		return p.externals, nil
	}
	images := map[int32]*externalImage{}
	for i := range p.m.Images {
		o := &p.m.Images[i]
		if !o.Short && !o.External {
			continue
		}
		var name *Text
		if !o.Short {
			var err error
			if name, err = p.text(ctx, o.Name, &o.Element, maxName); err != nil {
				return nil, err
			}
		}
		images[int32(i)] = newExternal(ctx, p.mapres, name.bytes())
	}
	if err := ctx.Err(); err != nil { // some may be there all the same
		return nil, err
	}
	p.externals = images
	return images, nil
}

// forget has the external images looked for again.
func (p *pictures) forget() {
	p.looking.Lock()
	defer p.looking.Unlock()
	p.externals = nil
}

// newExternal looks for an image.
func newExternal(ctx context.Context, dirs []formats.Folder, name string) *externalImage {
	x := &externalImage{name: name}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name))
	if f, ok := findImage(ctx, dirs, name); ok {
		x.file = f
		_, _ = sum.Write(f.Stamp.Append([]byte{0}))
	}
	x.sum = sum.Sum64()
	return x
}

// decode returns the pixels, nil if the image is not there, no picture or too large, and holds the
// memory for them: for the bytes of the file, its pixels and, if it has them in another form, those
// again. The error is that of the memory, or of reading it, as a picture without it would be kept
// on disk.
func (x *externalImage) decode(ctx context.Context) (*image.NRGBA, *formats.Held, error) {
	if x.file.ReaderAt == nil || x.file.Stamp.Size > maxMapresFile {
		return nil, nil, nil
	}
	held, err := formats.Charge(ctx, x.file.Stamp.Size)
	if err != nil {
		return nil, held, err
	}
	b, err := x.file.All(ctx)
	if err != nil {
		return nil, held, err
	}
	config, err := png.DecodeConfig(bytes.NewReader(b))
	pixels := int64(config.Width) * int64(config.Height)
	if err != nil || pixels > maxMapres {
		return nil, held, nil
	}
	if err := held.Grow(2 * mapresPixel * pixels); err != nil {
		return nil, held, err
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, held, nil
	}
	if same, ok := m.(*image.NRGBA); ok {
		return same, held, nil
	}
	out := image.NewNRGBA(m.Bounds())
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Src)
	return out, held, nil
}

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
