package web

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rclone/gofakes3/signature"
	"pgregory.net/rapid"

	"recfs/fs/web/page"
	"recfs/nodes"
)

func (s *site) list(query string) (r listResult, keys []string) {
	s.t.Helper()
	reply, body, err := s.do("GET", "/recfs?"+query)
	if err != nil || reply.StatusCode != 200 {
		s.t.Fatalf("%s: %d %s, %v", query, reply.StatusCode, body, err)
	}
	if err := xml.Unmarshal([]byte(body), &r); err != nil {
		s.t.Fatal(err)
	}
	for _, c := range r.Contents {
		keys = append(keys, c.Key)
	}
	for _, p := range r.CommonPrefixes {
		keys = append(keys, p.Prefix)
	}
	slices.Sort(keys)
	return r, keys
}

func TestS3Lists(t *testing.T) {
	s := serve(t, sampleTree(), true, nil)
	for query, want := range map[string]string{
		"list-type=2":                                    "a b#%é\\:|a.b|a/x|bad\uFFFD.txt|damaged/explodes|damaged/late|damaged/nothing|damaged/panic|damaged/sized|page.svg|plain|text",
		"list-type=2&delimiter=/":                        "a b#%é\\:|a.b|a/|bad\uFFFD.txt|damaged/|page.svg|plain|text",
		"list-type=2&prefix=a":                           "a b#%é\\:|a.b|a/x",
		"list-type=2&prefix=a/":                          "a/x",
		"list-type=2&prefix=a&delimiter=/":               "a b#%é\\:|a.b|a/",
		"list-type=2&prefix=a/&delimiter=/":              "a/far.toy/|a/rec.toy/|a/x",
		"list-type=2&prefix=a/rec.toy/&delimiter=/":      "a/rec.toy/big.parquet|a/rec.toy/empty|a/rec.toy/header.json|a/rec.toy/ticks/",
		"list-type=2&prefix=a/rec.toy/ticks/0000000":     strings.Join(tickKeys(10), "|"),
		"list-type=2&prefix=a/rec.toy/&max-keys=4":       "a/rec.toy/big.parquet|a/rec.toy/empty|a/rec.toy/header.json|a/rec.toy/ticks/00000000.json",
		"list-type=2&prefix=none/x/":                     "",
		"list-type=2&prefix=../":                         "",
		"list-type=2&prefix=plain/":                      "",
		"list-type=2&start-after=a.b":                    "a/x|bad\uFFFD.txt|damaged/explodes|damaged/late|damaged/nothing|damaged/panic|damaged/sized|page.svg|plain|text",
		"list-type=2&start-after=a/x&prefix=a":           "",
		"list-type=2&start-after=zz":                     "",
		"list-type=2&max-keys=0":                         "",
		"marker=page.svg":                                "plain|text",
		"delimiter=/&marker=a/":                          "bad\uFFFD.txt|damaged/|page.svg|plain|text",
		"list-type=2&encoding-type=url&prefix=bad":       "bad%FF.txt",
		"list-type=2&encoding-type=url&start-after=plai": "plain|text",
	} {
		if _, keys := s.list(query); strings.Join(keys, "|") != want {
			t.Errorf("%s: %q, want %q", query, strings.Join(keys, "|"), want)
		}
	}
	r, _ := s.list("list-type=2&prefix=plain")
	reply, body, _ := s.do("GET", "/recfs/plain")
	if c := r.Contents[0]; c.Size != 10 || body != "0123456789" || c.LastModified != "2024-02-29T12:30:00.123Z" || c.StorageClass != "STANDARD" {
		t.Errorf("%+v, %q", c, body)
	}
	_ = reply
	r, _ = s.list("list-type=2&prefix=a/rec.toy/header")
	if head, _, _ := s.do("HEAD", "/recfs/a/rec.toy/header.json"); head.Header.Get("ETag") != r.Contents[0].ETag || !strings.HasSuffix(r.Contents[0].ETag, `-1"`) {
		t.Errorf("%s is listed, %s told", r.Contents[0].ETag, head.Header.Get("ETag"))
	}
}

func tickKeys(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("a/rec.toy/ticks/%08d.json", i))
	}
	return keys
}

