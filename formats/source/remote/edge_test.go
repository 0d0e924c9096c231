package remote

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"recfs/cache"
	"recfs/nodes"
)

// withoutAWS leaves nothing of AWS in the environment.
func withoutAWS(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("AWS_CONFIG_FILE", "/nonexistent")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
}

// writeFile returns the name of a new file.
func writeFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestCredentials takes keys from each place that may have some.
func TestCredentials(t *testing.T) {
	const ends = "2999-01-01T00:00:00Z"
	keys := func(id string) string {
		return fmt.Sprintf(`{"Code":"Success","AccessKeyId":%q,"SecretAccessKey":"s","Token":"token","Expiration":%q}`, id, ends)
	}
	// What is asked for keys in place of the addresses of AWS.
	places := map[string]string{
		"GET 169.254.170.2/task":                                             keys("container"),
		"GET 127.0.0.1/full":                                                 keys("full"),
		"PUT 169.254.169.254/latest/api/token":                               "session",
		"GET 169.254.169.254/latest/meta-data/iam/security-credentials/":     "role\n",
		"GET 169.254.169.254/latest/meta-data/iam/security-credentials/role": keys("instance"),
		"POST sts.eu-west-9.amazonaws.com": "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>web</AccessKeyId>" +
			"<SecretAccessKey>s</SecretAccessKey><SessionToken>token</SessionToken><Expiration>" + ends + "</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>",
	}
	const profiles = "[default]\naws_access_key_id = shared\naws_secret_access_key = s\n"
	for want, set := range map[string]func(t *testing.T){
		"env": func(t *testing.T) {
			t.Setenv("AWS_ACCESS_KEY_ID", "env")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", writeFile(t, profiles))
		},
		"shared": func(t *testing.T) {
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", writeFile(t, profiles))
			t.Setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/task")
		},
		"config": func(t *testing.T) {
			t.Setenv("AWS_CONFIG_FILE", writeFile(t, strings.Replace(profiles, "shared", "config", 1)))
		},
		"named": func(t *testing.T) {
			t.Setenv("AWS_PROFILE", "games")
			t.Setenv("AWS_CONFIG_FILE", writeFile(t, "[profile games]\naws_access_key_id = named\naws_secret_access_key = s\n"))
		},
		"web": func(t *testing.T) {
			t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", writeFile(t, "identity"))
			t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/x")
			t.Setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/task")
		},
		"container": func(t *testing.T) { t.Setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/task") },
		"full": func(t *testing.T) {
			t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/full")
			t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "let me in")
		},
		"instance": func(*testing.T) {},
	} {
		t.Run(want, func(t *testing.T) {
			withoutAWS(t)
			set(t)
			var signed, payer string
			f := &fakeS3{objects: manyObjects(), fault: func(_ http.ResponseWriter, r *http.Request) bool {
				signed, payer = r.Header.Get("Authorization"), r.Header.Get("X-Amz-Request-Payer")
				return false
			}}
			tree := openFake(t, f, func(o *Options) { o.Anonymous, o.RequesterPays, o.Region = false, true, "eu-west-9" })
			tree.s.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				answer, ok := places[r.Method+" "+r.URL.Host+r.URL.Path]
				if !ok {
					return http.DefaultTransport.RoundTrip(r)
				}
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
			})
			for range 2 {
				if _, err := tree.List(t.Context(), "2026"); err != nil {
					t.Fatal(err)
				}
			}
			if want := "Credential=" + want + "/"; !strings.Contains(signed, want) || !strings.Contains(signed, "/eu-west-9/s3/") || payer != "requester" {
				t.Errorf("signed %q, payer %q", signed, payer)
			}
		})
	}
}

// TestRenewal takes new keys once the old ones have ended, and keeps those that hold.
func TestRenewal(t *testing.T) {
	withoutAWS(t)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/task")
	var signed []string
	f := &fakeS3{objects: manyObjects(), fault: func(_ http.ResponseWriter, r *http.Request) bool {
		_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		key, _, _ := strings.Cut(scope, "/")
		signed = append(signed, key)
		return false
	}}
	tree := openFake(t, f, func(o *Options) { o.Anonymous = false })
	ends := []string{"2001-01-01T00:00:00Z", "2002-01-01T00:00:00Z", "2999-01-01T00:00:00Z"}
	asked := 0
	tree.s.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != "169.254.170.2" {
			return http.DefaultTransport.RoundTrip(r)
		}
		text := fmt.Sprintf(`{"AccessKeyId":"key%d","SecretAccessKey":"s","Token":"t","Expiration":%q}`, asked, ends[asked])
		asked++
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	})
	for _, dir := range []string{".", "2026", "2026/11", "both"} {
		if _, err := tree.List(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(signed, " "), "key0 key1 key2 key2"; got != want {
		t.Errorf("signed by %s, and not %s", got, want)
	}
}

// TestNoCredentials says so where nobody has any.
func TestNoCredentials(t *testing.T) {
	withoutAWS(t)
	tree := openFake(t, &fakeS3{}, func(o *Options) { o.Anonymous = false })
	tree.s.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: errors.New("no route")}
	})
	_, err := tree.List(t.Context(), ".")
	if !errors.Is(err, iofs.ErrPermission) || !strings.Contains(fmt.Sprint(err), "s3://b: no credentials; --no-sign-request reads public buckets") {
		t.Error(err)
	}
}

