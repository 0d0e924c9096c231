package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMapresFlag(t *testing.T) {
	dir := t.TempDir()
	gameData = func() []string { return []string{dir} }
	t.Cleanup(func() { gameData = func() []string { return nil } })
	for flag, want := range map[string]mapresSearch{
		"":     {beside: true, names: []string{filepath.Join(dir, mapresDir)}},
		"none": {},
		dir:    {names: []string{dir}},
	} {
		got, err := newMapresSearch(flag)
		if err != nil || got.beside != want.beside || !slices.Equal(got.names, want.names) || len(got.dirs) != len(want.names) {
			t.Errorf("--mapres %q: %+v, %v, want %+v", flag, got, err, want)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{file, filepath.Join(dir, "absent")} {
		if _, err := newMapresSearch(flag); err == nil {
			t.Errorf("--mapres %s is no error", flag)
		}
	}
}
