package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recfs/nodes/nodestest"
)

// serveDocument is docs/serve.md with other addresses.
func serveDocument(t *testing.T, p serverProcess) string {
	text, err := os.ReadFile("../../docs/serve.md")
	must(t, err)
	return strings.NewReplacer(docHTTP, strings.TrimPrefix(p.http, "http://"), docS3, strings.TrimPrefix(p.s3, "http://")).Replace(string(text))
}

// TestServeRcloneLines runs what the document has for rclone: its remotes, and what they list.
func TestServeRcloneLines(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("rclone"); err != nil {
		t.Skip(err)
	}
	p := startServer(t, samples, "--webdav")
	text := serveDocument(t, p)
	exports := regexp.MustCompile(`(?m)^\$ (export RCLONE.*)$`).FindAllStringSubmatch(text, -1)
	lists := regexp.MustCompile("`(rclone ls [^`]+)`").FindAllStringSubmatch(text, -1)
	if len(exports) != 2 || len(lists) != 2 {
		t.Fatalf("%d remotes, %d lists", len(exports), len(lists))
	}
	var printed []string
	for _, list := range lists {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", exports[0][1]+"\n"+exports[1][1]+"\n"+list[1])
		cmd.Env = append(os.Environ(), "RCLONE_CONFIG="+os.DevNull, "AWS_CA_BUNDLE=")
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), " header.json\n") {
			t.Errorf("%s: %s%v", list[1], out, err)
		}
		lines := strings.Split(string(out), "\n")
		slices.Sort(lines) // keys come in the order of S3, folders of WebDAV one by one
		printed = append(printed, strings.Join(lines, "\n"))
	}
	if printed[0] != printed[1] {
		t.Errorf("S3 lists\n%sWebDAV\n%s", printed[0], printed[1])
	}
}

// TestServeSigned reads with a key by clients that sign each in their way, and by a signed URL.
func TestServeSigned(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python")
	}
	keys := filepath.Join(t.TempDir(), "keys")
	must(t, os.WriteFile(keys, []byte("access secret\n"), 0o600))
	p := startServer(t, samples, "--s3-keys", keys)
	host := strings.TrimPrefix(p.s3, "http://")
	boto := "s3 = boto3.client('s3', endpoint_url='" + p.s3 + "', region_name='eu-west-1', aws_access_key_id='access', aws_secret_access_key='SECRET'); "
	for _, c := range []struct{ name, module, program string }{
		{"boto3", "boto3", boto + "print(len(s3.get_object(Bucket='recfs', Key='README.md')['Body'].read()))"},
		{"signed URL", "boto3", "import urllib.request; from botocore.config import Config; " + boto +
			"print(len(urllib.request.urlopen(boto3.client('s3', endpoint_url='" + p.s3 + "', region_name='eu-west-1', aws_access_key_id='access', aws_secret_access_key='SECRET', config=Config(signature_version='s3v4')).generate_presigned_url('get_object', Params=dict(Bucket='recfs', Key='README.md'), ExpiresIn=60)).read()))"},
		{"pyarrow", "pyarrow", "import pyarrow.fs; print(len(pyarrow.fs.S3FileSystem(access_key='access', secret_key='SECRET', endpoint_override='" + host + "', scheme='http', region='eu-west-1').open_input_file('recfs/README.md').read()))"},
		{"s3fs", "s3fs", "print(len(s3fs.S3FileSystem(key='access', secret='SECRET', client_kwargs=dict(endpoint_url='" + p.s3 + "')).cat('recfs/README.md')))"},
		{"polars", "polars", "print(1313 if polars.scan_parquet('s3://recfs/recordings.parquet', storage_options=dict(aws_endpoint_url='" + p.s3 + "', aws_access_key_id='access', aws_secret_access_key='SECRET', aws_region='eu-west-1', aws_allow_http='true')).select(polars.len()).collect().item() == 22 else 0)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			python := cmp.Or(os.Getenv("RECFS_PYTHON"), "python3")
			if err := exec.CommandContext(t.Context(), python, "-c", "import "+c.module).Run(); err != nil {
				t.Skipf("%s has no %s: %v", python, c.module, err)
			}
			for secret, want := range map[string]string{"secret": "1313\n", "another": ""} {
				got, err := exec.CommandContext(t.Context(), python, "-c", "import "+c.module+"; "+strings.ReplaceAll(c.program, "SECRET", secret)).Output()
				if string(got) != want || (err == nil) != (want != "") {
					t.Errorf("with the secret %q: %s, %v", secret, got, err)
				}
			}
		})
	}
}

