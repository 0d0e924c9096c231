package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A serverProcess is a recfs serve of a test.
type serverProcess struct {
	http, s3 string // addresses, without a slash at the end
	log      string // the access log
	pid      int
}

func startServer(t *testing.T, source string, flags ...string) serverProcess {
	t.Helper()
	dir := t.TempDir()
	p := serverProcess{log: filepath.Join(dir, "access.log")}
	cmd := recfs(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--s3-listen", "127.0.0.1:0", "--access-log", p.log}, append(flags, source)...)...)
	cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+dir)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p.pid = cmd.Process.Pid
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Cleanup(func() {
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended: %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), "s3: "); ok {
			p.s3 = strings.TrimSuffix(addr, " bucket recfs")
			return p
		}
		p.http = strings.TrimSuffix(lines.Text(), "/")
	}
	t.Fatal("the server says no address")
	return p
}

// requests returns how many there were so far.
func (p serverProcess) requests(t *testing.T) int {
	b, err := os.ReadFile(p.log)
	must(t, err)
	return bytes.Count(b, []byte("\n"))
}

func askServer(t *testing.T, method, url, depth string) (*http.Response, []byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	must(t, err)
	r.Header.Set("Depth", depth)
	reply, err := http.DefaultTransport.RoundTrip(r)
	must(t, err)
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	return reply, b, err
}

// TestServeShowsTheTree compares names, sizes and bytes of all that is in the sample archive with
// what HTTP, S3 and WebDAV show of it. It reads the first files of a directory, and some that are
// chosen by their names: all others are documents of the same kind.
func TestServeShowsTheTree(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the sample archive four times")
	}
	dir := smallSamples(t)
	tree, err := source.OpenLocal(dir)
	must(t, err)
	defer tree.Close()
	root := openArchive(t, tree, 64<<20)
	p := startServer(t, dir, "--webdav")
	all, read, files := 0, 0, map[string]int{}
	err = nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case e.Dir != nil:
			checkFolder(t, p, name, e)
		case e.File != nil:
			all++
			dir := path.Dir(name)
			if files[dir]++; files[dir] <= 8 || isChosen(name) {
				checkFile(t, p, name, e)
				read++
			}
		}
		return nil
	})
	must(t, err)
	if all < 1000 || read < 500 {
		t.Errorf("only %d files, %d of them read", all, read)
	}
}

// urlOf is a name in a URL.
func urlOf(name string) string {
	if name == "." {
		return ""
	}
	return strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}

