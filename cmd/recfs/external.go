package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"recfs/formats"
	"recfs/formats/datafile"
	"recfs/nodes"
)

// externalImages tells where the external images of a map are found, which map.json names, and what to
// do about those that are not.
func externalImages(ctx context.Context, a *archive, mapPath string, m document) (d formats.Details) {
	found, missing := map[string]int{}, []string{}
	for _, image := range m.list("images") {
		if external, _ := image.get("external").(bool); !external {
			continue
		}
		name := image.text("name")
		if where := findExternal(ctx, a, mapPath, name); where != "" {
			found[where]++
		} else if !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(found) > 0 {
		var words []string
		for _, where := range slices.Sorted(maps.Keys(found)) {
			words = append(words, fmt.Sprintf("%d in %s", found[where], where))
		}
		d = append(d, formats.Detail{Key: "images_from", Value: found, Text: strings.Join(words, ", ")})
	}
	if len(missing) > 0 {
		d = append(d, formats.Detail{
			Key: "images_missing", Value: missing, Text: strings.Join(missing, ", ") + "; in pictures they are plain colours, unless DDNet or Teeworlds" +
				" is installed, the images are in " + mapresDir + "/ beside the map, or --mapres names their directory",
		})
	}
	return d
}

// findExternal returns the directory that has the external image of a map, "" if there is none.
func findExternal(ctx context.Context, a *archive, mapPath, name string) string {
	if a.mapres.beside {
		dir := path.Join(path.Dir(mapPath), mapresDir)
		if e, err := a.resolve(ctx, sourceOf(dir)); err == nil && e.Dir != nil && name != "" {
			if image, err := nodes.Child(ctx, e.Dir, name+".png"); err == nil && image.File != nil {
				return dir
			}
		}
	}
	if i, _, ok := datafile.FindImage(a.mapres.dirs, name); ok {
		return a.mapres.names[i]
	}
	return ""
}