func TestS3Calls(t *testing.T) {
	s := serve(t, sampleTree(), true, nil)
	for _, c := range []struct {
		method, url, header string
		status              int
		want                string
	}{
		{"GET", "/", "", 200, "<Bucket><Name>recfs</Name>"},
		{"HEAD", "/recfs", "", 200, ""},
		{"GET", "/recfs?location", "", 200, "<LocationConstraint "},
		{"GET", "/recfs/plain", "Range: bytes=1-2", 206, "12"},
		{"GET", "/recfs/plain?response-content-type=text/html", "", 200, "0123456789"},
		{"GET", "/recfs/text", "", 200, "0123456789"},
		{"GET", "/recfs/nothing", "", 404, "<Code>NoSuchKey</Code>"},
		{"GET", "/recfs/a", "", 404, "<Code>NoSuchKey</Code>"},
		{"GET", "/recfs/a//x", "", 404, "<Code>NoSuchKey</Code>"},
		{"GET", "/other/plain", "", 404, "<Code>NoSuchBucket</Code>"},
		{"GET", "/recfs/plain", `If-Match: "x"`, 412, "<Code>PreconditionFailed</Code>"},
		{"GET", "/recfs/plain", "Range: bytes=10-", 416, "<Code>InvalidRange</Code>"},
		{"GET", "/recfs/plain?partNumber=1", "", 501, "<Code>NotImplemented</Code>"},
		{"GET", "/recfs?acl", "", 501, "<Code>NotImplemented</Code>"},
		{"GET", "/recfs?delimiter=x", "", 501, "<Code>NotImplemented</Code>"},
		{"PUT", "/recfs/plain", "", 405, "<Code>MethodNotAllowed</Code>"},
		{"PATCH", "/recfs/plain", "", 501, "<Code>NotImplemented</Code>"},
		{"HEAD", "/", "", 501, ""},
		{"GET", "/recfs?prefix=%zz", "", 400, "<Code>InvalidArgument</Code>"},
		{"GET", "/recfs?list-type=3", "", 400, "<Code>InvalidArgument</Code>"},
		{"GET", "/recfs?list-type=2&encoding-type=json", "", 400, "<Code>InvalidArgument</Code>"},
		{"GET", "/recfs?max-keys=1", "", 200, "<NextMarker>a b#"},
		{"GET", "/recfs?list-type=2&max-keys=-1", "", 400, "<Code>InvalidArgument</Code>"},
		{"GET", "/recfs?list-type=2&max-keys=1000000000", "", 200, "<MaxKeys>1000</MaxKeys>"},
		{"GET", "/recfs?list-type=2&continuation-token=made-up", "", 400, "<Code>InvalidArgument</Code>"},
		{"GET", "/recfs?list-type=2&continuation-token=" + tokenOf("../../x"), "", 200, "<ListBucketResult"},
		{"GET", "/recfs/damaged/all", "", 500, "<Code>InternalError</Code><Message>damaged: toy"},
		{"GET", "/recfs/plain", "Host: evil.example", 421, "<Code>EndpointNotFound</Code>"},
		{"GET", "/recfs/damaged/gone", "", 503, "<Code>SlowDown</Code>"},
		{"GET", "/recfs/a/far.toy/far", "", 504, "<Code>ServiceUnavailable</Code>"},
		{"GET", "/recfs?list-type=2&prefix=a/far.toy/", "", 504, "<Code>ServiceUnavailable</Code>"},
		{"GET", "/recfs/.recfs", "", 404, "<Code>NoSuchKey</Code>"},
	} {
		reply, body, err := s.do(c.method, c.url, c.header)
		if reply.StatusCode != c.status || !strings.Contains(body, c.want) || err != nil {
			t.Errorf("%s %s: %d %s, %v, want %d %s", c.method, c.url, reply.StatusCode, body, err, c.status, c.want)
		}
	}
}

// What says nothing of a file, or of what is in a folder, fails a listing, which else would look as
// if it had all.
func TestS3ListsAllOrNothing(t *testing.T) {
	var failed error
	s := serve(t, nodes.Entry{Name: ".", Dir: nodes.List(
		nodes.Entry{Name: "a", File: nodes.LazyFile(func(context.Context) (nodes.File, error) { return nil, failed })}, nodes.Entry{Name: "b", File: nodes.Bytes(nil)},
	)}, true, nil)
	for err, want := range map[error]string{
		syscall.EMFILE: "<Code>SlowDown</Code>", nodes.ErrUnavailable: "<Code>ServiceUnavailable</Code>", nodes.ErrRemote: "<KeyCount>1</KeyCount>", syscall.EIO: "<KeyCount>1</KeyCount>",
	} {
		failed = err
		if _, body, _ := s.do("GET", "/recfs?list-type=2&prefix="); !strings.Contains(body, want) {
			t.Errorf("%v: %s", err, body)
		}
	}
}