func checkFolder(t *testing.T, p serverProcess, name string, e nodes.Entry) {
	dir := e.Dir
	if v, ok := dir.(nodes.Volatile); ok {
		var err error
		dir, err = v.Snapshot(t.Context())
		must(t, err)
	}
	n, err := dir.Len(t.Context())
	must(t, err)
	var want []string
	for i := range n {
		b, mode, err := nodes.AppendName(t.Context(), dir, nil, i)
		must(t, err)
		want = append(want, fmt.Sprint(string(b), mode.IsDir()))
	}
	at := "/" + urlOf(name)
	if at != "/" {
		at += "/"
	}
	var lines, hrefs, keys []string
	_, body, err := askServer(t, "GET", p.http+at+"?format=json&limit=10000", "")
	must(t, err)
	for text := range strings.Lines(string(body)) {
		var line struct{ Name, Type string }
		must(t, json.Unmarshal([]byte(text), &line))
		lines = append(lines, fmt.Sprint(line.Name, line.Type == "dir"))
	}
	_, body, err = askServer(t, "PROPFIND", p.http+at, "1")
	must(t, err)
	var dav struct {
		Response []struct {
			Href string `xml:"href"`
		} `xml:"response"`
	}
	must(t, xml.Unmarshal(body, &dav))
	for _, r := range dav.Response[1:] {
		text, err := url.PathUnescape(r.Href)
		must(t, err)
		hrefs = append(hrefs, fmt.Sprint(path.Base(text), strings.HasSuffix(text, "/")))
	}
	prefix := strings.TrimPrefix(at, "/")
	token := ""
	for {
		var list struct {
			Contents              []struct{ Key string }
			CommonPrefixes        []struct{ Prefix string }
			NextContinuationToken string
		}
		_, body, err = askServer(t, "GET", p.s3+"/recfs?list-type=2&delimiter=/&prefix="+prefix+"&continuation-token="+token, "")
		must(t, err)
		must(t, xml.Unmarshal(body, &list))
		for _, c := range list.Contents {
			keys = append(keys, fmt.Sprint(path.Base(c.Key), false))
		}
		for _, c := range list.CommonPrefixes {
			keys = append(keys, fmt.Sprint(path.Base(c.Prefix), true))
		}
		if token = list.NextContinuationToken; token == "" {
			break
		}
	}
	for how, got := range map[string][]string{"HTTP": lines, "WebDAV": hrefs} {
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %s has %q, the tree %q", name, how, got, want)
		}
	}
	if name == "." {
		want = append(want, "recordings.jsonlfalse", "recordings.parquetfalse", "tablestrue")
	}
	seen := map[string]bool{}
	for _, k := range keys {
		seen[k] = true
	}
	for _, w := range want {
		if !seen[w] && !strings.HasPrefix(w, "link") {
			reply, _, _ := askServer(t, "GET", p.s3+"/recfs/"+prefix+urlOf(strings.TrimSuffix(w, "false")), "")
			if reply.StatusCode == http.StatusOK {
				t.Errorf("%s: no key for %s", name, w)
			}
		}
	}
	if len(keys) != len(seen) || len(keys) > len(want) {
		t.Errorf("%s: %d keys, %d of them different, for %d names", name, len(keys), len(seen), len(want))
	}
}

func checkFile(t *testing.T, p serverProcess, name string, e nodes.Entry) {
	want, wantErr := nodes.ReadAll(t.Context(), e.File)
	tag := ""
	for at, mark := range map[string]string{p.http + "/": "", p.s3 + "/recfs/": "-1"} {
		reply, got, err := askServer(t, "GET", at+urlOf(name), "")
		version := strings.TrimSuffix(reply.Header.Get("ETag"), mark+`"`)
		failed := err != nil || reply.StatusCode == http.StatusInternalServerError
		switch {
		case failed != (wantErr != nil):
			t.Errorf("%s%s: %d, %v; the tree says %v", at, name, reply.StatusCode, err, wantErr)
		case failed:
		case !bytes.Equal(got, want):
			t.Errorf("%s%s: %d bytes, want %d", at, name, len(got), len(want))
		case len(version) != 33 || tag != "" && version != tag:
			t.Errorf("%s%s: version %s, by the other %s", at, name, reply.Header.Get("ETag"), tag)
		default:
			tag = version
		}
	}
}

