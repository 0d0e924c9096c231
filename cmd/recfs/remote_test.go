package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"recfs/nodes/nodestest"
)

// copyOfSamples returns a copy of the samples whose times are whole seconds, as servers have them.
func copyOfSamples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(samples)))
	setTimes(t, dir, fakeModified)
	return dir
}

// execute runs a command line of which $1 is a source, and returns all that it printed with SOURCE
// in place of that.
func executeOn(t *testing.T, line, source string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	name, args := commandLine(line, source)
	err := commands().named(name).execute(t.Context(), &env{stdout: &stdout, stderr: &stderr}, args)
	text := stdout.String() + stderr.String()
	if err != nil {
		text += err.Error()
	}
	return strings.ReplaceAll(text, source, "SOURCE")
}

// TestRemoteCommands gives a web server and the directory that it serves to commands, which print
// the same of both.
func TestRemoteCommands(t *testing.T) {
	setCacheHome(t)
	t.Setenv("NETRC", "/nonexistent")
	dir := copyOfSamples(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	rate := regexp.MustCompile(`\d+(\.\d+)? s\b`)
	caches := []string{t.TempDir(), t.TempDir()}
	lines := []string{
		"ls -R $1/datafile $1/hcrp", "ls $1 $1/teehistorian/busy-20.1.teehistorian.xz/", "tree $1/nethack/small.nhgame",
		"cat $1/README.md $1/teehistorian/busy-20.1.teehistorian.xz/ticks/00000900.json",
		"cat $1/butter/arena_v1_gzip.butter/index.json", "find $1", "diff $1/datafile/maps/old.map $1/datafile/maps/new.map",
		"ls $1/*/*/old.map", "cat $1/README.md/x", "check $1/hcrp",
		"find --index $1", "find --player nameless $1", "check $1", "index $1",
	}
	for _, line := range lines[:nodestest.Times(len(lines), 5)] {
		print := func(source, cache string) string { // what is known by content of the other would tell
			t.Setenv("XDG_CACHE_HOME", cache)
			return rate.ReplaceAllString(executeOn(t, line, source), "T")
		}
		want, got := print(dir, caches[0]), print(server.URL, caches[1])
		if want != got {
			t.Errorf("%s:\n%s\nand by the directory:\n%s", line, got, want)
		}
	}
}

// TestRemoteMissing names what is not there as it was given.
func TestRemoteMissing(t *testing.T) {
	setCacheHome(t)
	server := httptest.NewServer(http.FileServer(http.Dir(copyOfSamples(t))))
	defer server.Close()
	for _, name := range []string{"$1/none", "$1/*/*.none", "$1/none/x.map/raw"} {
		want := "recfs: " + strings.Replace(name, "$1", "SOURCE", 1) + ": no such file or folder\nreported"
		if got := executeOn(t, "cat "+name, server.URL); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestRemoteCopies copies a recording out of a server.
func TestRemoteCopies(t *testing.T) {
	setCacheHome(t)
	dir := copyOfSamples(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	to := filepath.Join(t.TempDir(), "copy")
	if text := executeOn(t, "cp -r $1/datafile/maps/old.map "+to, server.URL); text != "" {
		t.Fatal(text)
	}
	want, err := os.ReadFile(filepath.Join(dir, "datafile/maps/old.map"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "raw")); !bytes.Equal(got, want) || err != nil {
		t.Errorf("raw has %d bytes, %v", len(got), err)
	}
}

// TestRemoteNeeds finds what a map needs beside it on a server.
func TestRemoteNeeds(t *testing.T) {
	setCacheHome(t)
	dir := copyOfSamples(t)
	must(t, os.Mkdir(filepath.Join(dir, "datafile/maps/mapres"), 0o700))
	writeNew(t, filepath.Join(dir, "datafile/maps/mapres/sun.png"), nil)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	want := "  images from    1 in SOURCE/datafile/maps/mapres\n"
	if text := executeOn(t, "info $1/datafile/maps/old.map", server.URL); !strings.Contains(text, want) {
		t.Error(text)
	}
}

// TestRemoteRaw copies the bytes of a compressed recording over more bytes than these.
func TestRemoteRaw(t *testing.T) {
	setCacheHome(t)
	server := httptest.NewServer(http.FileServer(http.Dir(copyOfSamples(t))))
	defer server.Close()
	to := filepath.Join(t.TempDir(), "copy")
	writeNew(t, to, make([]byte, 16<<20))
	const at = "$1/teehistorian/busy-20.1.teehistorian.xz/raw "
	if text := executeOn(t, "cp "+at+to, server.URL); text != "" {
		t.Error(text)
	}
	if info, err := os.Stat(to); err != nil || info.Size() == 16<<20 {
		t.Errorf("the longer copy is there still, %v", err)
	}
}

// TestRemoteInto copies and exports to this directory, under the names that the server means.
func TestRemoteInto(t *testing.T) {
	setCacheHome(t)
	dir, to := copyOfSamples(t), t.TempDir()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	if err := os.Rename(filepath.Join(dir, "datafile/maps/old.map"), filepath.Join(dir, "an old.map")); err != nil {
		t.Fatal(err)
	}
	must(t, os.Rename(filepath.Join(dir, "datafile/maps/new.map"), filepath.Join(dir, "datafile/maps/a new.map")))
	t.Chdir(to)
	if text := executeOn(t, "cp -r $1/an%20old.map .", server.URL); text != "" {
		t.Error(text)
	}
	if text := executeOn(t, "ls -d $1/an%20o*.map $1/*/maps/a%20new.map", server.URL); text != "SOURCE/an%20old.map\nSOURCE/datafile/maps/a%20new.map\n" {
		t.Error(text)
	}
	if _, err := os.Stat("an old.map/raw"); err != nil {
		t.Error(err)
	}
	for range 2 {
		if text := executeOn(t, "export tables --prune=gone $1/datafile out", server.URL); strings.Contains(text, "recfs:") {
			t.Error(text)
		}
	}
	if _, err := os.Stat("out/datafile/items/maps/a new.map.parquet"); err != nil {
		t.Error(err)
	}
}

// TestRemoteUsage refuses URLs and flags that make no sense, and tells no secret.
func TestRemoteUsage(t *testing.T) {
	setCacheHome(t)
	for line, want := range map[string]string{
		"ls https://h/?token=secret":            "https://h/: a source has no query and no fragment",
		"ls https://u:secret@h/":                "https://h/: a user and a password come from the netrc, not from the URL",
		"ls s3://":                              "s3: not the name of a bucket; a source is s3://BUCKET/PREFIX",
		"ls sftp://u:secret@host/srv":           "recfs does not read sftp://, but s3://, http:// and https://; mount it first with sshfs or rclone",
		"mount -f ssh://host/srv far":           "recfs does not read ssh://",
		"ls --remote-requests 0 s3://b":         "--remote-requests is 1 or more, not 0",
		"ls --remote-timeout 1ms s3://b":        "--remote-timeout is 1s or more, not 1ms",
		"ls --endpoint-url ftp://secret s3://b": "--endpoint-url: not an address such as https://HOST:PORT",
	} {
		if got := executeOn(t, line, "SOURCE"); !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestExportedNames calls recordings of a bucket by their URLs.
func TestExportedNames(t *testing.T) {
	x := &exporter{source: "s3://bucket/games"}
	if got, want := x.nameOf("2024/a.teehistorian"), "s3://bucket/games/2024/a.teehistorian"; got != want {
		t.Errorf("it is called %s, not %s", got, want)
	}
}
