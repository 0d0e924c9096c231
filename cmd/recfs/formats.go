package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/pflag"

	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/datafile"
	"recfs/formats/echo"
	"recfs/formats/hcrp"
	"recfs/formats/milk"
	"recfs/formats/nethack"
	"recfs/formats/source"
	"recfs/formats/teehistorian"
)

// formatOptions are the flags that change what formats make of a recording.
type formatOptions struct {
	sniff       bool
	mapres      string
	search      mapresSearch // what mapres means, set by list
	schemas     []string
	dictDirs    []string
	maxChunk    byteSize // of hcrp and butter; 0: the default of each
	maxData     byteSize
	maxMetadata byteSize
}

func (o *formatOptions) register(flags *pflag.FlagSet) {
	o.maxData, o.maxMetadata = 1*gib, 16*mib
	flags.BoolVar(&o.sniff, "sniff", false, "also find recordings with other extensions, by their first bytes")
	flags.StringVar(&o.mapres, "mapres", "", "look only in `DIR` for the images that maps name but do not hold, or nowhere if it is none (default: where DDNet and Teeworlds are usually installed, and in mapres beside the map)")
	offer(flags, "mapres", noMapres)
	flags.StringArrayVar(&o.schemas, "schema", nil, "read an event schema for hcrp recordings from `FILE` (may be repeated)")
	flags.StringArrayVar(&o.dictDirs, "dict-dir", nil, "look in `DIR` for zstd dictionaries of hcrp recordings (may be repeated)")
	flags.Var(&o.maxChunk, "max-chunk", "refuse chunks of hcrp and butter that are larger when decompressed; 0 is the default of the format: 64MiB for hcrp, 256MiB for butter")
	flags.Var(&o.maxData, "max-data", "refuse data items of maps that are larger when decompressed")
	flags.Var(&o.maxMetadata, "max-metadata", "refuse metadata of hcrp, and headers of teehistorian, that are larger when decompressed")
}

// list returns the formats in the order in which they are asked to match.
func (o *formatOptions) list() ([]formats.Format, error) {
	search, err := newMapresSearch(o.mapres)
	if err != nil {
		return nil, err
	}
	o.search = search
	recordings, err := o.hcrp()
	if err != nil {
		return nil, err
	}
	return []formats.Format{
		hcrp.New(recordings),
		datafile.New(datafile.Options{Mapres: search.dirs, Beside: search.beside, MaxData: int64(o.maxData)}),
		nethack.Format,
		teehistorian.New(teehistorian.Options{Map: datafile.Outline, MaxMetadata: int64(o.maxMetadata)}),
		echo.NewButter(echo.Options{MaxChunk: int64(o.maxChunk)}),
		echo.Replay,
		milk.Format,
	}, nil
}

// formatList returns the sorted names of all formats.
func formatList() []string { return ofFormats(func(f formats.Format) string { return f.Name }) }

// calledList returns the sorted words by which users call formats.
func calledList() []string { return ofFormats(func(f formats.Format) string { return f.Called }) }

// formatWords returns all that may be asked for as a format, those of damaged containers, too.
func formatWords() []string { return slices.Concat(formatList(), calledList(), container.Formats()) }

// ofFormats returns what word returns of all formats, sorted, each once.
func ofFormats(word func(formats.Format) string) (words []string) {
	list, _ := (&formatOptions{}).list() // there are no files to open
	for _, f := range list {
		if w := word(f); w != "" {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// hcrp returns the options of HCRP recordings.
func (o *formatOptions) hcrp() (hcrp.Options, error) {
	opt := hcrp.Options{Limits: hcrp.Limits{Body: int64(o.maxChunk), Metadata: int64(o.maxMetadata)}}
	for _, name := range o.schemas {
		b, err := os.ReadFile(name)
		if err != nil {
			return opt, err
		}
		s, err := hcrp.ParseSchema(b)
		if err != nil {
			return opt, fmt.Errorf("%s: %w", name, err)
		}
		opt.Schemas = append(opt.Schemas, s)
	}
	for _, name := range o.dictDirs {
		dir, err := flagDir(name)
		if err != nil {
			return opt, err
		}
		opt.DictDirs = append(opt.DictDirs, dir)
	}
	return opt, nil
}

// flagDir opens the directory that a flag names, for good: a mount in the background does not stay
// in the directory where it was started.
func flagDir(name string) (formats.Folder, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(abs); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a directory", name)
	}
	return source.Folder(abs), nil
}

// noMapres is the value of --mapres with which no external image is looked for.
const noMapres = "none"

// mapresDir is the directory with images in the data of the games, and beside a map.
const mapresDir = "mapres"

// A mapresSearch says where the images may lie that maps name but do not hold.
type mapresSearch struct {
	beside bool     // first in the directory mapres beside the map
	names  []string // then in these
	dirs   []formats.Folder
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
			s.names, s.dirs = append(s.names, at), append(s.dirs, source.Folder(at))
		}
	default:
		dir, err := flagDir(flag)
		s.names, s.dirs = []string{flag}, []formats.Folder{dir}
		return s, err
	}
	return s, nil
}