func TestServeFlags(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		name = filepath.Join(dir, name)
		must(t, os.WriteFile(name, []byte(text), mode))
		must(t, os.Chmod(name, mode))
		return name
	}
	good, open := write("good", strings.Repeat("x", 16)+"\n", 0o600), write("open", strings.Repeat("x", 16), 0o644)
	short, keys := write("short", "secret\n", 0o600), write("keys", "key\n", 0o600)
	odd := write("odd", "key secret\na=b secret\n", 0o600)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--listen :0", 2, "serve: :0 is not loopback: --token-file is needed"},
		{"--listen 192.0.2.1:80 --token-file " + good, 2, "serve: 192.0.2.1:80 is not loopback: --tls-cert or --insecure-http is needed"},
		{"--s3-listen [::]:0", 2, "serve: [::]:0 is not loopback: --s3-keys is needed"},
		{"--tls-cert x", 2, "--tls-cert and --tls-key need each other"},
		{"--max-requests 0", 2, "--max-requests is at least 1"},
		{"--token-file " + open, 1, "open: others may read it"},
		{"--token-file " + short, 1, "short: a token has 16 bytes or more"},
		{"--s3-keys " + keys, 1, "keys: line 1 is not ACCESSKEY SECRET"},
		{"--s3-keys " + odd, 1, "odd: line 2: an access key has 3 bytes or more, and no = , or /"},
		{"--s3-keys " + write("pair", "key secret\n", 0o600), 2, "serve: --s3-keys needs --s3-listen"},
		{"--token-file " + filepath.Join(dir, "none"), 1, "no such file"},
		{"--listen 192.0.2.1:80 --insecure-http --token-file " + good, 1, "cannot assign"},
	} {
		var stderr bytes.Buffer
		e := &env{stdout: io.Discard, stderr: &stderr}
		args := append([]string{"recfs", "serve", "--cache-disk", "0"}, strings.Fields(c.args)...)
		if code := run(e, append(args, dir)); code != c.code || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("serve %s: %d %s, want %d %s", c.args, code, stderr.String(), c.code, c.says)
		}
	}
	var stderr bytes.Buffer
	if code := run(&env{stdout: io.Discard, stderr: &stderr}, []string{"recfs", "serve", filepath.Join(dir, "nothing")}); code != 1 {
		t.Errorf("a source that is not there: %d %s", code, stderr.String())
	}
}

// A server answers at a socket with a name, tells how it is doing, and ends with 0.
func TestServeAndStats(t *testing.T) {
	p := startServer(t, smallSamples(t))
	if _, body, err := askServer(t, "GET", p.http+"/?format=json", ""); err != nil || !bytes.Contains(body, []byte(`"type":"dir"`)) {
		t.Errorf("%s %v", body, err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(&env{stdout: &stdout, stderr: &stderr}, []string{"recfs", "stats", p.http}); code != 0 || !strings.Contains(stdout.String(), "get 1") {
		t.Errorf("%d %s%s", code, stdout.String(), stderr.String())
	}
	if code := run(&env{stdout: &stdout, stderr: &stderr}, []string{"recfs", "stats", "http://127.0.0.1:1/"}); code != 1 ||
		!strings.Contains(stderr.String(), "no server of this user on this machine answers there") {
		t.Errorf("%d %s", code, stderr.String())
	}
	if p.requests(t) != 1 {
		t.Errorf("%d requests in the log", p.requests(t))
	}
}

// TestServeClients counts the requests of engines, which make only the row groups that they need.
func TestServeClients(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python")
	}
	p := startServer(t, samples)
	python := cmp.Or(os.Getenv("RECFS_PYTHON"), "python3")
	table := p.http + "/tables/teehistorian/positions/teehistorian/busy-20.1.teehistorian.xz.parquet"
	const tables = 2
	s3 := fmt.Sprintf("dict(aws_endpoint_url='%s', aws_access_key_id='x', aws_secret_access_key='y', aws_region='us-east-1', aws_allow_http='true')", p.s3)
	host := strings.TrimPrefix(p.s3, "http://")
	for _, c := range []struct {
		module, program, want string
		most                  int
	}{
		{"polars", "print(polars.scan_parquet('" + table + "').select(polars.len()).collect().item())", "133961", 2},
		{"polars", "print(polars.scan_parquet('" + table + "').filter(polars.col('tick') == 5000).collect().height)", "7", 4},
		{"polars", "print(polars.scan_parquet('s3://recfs/tables/teehistorian/positions/**/*.parquet', storage_options=" + s3 + ").select(polars.len()).collect().item())", "136001", 3*tables + 6},
		{"fsspec", "import pyarrow.parquet, aiohttp; print(pyarrow.parquet.ParquetFile(fsspec.open('" + table + "').open()).metadata.num_rows)", "133961", 3},
		{"pyarrow", "import pyarrow.dataset, pyarrow.fs; f = pyarrow.fs.S3FileSystem(anonymous=True, endpoint_override='" + host + "', scheme='http', region='us-east-1'); print(pyarrow.dataset.dataset('recfs/tables/teehistorian/positions', filesystem=f, format='parquet').count_rows())", "136001", 2*tables + 6},
		{"duckdb", "import s3fs; c = duckdb.connect(); c.register_filesystem(s3fs.S3FileSystem(anon=True, client_kwargs=dict(endpoint_url='" + p.s3 + "', region_name='us-east-1'))); print(c.sql(\"select count(*) from 's3://recfs/tables/teehistorian/positions/**/*.parquet'\").fetchall()[0][0])", "136001", 2*tables + 6},
		{"boto3", "from botocore.config import Config; from botocore import UNSIGNED; b = boto3.client('s3', endpoint_url='" + p.s3 + "', region_name='us-east-1', config=Config(signature_version=UNSIGNED)); print(b.get_object(Bucket='recfs', Key='README.md')['ContentLength'])", "1313", 1},
	} {
		t.Run(c.module, func(t *testing.T) {
			before := p.requests(t)
			out, err := exec.CommandContext(t.Context(), python, "-c", "import "+c.module+"; "+c.program).CombinedOutput()
			if err != nil && strings.Contains(string(out), "ModuleNotFoundError") {
				t.Skipf("%s: %s", python, out)
			}
			asked := p.requests(t) - before
			if got := strings.TrimSpace(string(out)); err != nil || got != c.want || asked > c.most || asked == 0 {
				t.Errorf("%s\n%s, %v: %d requests, want %s and at most %d", c.program, out, err, asked, c.want, c.most)
			}
		})
	}
}

// TestServePython runs the blocks of Python in the documents that ask a server.
func TestServePython(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python")
	}
	p := startServer(t, samples)
	places := strings.NewReplacer(docHTTP, strings.TrimPrefix(p.http, "http://"), docS3, strings.TrimPrefix(p.s3, "http://"))
	for name, least := range map[string]int{"README.md": 1, "docs/serve.md": 5} {
		text, err := os.ReadFile("../../" + name)
		must(t, err)
		blocks := pythonBlock.FindAllStringSubmatch(string(text), -1)
		if len(blocks) < least {
			t.Errorf("%s: %d blocks of Python", name, len(blocks))
		}
		for _, block := range blocks {
			t.Run(block[1], func(t *testing.T) { runPython(t, block[1], places.Replace(block[0]), "") })
		}
	}
}