// TestRegion asks where the server says that the bucket is, from then on, and believes that once.
func TestRegion(t *testing.T) {
	withoutAWS(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	for _, region := range []string{"eu-central-1", "evil.example/"} {
		var scopes []string
		f := &fakeS3{objects: manyObjects(), fault: func(w http.ResponseWriter, r *http.Request) bool {
			_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "/")
			scopes = append(scopes, strings.Split(scope, "/")[1])
			if len(scopes) > 1 {
				return false
			}
			w.Header().Set("X-Amz-Bucket-Region", region)
			refuse(w, http.StatusBadRequest, "AuthorizationHeaderMalformed")
			return true
		}}
		tree := openFake(t, f, func(o *Options) { o.Anonymous = false })
		for _, dir := range []string{".", "2026"} {
			_, _ = tree.List(t.Context(), dir)
		}
		want := "us-east-1 eu-central-1 eu-central-1"
		if region != "eu-central-1" {
			want = "us-east-1 us-east-1"
		}
		if got := strings.Join(scopes, " "); got != want {
			t.Errorf("%s: %s", region, got)
		}
	}
}

// TestTLS believes a server whose certificate the file has, at an address of IPv6 if this machine
// has one, and says of another that its certificate is wrong.
func TestTLS(t *testing.T) {
	withoutAWS(t)
	server := httptest.NewUnstartedServer(&fakeS3{objects: manyObjects()})
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		server.Listener.Close()
		server.Listener = l
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it hears of the client that does not believe it
	server.StartTLS()
	defer server.Close()
	file := writeFile(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	c := cache.New(1<<20, nil)
	defer c.Close()
	list := func(opt Options) error {
		s, err := OpenBucket("b", c, opt)
		if err != nil {
			return err
		}
		_, err = s.Tree("").List(t.Context(), "2026")
		return err
	}
	opt := options(server.URL)
	if err := list(opt); !errors.Is(err, nodes.ErrRemote) || !strings.Contains(fmt.Sprint(err), "certificate: ") {
		t.Errorf("not known: %v", err)
	}
	opt.CAFile = file
	if err := list(opt); err != nil {
		t.Errorf("--ca-file: %v", err)
	}
	opt.CAFile = ""
	t.Setenv("AWS_CA_BUNDLE", file)
	if err := list(opt); err != nil {
		t.Errorf("AWS_CA_BUNDLE: %v", err)
	}
	opt.CAFile = writeFile(t, "no certificate")
	if err := list(opt); err == nil || !strings.Contains(err.Error(), "no certificate in PEM") {
		t.Errorf("no PEM: %v", err)
	}
}

// TestProxy asks through the proxy of the environment, which is read once a process.
func TestProxy(t *testing.T) {
	const variable, host = "RECFS_TEST_PROXIED", "http://s3.example.invalid"
	if os.Getenv(variable) != "" {
		c := cache.New(1<<20, nil)
		defer c.Close()
		u, _ := url.Parse(host)
		site, err := OpenSite(u, c, options(""))
		if err != nil {
			t.Fatal(err)
		}
		s, err := OpenBucket("b", c, options(host))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Tree("").List(t.Context(), "2026")
		_, errSite := site.Tree("").Stat(t.Context(), "b/a.txt")
		fmt.Printf("bucket: %v\nsite: %v\n", err, errSite)
		return
	}
	f := &fakeS3{objects: manyObjects()}
	f.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Length", "5")
		}
		return r.Method == http.MethodHead
	}
	proxy := httptest.NewServer(f)
	defer proxy.Close()
	for excepted, want := range map[string]string{
		"":                   "bucket: <nil>\nsite: <nil>\n",
		"s3.example.invalid": "no address of s3.example.invalid",
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxy$")
		cmd.Env = append(os.Environ(), variable+"=1", "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY="+excepted, "no_proxy="+excepted)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("NO_PROXY=%s: %v\n%s", excepted, err, out)
		}
	}
}