// TestServeBehindProxy starts nginx with TLS and the lines of the document, and reads below its
// path as a browser, recfs, a WebDAV and an S3 client do.
func TestServeBehindProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("starts nginx")
	}
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip(err)
	}
	if out, _ := exec.CommandContext(t.Context(), nginx, "-V").CombinedOutput(); !bytes.Contains(out, []byte("http_sub_module")) {
		t.Skip("nginx has no sub_filter")
	}
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys")
	must(t, os.WriteFile(keys, []byte("access secret\n"), 0o600))
	p := startServer(t, samples, "--webdav", "--s3-keys", keys)
	blocks := regexp.MustCompile("(?ms)^```nginx\n(.*?)^```$").FindAllStringSubmatch(serveDocument(t, p), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of nginx", len(blocks))
	}
	cert, key := selfSigned(t, dir)
	addr := freeAddress(t)
	config := filepath.Join(dir, "nginx.conf")
	must(t, os.WriteFile(config, fmt.Appendf(nil, `daemon off; error_log stderr; pid %[1]s/pid; user root;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/1; proxy_temp_path %[1]s/2; fastcgi_temp_path %[1]s/3; uwsgi_temp_path %[1]s/4; scgi_temp_path %[1]s/5;
	server {
		listen %[2]s ssl; ssl_certificate %[3]s; ssl_certificate_key %[4]s;
		%[5]s
		%[6]s}
		location / { proxy_pass %[7]s; proxy_set_header Host $http_host; }
	}
}`, dir, addr, cert, key, strings.TrimSuffix(strings.TrimSpace(blocks[0][1]), "}"), blocks[1][1], p.s3), 0o666))
	proxy := exec.CommandContext(t.Context(), nginx, "-p", dir, "-c", config)
	startProxy(t, proxy)
	top := "https://" + addr + "/archive/"
	ask := checkBelow(t, top)
	_, body, err := ask("PROPFIND", top+"hcrp/tiny.hcrp/")
	must(t, err)
	var dav struct {
		Hrefs []string `xml:"response>href"`
	}
	must(t, xml.Unmarshal([]byte(body), &dav))
	for _, href := range dav.Hrefs {
		if !strings.HasPrefix(href, "/archive/hcrp/tiny.hcrp/") {
			t.Errorf("WebDAV names %s", href)
		}
	}
	_, want, err := askServer(t, "GET", p.http+"/hcrp/tiny.hcrp/header.json", "")
	must(t, err)
	cat := recfs(t, "cat", "--ca-file", cert, top+"hcrp/tiny.hcrp/header.json")
	cat.Stderr = t.Output()
	if got, err := cat.Output(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("recfs cat: %s, %v", got, err)
	}
	if _, err := exec.LookPath("rclone"); err != nil {
		return
	}
	for _, from := range []string{"dav:hcrp/tiny.hcrp/header.json", "s3:recfs/hcrp/tiny.hcrp/header.json"} {
		cmd := exec.CommandContext(t.Context(), "rclone", "--config", os.DevNull, "--ca-cert", cert, "--retries", "1", "cat", from)
		cmd.Env = append(os.Environ(), "AWS_CA_BUNDLE=", "RCLONE_CONFIG_DAV_TYPE=webdav", "RCLONE_CONFIG_DAV_URL="+top, "RCLONE_CONFIG_S3_TYPE=s3", "RCLONE_CONFIG_S3_PROVIDER=Other",
			"RCLONE_CONFIG_S3_ENDPOINT=https://"+addr, "RCLONE_CONFIG_S3_ACCESS_KEY_ID=access", "RCLONE_CONFIG_S3_SECRET_ACCESS_KEY=secret")
		cmd.Stderr = t.Output()
		if got, err := cmd.Output(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %s, %v", from, got, err)
		}
	}
}