// rclone reads the archive as an S3 and as a WebDAV client.
func TestServeRclone(t *testing.T) {
	if testing.Short() {
		t.Skip("copies the sample archive")
	}
	if _, err := exec.LookPath("rclone"); err != nil {
		t.Skip(err)
	}
	keys := filepath.Join(t.TempDir(), "keys")
	must(t, os.WriteFile(keys, []byte("key secret\n"), 0o600))
	p := startServer(t, samples, "--webdav", "--s3-keys", keys)
	for remote, config := range map[string][]string{
		"dav:hcrp/tiny.hcrp":        {"RCLONE_CONFIG_DAV_TYPE=webdav", "RCLONE_CONFIG_DAV_URL=" + p.http},
		"s3:recfs/hcrp/tiny.hcrp":   {"RCLONE_CONFIG_S3_TYPE=s3", "RCLONE_CONFIG_S3_PROVIDER=Other", "RCLONE_CONFIG_S3_ENDPOINT=" + p.s3, "RCLONE_CONFIG_S3_ACCESS_KEY_ID=key", "RCLONE_CONFIG_S3_SECRET_ACCESS_KEY=secret"},
		"bad:recfs/hcrp/tiny.hcrp/": {"RCLONE_CONFIG_BAD_TYPE=s3", "RCLONE_CONFIG_BAD_PROVIDER=Other", "RCLONE_CONFIG_BAD_ENDPOINT=" + p.s3, "RCLONE_CONFIG_BAD_ACCESS_KEY_ID=key", "RCLONE_CONFIG_BAD_SECRET_ACCESS_KEY=other"},
	} {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "rclone", "--config", os.DevNull, "--retries", "1", "copy", remote, dir)
		cmd.Env = append(os.Environ(), append(config, "AWS_CA_BUNDLE=")...)
		out, err := cmd.CombinedOutput()
		copied := 0
		must(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			copied++
			got, err := os.ReadFile(name)
			if _, want, _ := askServer(t, "GET", p.http+"/hcrp/tiny.hcrp"+urlOf(strings.TrimPrefix(name, dir)), ""); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s has %d bytes, want %d, %v", remote, name, len(got), len(want), err)
			}
			return nil
		}))
		if bad := strings.HasPrefix(remote, "bad:"); bad != (err != nil) || bad != (copied < 5) {
			t.Errorf("%s: %d files, %v: %s", remote, copied, err, out)
		}
	}
}