// A modelled tree has folders and files whose names sort in all ways around a slash.
func modelled(t *rapid.T, depth int, at string, keys *[]string) nodes.Dir {
	var entries []nodes.Entry
	for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a/b]{1,3}`), 1, 6, rapid.ID[string]).Draw(t, "names") {
		name = strings.ReplaceAll(name, "/", "-")
		if slices.ContainsFunc(entries, func(e nodes.Entry) bool { return e.Name == name }) {
			continue
		}
		if depth > 0 && rapid.Bool().Draw(t, "dir") {
			entries = append(entries, nodes.Entry{Name: name, Dir: modelled(t, depth-1, at+name+"/", keys)})
			continue
		}
		entries = append(entries, nodes.Entry{Name: name, File: nodes.Bytes(nil)})
		*keys = append(*keys, at+name)
	}
	return nodes.List(entries...)
}

// Pages of any size, one after the other, have every key once and in the order of their bytes, and
// those after any key are the rest.
func TestS3Order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		s := NewServer(Options{Root: nodes.Entry{Name: ".", Dir: modelled(t, 3, "", &want)}, Cache: newCache(t), MaxRequests: 1})
		slices.Sort(want)
		prefix := rapid.SampledFrom([]string{"", "a", "a/", "-", "a-", "a/b"}).Draw(t, "prefix")
		want = slices.DeleteFunc(want, func(k string) bool { return !strings.HasPrefix(k, prefix) })
		after := rapid.StringMatching(`([a/b-]{1,5})?`).Draw(t, "after")
		want = slices.DeleteFunc(want, func(k string) bool { return k <= after })
		delimited := rapid.Bool().Draw(t, "delimited")
		if delimited {
			want = grouped(want, prefix, after)
		}
		var got []string
		for page := 0; ; page++ {
			l := lister{t: s.tree, prefix: prefix, delimited: delimited, max: rapid.IntRange(1, 4).Draw(t, "max")}
			if err := l.list(t.Context(), after); err != nil {
				t.Fatal(err)
			}
			keys := []string{}
			for _, c := range l.contents {
				keys = append(keys, c.Key)
			}
			for _, p := range l.prefixes {
				keys = append(keys, p.Prefix)
			}
			slices.Sort(keys)
			got = append(got, keys...)
			if !l.truncated {
				break
			}
			if l.last <= after || page > 1000 {
				t.Fatalf("after %q the page ends at %q", after, l.last)
			}
			after = l.last
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// Pages of a client that wants keys as they are have all, also where XML does not hold a key.
func TestS3Markers(t *testing.T) {
	var entries []nodes.Entry
	for _, name := range []string{"a", "\x01", "b\xff", "\xfe", "\xff", "?token=", "\ufffd"} {
		entries = append(entries, nodes.Entry{Name: name, File: nodes.Bytes(nil)})
	}
	s := serve(t, nodes.Entry{Name: ".", Dir: nodes.List(entries...)}, true, nil)
	got := 0
	for marker, pages := "", 0; ; pages++ {
		r, keys := s.list("max-keys=1&marker=" + url.QueryEscape(marker))
		got += len(keys)
		if !r.IsTruncated {
			break
		}
		if marker = r.NextMarker; pages > len(entries) {
			t.Fatalf("page %d ends at %q", pages, marker)
		}
	}
	if got != len(entries) {
		t.Errorf("%d keys of %d", got, len(entries))
	}
}

// grouped returns keys with one in place of all that have a slash behind the prefix. One whose last
// key was before is not shown again.
func grouped(keys []string, prefix, after string) (all []string) {
	for _, k := range keys {
		if i := strings.IndexByte(k[len(prefix):], '/'); i >= 0 {
			k = k[:len(prefix)+i+1]
		}
		if !slices.Contains(all, k) && !(strings.HasSuffix(k, "/") && strings.HasPrefix(after, k)) {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	return all
}

// The examples that AWS has published.
func TestSignatureVectors(t *testing.T) {
	keys := map[string]string{"AKIAIOSFODNN7EXAMPLE": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	now := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	at := func(now time.Time) { signature.TimeNow = func() time.Time { return now } }
	at(now)
	defer func() { signature.TimeNow = time.Now }()
	const host = "examplebucket.s3.amazonaws.com"
	request := func(url string, headers ...string) *http.Request {
		r, err := http.NewRequest(http.MethodGet, "https://"+host+url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		return r
	}
	authorized := func(signed, value string) string {
		return "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=" + signed + ",Signature=" + value
	}
	const date, empty = "X-Amz-Date: 20130524T000000Z", "X-Amz-Content-Sha256: " + emptyPayload
	get := func(change string) *http.Request {
		return request("/test.txt"+change, "Range: bytes=0-9", date, empty, authorized("host;range;x-amz-content-sha256;x-amz-date", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"))
	}
	lifecycle := request("/?lifecycle", date, empty, authorized("host;x-amz-content-sha256;x-amz-date", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"))
	list := request("/?max-keys=2&prefix=J", date, empty, authorized("host;x-amz-content-sha256;x-amz-date", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"))
	presigned := request("/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
	for name, r := range map[string]*http.Request{"get": get(""), "lifecycle": lifecycle, "list": list, "presigned": presigned} {
		if err := verify(r, keys); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	post := get("")
	post.Method = http.MethodHead
	unsigned := get("")
	unsigned.Header.Set("X-Amz-Meta", "x")
	region := get("")
	region.Header.Set("Authorization", strings.Replace(region.Header.Get("Authorization"), "us-east-1", "eu-west-1", 1))
	unknown := get("")
	unknown.Header.Set("Authorization", strings.Replace(unknown.Header.Get("Authorization"), "AKIA", "BKIA", 1))
	streaming := get("")
	streaming.Header.Set("X-Amz-Content-Sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
	for _, c := range []struct {
		name string
		r    *http.Request
		now  time.Time
		code string
	}{
		{"none", request("/test.txt"), now, "AccessDenied"},
		{"another path", get("x"), now, "SignatureDoesNotMatch"},
		{"another method", post, now, "SignatureDoesNotMatch"},
		{"another region", region, now, "SignatureDoesNotMatch"},
		{"chunks", streaming, now, "SignatureDoesNotMatch"},
		{"unsigned header", unsigned, now, "AccessDenied"},
		{"another key", unknown, now, "InvalidAccessKeyId"},
		{"old", get(""), now.Add(16 * time.Minute), "RequestTimeTooSkewed"},
		{"early", get(""), now.Add(-16 * time.Minute), "RequestTimeTooSkewed"},
		{"expired", presigned, now.Add(25 * time.Hour), "AccessDenied"},
		{"no expiry", request("/?X-Amz-Algorithm=AWS4-HMAC-SHA256"), now, "InvalidArgument"},
		{"malformed", request("/test.txt", date, empty, "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE"), now, "InvalidArgument"},
		{"version 2", request("/test.txt", date, empty, "Authorization: AWS AKIAIOSFODNN7EXAMPLE:frJIUN8DYpKDtOLCwo//yllqDzg="), now, "AccessDenied"},
		{"too long", request("/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=604801"), now, "InvalidArgument"},
	} {
		at(c.now)
		err := verify(c.r, keys)
		if r, ok := err.(*page.Refusal); !ok || codeOf(r) != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
	}
}

// The access log has no query that has a signature.
func TestS3AccessLog(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, sampleTree(), true, func(o *Options) { o.AccessLog = &log })
	s.SetSecrets(Secrets{Keys: map[string]string{"access": "secret"}})
	s.do("GET", "/recfs/plain?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0123")
	s.do("GET", "/recfs/plain?X-%41mz-Signature=0123")
	s.do("GET", "/recfs?list-type=2")
	if text := log.String(); strings.Contains(text, "0123") || !strings.Contains(text, `"path":"/recfs?list-type=2"`) || strings.Count(text, "\n") != 3 {
		t.Error(text)
	}
}

// A write is refused as one, whatever was signed and however much is to be written; so is what no
// call has.
func TestS3Writes(t *testing.T) {
	s := serve(t, sampleTree(), true, nil)
	ask := func(method string, size int, want string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.addr+"/recfs/plain", strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		body, err := io.ReadAll(reply.Body)
		if got := fmt.Sprint(reply.StatusCode, string(body)); !strings.Contains(got, want) || err != nil {
			t.Errorf("%s with %d bytes: %s, %v", method, size, got, err)
		}
	}
	ask("GET", 100<<10, "<Code>MaxMessageLengthExceeded</Code>")
	s.SetSecrets(Secrets{Keys: map[string]string{"key": "secret"}})
	ask("PUT", 100<<10, "405")
	ask("GET", 0, "<Code>AccessDenied</Code>")
}

func FuzzSignature(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=abc/20130524/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=00", "X-Amz-Expires=1")
	keys := map[string]string{"abc": "b"}
	signature.TimeNow = func() time.Time { return time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC) }
	f.Cleanup(func() { signature.TimeNow = time.Now })
	f.Fuzz(func(t *testing.T, header, query string) {
		r := &http.Request{Method: "GET", URL: &url.URL{Path: "/x", RawQuery: query}, Header: http.Header{"Authorization": {header}, "X-Amz-Date": {"20130524T000000Z"}}}
		if verify(r, keys) == nil {
			t.Errorf("%q %q lets in", header, query)
		}
	})
}
