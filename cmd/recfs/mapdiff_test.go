package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"recfs/formats/compare"
	"recfs/nodes/play"
)

// The page says of two maps what recfs diff says of them.
func TestMapDiffOfThePage(t *testing.T) {
	maps := filepath.Join("..", "..", "testdata", "archive", "datafile", "maps")
	p := startServer(t, filepath.Join("..", "..", "testdata", "archive"))
	ask := func(query string) (int, string) {
		reply, body, err := askServer(t, http.MethodGet, p.http+"/.view/1/mapdiff/"+query, "")
		must(t, err)
		return reply.StatusCode, string(body)
	}
	status, body := ask("datafile/maps/old.map?with=datafile/maps/new.map")
	var got play.MapDiff
	must(t, json.Unmarshal([]byte(body), &got))
	if status != http.StatusOK || !strings.HasPrefix(body, `{"v":1,"layers":[{"kind":"quads","name":"Sky","a":0,"b":0,`) {
		t.Fatalf("%d %.200s", status, body)
	}
	differing := map[string]int{}
	for _, l := range got.Layers {
		if l.Differing > 0 {
			differing[l.Kind+"-"+l.Name] = l.Differing
		}
	}
	out, _ := recfs(t, "diff", "--json", filepath.Join(maps, "old.map"), filepath.Join(maps, "new.map")).Output() // 1: they differ
	tiles, settings := 0, 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var c compare.Change
		must(t, json.Unmarshal(lines.Bytes(), &c))
		if strings.HasPrefix(c.Path, "info.settings") {
			settings++
		}
		if c.Tiles != nil {
			tiles++
			if name := strings.TrimPrefix(c.Path, "layers/Game-"); differing[name] != c.Tiles.Count {
				t.Errorf("%s: %d tiles differ, diff says %d", name, differing[name], c.Tiles.Count)
			}
		}
	}
	if tiles != 2 || tiles != len(differing) || settings != len(got.Settings) {
		t.Errorf("%v and %v, diff says %s", differing, got.Settings, out)
	}
	for query, want := range map[string]int{
		"datafile/maps/old.map":                                http.StatusBadRequest,
		"datafile/maps/old.map?with=":                          http.StatusBadRequest,
		"datafile/maps/old.map?with=../x":                      http.StatusBadRequest,
		"datafile/maps/old.map?with=datafile/maps/none.map":    http.StatusBadRequest,
		"datafile/maps/old.map?with=nethack/small.nhgame":      http.StatusBadRequest,
		"nethack/small.nhgame?with=datafile/maps/old.map":      http.StatusBadRequest,
		"datafile/maps/none.map?with=datafile/maps/old.map":    http.StatusNotFound,
		"datafile/maps/old.map/raw?with=datafile/maps/old.map": http.StatusNotFound,
		"datafile/maps/old.map?with=datafile%2Fmaps%2Fold.map": http.StatusOK,
	} {
		if status, body := ask(query); status != want {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}