// selfSigned writes a certificate of 127.0.0.1 and its key.
func selfSigned(t *testing.T, dir string) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	return cert, key
}

// A token and a certificate let in who has the one and trusts the other; a new token holds from
// SIGHUP on, and a bad file changes nothing.
func TestServeSecrets(t *testing.T) {
	dir := t.TempDir()
	cert, key := selfSigned(t, dir)
	token := filepath.Join(dir, "token")
	write := func(text string) { must(t, os.WriteFile(token, []byte(text), 0o600)) }
	write("the first token of all")
	cmd := recfs(t, "serve", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--token-file", token, smallSamples(t))
	cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	log, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	addr, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	addr = strings.TrimSpace(addr)
	trusting := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} //nolint:gosec // a test's own
	status := func(token string) int {
		r, err := http.NewRequestWithContext(t.Context(), "GET", addr, nil)
		must(t, err)
		r.SetBasicAuth("me", token)
		reply, err := trusting.RoundTrip(r)
		must(t, err)
		reply.Body.Close()
		return reply.StatusCode
	}
	if first, other := status("the first token of all"), status("the second token of all"); !strings.HasPrefix(addr, "https://") || first != 200 || other != 401 {
		t.Errorf("%s: %d and %d", addr, first, other)
	}
	write("short")
	must(t, cmd.Process.Signal(syscall.SIGHUP))
	if line, err := bufio.NewReader(log).ReadString('\n'); err != nil || !strings.Contains(line, "a token has 16 bytes or more") {
		t.Errorf("%s %v", line, err)
	}
	if status("the first token of all") != 200 {
		t.Error("a bad file locks out")
	}
	write("the second token of all")
	must(t, cmd.Process.Signal(syscall.SIGHUP))
	nodestest.Eventually(t, "the new token", func() bool { return status("the second token of all") == 200 })
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	must(t, cmd.Wait())
}

// A mount that serves shows both, at a socket here, of which there is one owner.
func TestMountServes(t *testing.T) {
	if !canMount() {
		t.Skip("/dev/fuse cannot be used here")
	}
	dir := t.TempDir()
	mnt, socket := filepath.Join(dir, "m"), filepath.Join(dir, "s")
	t.Cleanup(func() { unmountBelow(dir) })
	if out, err := recfs(t, "mount", "--serve", "unix:"+socket, smallSamples(t), mnt).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(socket)
	must(t, err)
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	reply, err := c.Get("http://localhost/hcrp/tiny.hcrp/header.json")
	must(t, err)
	defer reply.Body.Close()
	got, err := io.ReadAll(reply.Body)
	must(t, err)
	want, err := os.ReadFile(filepath.Join(mnt, "hcrp/tiny.hcrp/header.json"))
	must(t, err)
	if !bytes.Equal(got, want) || info.Mode().Perm() != 0o600 {
		t.Errorf("%s, in the mount %s; the socket has %v", got, want, info.Mode())
	}
	if reply, err := c.Get("http://localhost/.recfs/stats.json"); err != nil || reply.StatusCode != http.StatusNotFound {
		t.Errorf("%v %v", reply, err)
	}
	if out, err := recfs(t, "umount", mnt).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
