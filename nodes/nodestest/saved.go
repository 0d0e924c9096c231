package nodestest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Saved holds what a format keeps on disk to the version under which it does.
// A golden file has the version, and checksums of what is kept of samples: of
// each recording or golden archive that one of the patterns matches, encode
// returns that, or nil if there is nothing. When it changes for one of them,
// what lies in the caches of people is wrong, so the version must be raised
// first. Then, and for new samples, -update rewrites the file.
func Saved(t *testing.T, file string, version int, encode func(recording []byte) []byte, patterns ...string) {
	t.Helper()
	golden, err := os.ReadFile(file)
	if err != nil && !*Update {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(golden)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[name] = value
	}
	raised := want["version"] != strconv.Itoa(version)
	got := fmt.Sprintf("version %d\n", version)
	for _, sample := range samples(t, patterns) {
		b := encode(Sample(t, sample))
		if b == nil {
			continue
		}
		name, sum := filepath.Base(sample), fmt.Sprintf("%x", sha256.Sum256(b))
		if old := want[name]; old != "" && old != sum && !raised {
			t.Errorf("version %d would keep other bytes of %s: raise it, then run with -update", version, name)
		}
		got += fmt.Sprintln(name, sum)
	}
	if t.Failed() || got == string(golden) {
		return
	}
	if !*Update {
		t.Fatalf("%s is of another version or other samples (rewrite with -update)", file)
	}
	if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
		t.Fatal(err)
	}
}

func samples(t *testing.T, patterns []string) (files []string) {
	t.Helper()
	for _, pattern := range patterns {
		match, err := filepath.Glob(pattern)
		if err != nil || len(match) == 0 {
			t.Fatalf("%s matches no file, %v", pattern, err)
		}
		files = append(files, match...)
	}
	return files
}

// Sample returns the recording of a golden archive, or the file itself.
func Sample(t *testing.T, file string) []byte {
	t.Helper()
	if strings.HasSuffix(file, ".txtar") {
		recording, _ := readGolden(t, file)
		return recording
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
