package main

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recfs/nodes/nodestest"
)

// A tar with what links can do to who follows them: no target, themselves, directories with links
// to each other, which lead on for ever.
func hostileLinks(t *testing.T) []byte {
	t.Helper()
	game, err := os.ReadFile(samples + "/nethack/small.nhgame")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(kind byte, name, target string, content []byte) {
		h := &tar.Header{Typeflag: kind, Name: name, Linkname: target, Size: int64(len(content)), Mode: 0o644}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	add(tar.TypeSymlink, "empty", "", nil)
	add(tar.TypeSymlink, "self", "self", nil)
	add(tar.TypeSymlink, "long", strings.Repeat("long/", 1000), nil)
	for i := range 10 {
		for j := range 10 {
			add(tar.TypeSymlink, fmt.Sprintf("%d/%d", i, j), fmt.Sprintf("../%d", j), nil)
		}
	}
	add(tar.TypeReg, "0/a.nhgame", "", game)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Each command ends on them, and works on the one recording once.
func TestHostileLinks(t *testing.T) {
	setCacheHome(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "x.tar"), hostileLinks(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, lines := range map[string]int{
		"ls -lR $1": -1, "tree $1": -1, "check $1": -1, "find $1": 1, "index $1": -1, "cat $1/recordings.jsonl": 1,
		"cat $1/x.tar/1/2/3/0/a.nhgame/header.json": -1, "cp -r $1 " + dir + "/copy": 0,
	} {
		name, args := commandLine(line, source)
		ctx, cancel := context.WithTimeout(t.Context(), nodestest.Hang)
		var stdout bytes.Buffer
		err := commands().named(name).execute(ctx, &env{stdout: &stdout, stderr: io.Discard}, args)
		cancel()
		if n := strings.Count(stdout.String(), "\n"); err != nil || lines >= 0 && n != lines {
			t.Errorf("%s: %d lines, %v", line, n, err)
		}
	}
	if target, err := os.Readlink(dir + "/copy/x.tar/3/4"); target != "../4" || err != nil {
		t.Errorf("the copy of a link has the target %q, %v", target, err)
	}
}
