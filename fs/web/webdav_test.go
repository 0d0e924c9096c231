package web

import (
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestPropfind(t *testing.T) {
	s := serve(t, sampleTree(), false, nil)
	ask := func(url, depth, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), "PROPFIND", "http://"+s.addr+url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Depth", depth)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		b, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(strings.NewReader(string(b))); reply.StatusCode == 207; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%s: %v in\n%s", url, err, b)
				break
			}
		}
		return reply.StatusCode, string(b)
	}
	status, body := ask("/", "1", "")
	for _, want := range []string{
		"<D:href>/</D:href>", "<D:href>/a/</D:href>", "<D:href>/a%20b%23%25%C3%A9%5C%3A</D:href>", "<D:resourcetype><D:collection/></D:resourcetype>",
		"<D:getcontentlength>10</D:getcontentlength>", "<D:getlastmodified>Thu, 29 Feb 2024 12:30:00 GMT</D:getlastmodified>", "<D:getcontenttype>image/svg+xml</D:getcontenttype>",
	} {
		if status != 207 || !strings.Contains(body, want) {
			t.Errorf("%d, no %s in\n%s", status, want, body)
		}
	}
	if status, _ := ask("/plain/", "0", ""); status != 404 {
		t.Errorf("a file with a slash: %d", status)
	}
	if _, body := ask("/a/rec.toy", "0", ""); strings.Count(body, "<D:response>") != 1 || !strings.Contains(body, "/a/rec.toy/</D:href>") {
		t.Error(body)
	}
	if _, body := ask("/a/rec.toy/header.json", "1", ""); !strings.Contains(body, "<D:getetag>") {
		t.Error(body)
	}
	if status, body := ask("/plain", "0", `<propfind xmlns="DAV:"><prop><displayname/><quota xmlns="x&amp;y"/></prop></propfind>`); status != 207 ||
		!strings.Contains(body, "<D:prop><D:displayname>plain</D:displayname></D:prop>") || !strings.Contains(body, `<quota xmlns="x&amp;y"/>`) {
		t.Errorf("%d %s", status, body)
	}
	if _, body := ask("/a/rec.toy/header.json", "0", `<propfind xmlns="DAV:"><propname/></propfind>`); !strings.Contains(body, "<D:getcontentlength/>") ||
		!strings.Contains(body, "<D:getetag/>") {
		t.Error(body)
	}
	if status, body := ask("/", "infinity", ""); status != 403 || !strings.Contains(body, "propfind-finite-depth") {
		t.Errorf("%d %s", status, body)
	}
	for body, want := range map[string]int{
		`<propfind xmlns="DAV:"/>` + "\n<!-- x -->": 207, `<propfind xmlns="DAV:"/>x`: 400, `<propfind xmlns="DAV:"/><x/>`: 400,
		`<propfind xmlns="DAV:"/></x>`: 400, `<propfind xmlns="DAV:">`: 400, `<propfind/>`: 400, `<?xml version="1.0"?>`: 400, " ": 400,
	} {
		if status, _ := ask("/plain", "0", body); status != want {
			t.Errorf("%s: %d, want %d", body, status, want)
		}
	}
	if status, _ := ask("/a/far.toy/", "1", ""); status != 504 {
		t.Errorf("%d of what cannot be reached", status)
	}
	if status, _ := ask("/nothing", "0", ""); status != 404 {
		t.Errorf("%d", status)
	}
	if reply, _, _ := s.do("OPTIONS", "/"); reply.Header.Get("DAV") != "1" || reply.Header.Get("Allow") != "GET, HEAD, OPTIONS, PROPFIND" {
		t.Error(reply.Header)
	}
}