// startProxy runs a proxy until the end of the test.
func startProxy(t *testing.T, proxy *exec.Cmd) {
	t.Helper()
	proxy.Cancel = func() error { return proxy.Process.Signal(os.Interrupt) }
	proxy.Stderr = t.Output()
	must(t, proxy.Start())
	t.Cleanup(func() {
		_ = proxy.Process.Signal(os.Interrupt)
		_ = proxy.Wait() // it tells of the signal
	})
}

// checkBelow follows the links of pages behind a proxy, where they stay below its path. It returns
// what asks there.
func checkBelow(t *testing.T, top string) func(method, at string) (*http.Response, string, error) {
	t.Helper()
	trusting := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} //nolint:gosec // a test's own
	ask := func(method, at string) (*http.Response, string, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, at, nil)
		must(t, err)
		r.Header.Set("Depth", "1")
		reply, err := trusting.RoundTrip(r)
		if err != nil {
			return nil, "", err
		}
		defer reply.Body.Close()
		b, err := io.ReadAll(reply.Body)
		return reply, string(b), err
	}
	nodestest.Eventually(t, "the proxy", func() bool { _, _, err := ask("GET", top); return err == nil })

	for _, page := range []string{top + "?files", top + "hcrp/tiny.hcrp/"} {
		at, err := url.Parse(page)
		must(t, err)
		_, body, err := ask("GET", page)
		must(t, err)
		links := regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(body, -1)
		if len(links) < 5 {
			t.Fatalf("%s: %s", page, body)
		}
		for _, link := range links {
			to, err := at.Parse(link[1])
			must(t, err)
			if reply, _, err := ask("GET", to.String()); !strings.HasPrefix(to.Path, "/archive/") || err != nil || reply.StatusCode != http.StatusOK {
				t.Errorf("%s leads to %s: %v, %v", page, to, reply, err)
			}
		}
	}
	if reply, _, err := ask("GET", top+"hcrp"); err != nil || reply.StatusCode != http.StatusPermanentRedirect {
		t.Errorf("%v, %v", reply, err)
	} else if to, err := reply.Location(); err != nil || to.String() != top+"hcrp/" {
		t.Errorf("a folder without its slash is at %v, %v", to, err)
	}
	return ask
}

// TestServeBehindCaddy is TestServeBehindProxy for Caddy.
func TestServeBehindCaddy(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Caddy")
	}
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	p := startServer(t, samples)
	blocks := regexp.MustCompile("(?ms)^```caddy\n(.*?)^```$").FindAllStringSubmatch(serveDocument(t, p), -1)
	if len(blocks) != 1 {
		t.Fatalf("%d blocks of Caddy", len(blocks))
	}
	cert, key := selfSigned(t, dir)
	addr := freeAddress(t)
	config := filepath.Join(dir, "Caddyfile")
	must(t, os.WriteFile(config, fmt.Appendf(nil, `{
	admin off
	auto_https off
}
https://%s {
	tls %s %s
	%s
}`, addr, cert, key, blocks[0][1]), 0o666))
	proxy := exec.CommandContext(t.Context(), caddy, "run", "--config", config, "--adapter", "caddyfile")
	proxy.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	startProxy(t, proxy)
	top := "https://" + addr + "/archive/"
	_, want, err := checkBelow(t, top)("GET", top+"hcrp/tiny.hcrp/header.json")
	must(t, err)
	got, err := recfs(t, "cat", "--ca-file", cert, top+"hcrp/tiny.hcrp/header.json").Output()
	if err != nil || string(got) != want {
		t.Errorf("recfs cat: %s, %v", got, err)
	}
}

// A recfs mounts what another one serves.
func TestServeMounted(t *testing.T) {
	if !canMount() {
		t.Skip("/dev/fuse cannot be used here")
	}
	p := startServer(t, smallSamples(t))
	mnt := filepath.Join(t.TempDir(), "mnt")
	t.Cleanup(func() { unmountBelow(filepath.Dir(mnt)) })
	if out, err := recfs(t, "mount", p.http+"/", mnt).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(mnt, "hcrp/tiny.hcrp/header.json"))
	if _, want, _ := askServer(t, "GET", p.http+"/hcrp/tiny.hcrp/header.json", ""); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s, %v", got, err)
	}
	if out, err := recfs(t, "umount", mnt).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
