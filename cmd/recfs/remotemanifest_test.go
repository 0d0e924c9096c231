package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A manifest is a line for each path of a source: names of a directory, or size, time and sum.
type manifest map[string]string

// readManifest looks into a source. Of the files of a directory it reads the first ones, and some
// that are chosen by their names.
func readManifest(t *testing.T, source string, flags ...string) manifest {
	t.Helper()
	const first = 8
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	opened := readFlags(set)
	must(t, set.Parse(flags))
	a, err := opened.open(&env{stdout: io.Discard, stderr: t.Output()})
	must(t, err)
	defer a.close()
	root, err := a.resolve(t.Context(), source)
	must(t, err)
	m, names, files := manifest{}, map[string][]string{}, map[string]int{}
	catalogue, err := nodes.Lookup(t.Context(), root.Dir, "recordings.jsonl")
	must(t, err)
	m["recordings.jsonl"] = manifestLine(t.Context(), nodes.Entry{File: catalogue.File})
	must(t, nodes.Walk(t.Context(), root.Dir, func(name string, e nodes.Entry, err error) error {
		dir := path.Dir(name)
		names[dir] = append(names[dir], path.Base(name))
		switch {
		case err != nil:
			m[name] = err.Error()
		case e.File != nil:
			if files[dir]++; files[dir] <= first || isChosen(name) {
				m[name] = manifestLine(t.Context(), e)
			}
		}
		return nil
	}))
	for dir, list := range names {
		m[dir] += strings.Join(list, " ") // behind the error of a directory that was listed in part
	}
	return m
}

// isChosen reports whether a file is one of few that are read.
func isChosen(name string) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return sum.Sum32()%256 == 0
}

func manifestLine(ctx context.Context, e nodes.Entry) string {
	size, err := e.File.Size(ctx)
	if err != nil {
		return err.Error()
	}
	b, err := nodes.ReadAll(ctx, e.File)
	return fmt.Sprintf("%d bytes, %s, SHA-256 %x, %v", size, e.Time.UTC(), sha256.Sum256(b), err)
}

// setTimes gives all files below dir one time.
func setTimes(t *testing.T, dir string, at time.Time) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, at, at)
	}))
}

// startNginx starts nginx over a directory, of which it makes HTML below /html/, and JSON below
// /json/. It returns its URL.
func startNginx(t *testing.T, served string) string {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip(err)
	}
	dir, addr := t.TempDir(), freeAddress(t)
	config := filepath.Join(dir, "nginx.conf")
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;"
	}
	must(t, os.WriteFile(config, fmt.Appendf(nil, `daemon off; error_log stderr; pid %[1]s/pid; %[2]s
events {}
http {
	access_log off; autoindex on;
	client_body_temp_path %[1]s/1; proxy_temp_path %[1]s/2; fastcgi_temp_path %[1]s/3; uwsgi_temp_path %[1]s/4; scgi_temp_path %[1]s/5;
	server {
		listen %[3]s;
		location /html/ { alias %[4]s/; }
		location /json/ { alias %[4]s/; autoindex_format json; }
	}
}`, dir, user, addr, served), 0o666))
	server := exec.Command(nginx, "-p", dir, "-c", config)
	server.Stderr = t.Output()
	must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait() // it tells of the signal
	})
	nodestest.Eventually(t, "nginx", func() bool { return isListening(addr) })
	return "http://" + addr
}

// copyElsewhere returns a copy of the files below dir with other times and another owner.
func copyElsewhere(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(dir)))
	setTimes(t, to, fakeModified.Add(-100*24*time.Hour))
	if os.Geteuid() == 0 {
		must(t, filepath.WalkDir(to, func(name string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(name, 1234, 1234)
		}))
	}
	return to
}

// indexElsewhere fills a shared index as a machine with an empty cache and in another time zone
// does.
func indexElsewhere(t *testing.T, source, at string) {
	t.Helper()
	cmd := recfs(t, "index", "--index-at", at, source)
	cmd.Env = append(cmd.Env, "TZ=Asia/Kathmandu")
	out, err := cmd.CombinedOutput()
	if failures := strings.Count(string(out), "recfs: "); err != nil && (failures != 1 || !strings.Contains(string(out), "old.milk: ")) {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestRemoteManifest holds what is shown of a bucket and of a web server to what is shown of a
// directory: names, sizes, times and bytes, with and without an index that another machine made of
// a copy.
func TestRemoteManifest(t *testing.T) {
	t.Setenv("NETRC", "/nonexistent")
	dir := copyOfSamples(t)
	if testing.Short() {
		must(t, os.RemoveAll(filepath.Join(dir, "butter")))
		must(t, os.Remove(filepath.Join(dir, "teehistorian/busy-20.1.teehistorian.xz")))
	}
	setCacheHome(t)
	want := readManifest(t, dir)
	executeOn(t, "index $1", dir)
	indexed := readManifest(t, dir)
	compare := func(t *testing.T, want manifest, source string, flags ...string) {
		t.Helper()
		setCacheHome(t)
		got := readManifest(t, source, flags...)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			w := strings.ReplaceAll(want[name], dir, source)
			if got[name] != w {
				t.Errorf("%s: %.300s\nand on the disk: %.300s", name, got[name], w)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("there are %q as well", slices.Collect(maps.Keys(got)))
		}
	}
	t.Run("disk", func(t *testing.T) {
		index := t.TempDir()
		indexElsewhere(t, copyElsewhere(t, dir), index)
		compare(t, indexed, dir, "--index-at", index)
	})
	t.Run("nginx", func(t *testing.T) {
		url := startNginx(t, dir)
		compare(t, want, url+"/html/")
		index := t.TempDir()
		indexElsewhere(t, url+"/json/", index)
		compare(t, indexed, url+"/json/", "--index-at", index)
	})
	t.Run("versitygw", func(t *testing.T) {
		gateway, kept := startGateway(t)
		server := httptest.NewServer(gateway)
		defer server.Close()
		setBucketOf(t, server.URL)
		must(t, fill(t.Context(), server.URL, "games", dir))
		setTimes(t, filepath.Join(kept, "games"), fakeModified)
		compare(t, want, "s3://games")
		must(t, fill(t.Context(), server.URL, "elsewhere", dir))
		indexElsewhere(t, "s3://elsewhere", "s3://shared/index")
		compare(t, indexed, "s3://games", "--index-at", "s3://shared/index")
	})
}
