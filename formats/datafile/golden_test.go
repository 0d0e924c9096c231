package datafile

import (
	"path/filepath"
	"testing"
	"time"

	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

const testdata = "../../testdata/datafile"

var testTime = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func TestGolden(t *testing.T) {
	files, err := filepath.Glob(testdata + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			nodestest.Golden(t, file, func(recording []byte) (nodes.Dir, error) {
				return openTree(t, recording, Options{})
			}, parquettest.Show)
		})
	}
}

// openTree opens the tree of a map in memory.
func openTree(t testing.TB, recording []byte, opt Options) (nodes.Dir, error) {
	t.Helper()
	return formatstest.Open(t.Context(), New(opt), formatstest.BytesInput("test.map", recording, testTime), formatstest.NewCache(t))
}
