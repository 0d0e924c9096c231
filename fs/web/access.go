package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rclone/gofakes3/signature"

	"recfs/fs/web/page"
)

// admitToken lets in who has the token, as that of Bearer or as the password of Basic.
func (s *Secrets) admitToken(r *http.Request) error {
	want := s.Token
	if want == "" {
		return nil
	}
	_, got, ok := r.BasicAuth()
	if !ok {
		kind, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(kind, "Bearer") {
			return errToken
		}
		got = strings.TrimSpace(rest)
	}
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want)) // of one length
	if subtle.ConstantTimeCompare(a[:], b[:]) != 1 {
		return errToken
	}
	return nil
}

const (
	maxExpires = 7 * 24 * 60 * 60 // seconds

	unsignedPayload = "UNSIGNED-PAYLOAD"
	emptyPayload    = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// admitKey lets in who signs with a key, by Signature V4 in the header or in the query. Calls for
// writes, which sign what is to be written, are refused to everybody.
func (s *Secrets) admitKey(r *http.Request) error {
	if s.Keys == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	return verify(r, s.Keys)
}

// deniedCodes are the codes of signatures that are well-formed and let nobody in.
var deniedCodes = []string{"AccessDenied", "InvalidAccessKeyId", "RequestTimeTooSkewed", "SignatureDoesNotMatch"}

// verify checks the signature of a request.
func verify(r *http.Request, keys map[string]string) error {
	query, err := page.ParseQuery(r)
	if err != nil {
		return err
	}
	if query.Has("X-Amz-Algorithm") {
		if n, err := strconv.Atoi(query.Get("X-Amz-Expires")); err != nil || n < 1 || n > maxExpires {
			return badValue("X-Amz-Expires")
		}
	}
	code := signature.V4SignVerifyWithLookup(r, func(access string) (secret string, ok bool) {
		secret, ok = keys[access]
		return secret, ok
	})
	said := signature.GetAPIError(code)
	switch payload := r.Header.Values("X-Amz-Content-Sha256"); {
	case said.Code == "UnsupportedAlgorithm":
		return page.NewRefusal(http.StatusForbidden, "a signature is needed")
	case code != signature.ErrNone && slices.Contains(deniedCodes, said.Code):
		return &page.Refusal{Status: http.StatusForbidden, Text: said.Description, Code: said.Code}
	case code != signature.ErrNone:
		return page.NewRefusal(http.StatusBadRequest, said.Description)
	case len(payload) > 0 && !slices.Contains([]string{unsignedPayload, emptyPayload}, payload[0]):
		return &page.Refusal{Status: http.StatusForbidden, Text: "a body is signed", Code: "SignatureDoesNotMatch"}
	}
	return nil
}

// isName reports whether a Host names this machine, which a name that a page of the web has given
// to it does not.
func (s *Server) isName(host string) bool {
	at := &url.URL{Host: host}
	is := func(name string) bool { return strings.EqualFold(name, at.Hostname()) }
	return slices.ContainsFunc([]string{"127.0.0.1", "::1", "localhost"}, is) || slices.ContainsFunc(s.opt.Hosts, is)
}

// allowOrigin tells a browser that a page may read the reply. It reports whether that was all it
// wanted to know.
func (e *endpoint) allowOrigin(h http.Header, r *http.Request) bool {
	if len(e.opt.Origins) == 0 {
		return false
	}
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(e.opt.Origins, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range, ETag, Last-Modified, Link")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, HEAD")
	h.Set("Access-Control-Allow-Headers", "Authorization, Range, If-Match, If-None-Match, If-Range, X-Amz-Content-Sha256, X-Amz-Date")
	h.Set("Access-Control-Max-Age", "600")
	r.Body.Close()
	h.Set("Content-Length", "0")
	h.Del("Content-Type")
	return true
}
