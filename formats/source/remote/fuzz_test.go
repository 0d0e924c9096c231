package remote

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func FuzzReadPage(f *testing.F) {
	f.Add(`<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken><EncodingType>url</EncodingType>` +
		`<Contents><Key>a%2Fb</Key><ETag>"x"</ETag><Size>3</Size><LastModified>2026-11-20T12:00:00.000Z</LastModified></Contents>` +
		`<CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes></ListBucketResult>`)
	f.Fuzz(func(t *testing.T, body string) {
		r, err := readPage("s3://b", strings.NewReader(body))
		if err != nil {
			return
		}
		l := listing{}
		for _, c := range r.Contents {
			l.add(c.Key, c.ETag, c.Size, milliseconds(c.LastModified))
		}
		checkListing(t, &l)
	})
}

// TestXMLBomb takes no memory for elements that no listing has.
func TestXMLBomb(t *testing.T) {
	for name, body := range map[string]string{
		"deep": "<ListBucketResult>" + strings.Repeat("<x>", 1_000_000), "many": "<ListBucketResult>" + strings.Repeat("<Contents/>", 300_000),
	} {
		n := testing.AllocsPerRun(1, func() {
			if _, err := readPage("s3://b", strings.NewReader(body)); err == nil {
				t.Errorf("%s: it is a listing", name)
			}
		})
		if n > 10*2*maxKeys {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func FuzzReadFolder(f *testing.F) {
	f.Add("text/html", `<a href="x.map">x</a><a href="sub/">s</a><a href="../">up</a>`)
	f.Add("application/json", `[{"name":"x","type":"file"}]`)
	f.Add("application/x-ndjson", `{"name":"x","name_hex":"ff","type":"dir"}`)
	f.Fuzz(func(t *testing.T, kind, body string) {
		resp := &http.Response{Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}
		names, err := readFolder(resp, &url.URL{Scheme: "http", Host: "h", Path: "/d/"})
		if err != nil {
			return
		}
		l := listing{}
		for _, n := range names {
			l.add(n.name, "", n.size, 0)
		}
		checkListing(t, &l)
	})
}

// checkListing holds a listing to what every user of one relies on.
func checkListing(t *testing.T, l *listing) {
	l.seal()
	for i := range l.Len() {
		name, typ := l.At(i)
		if at, ok := l.Find(name); !ok || at != i {
			t.Errorf("%q is found at %d, and not at %d", name, at, i)
		}
		if !isName(name) {
			t.Errorf("%q is a name", name)
		}
		if info, ok := l.Info(i); ok && (info.Size < 0 || info.Type != typ) {
			t.Errorf("%q: %+v", name, info)
		}
	}
}

func FuzzNetrc(f *testing.F) {
	f.Add("machine h login u password p", "h")
	f.Fuzz(func(_ *testing.T, text, host string) { parseNetrc(text, host) })
}
