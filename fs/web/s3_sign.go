package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	signAlgorithm = "AWS4-HMAC-SHA256"
	signTime      = "20060102T150405Z"
	maxSkew       = 15 * time.Minute
	maxExpires    = 7 * 24 * 60 * 60 // seconds

	unsignedPayload = "UNSIGNED-PAYLOAD"
	emptyPayload    = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

func denied(code, text string) error { return &refusal{http.StatusForbidden, text, code} }

var errSignature = denied("SignatureDoesNotMatch", "the signature does not match")

// admitKey lets in who signs with a key, by Signature V4 in the header or in the query. Calls for
// writes, which sign what is to be written, are refused to everybody.
func (s *Secrets) admitKey(r *http.Request) error {
	if s.Keys == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	return verify(r, s.Keys, time.Now())
}

// A signature is what a request says of how it was signed.
type signature struct {
	access, day, region string
	signed              []string // names of headers
	value               string
	time                string
	payload             string
	expires             time.Duration // 0: it is in a header, and must be recent
}

// verify checks the signature of a request.
func verify(r *http.Request, keys map[string]string, now time.Time) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badArgument("the query")
	}
	sign, err := parseSignature(r, query)
	if err != nil {
		return err
	}
	secret, ok := keys[sign.access]
	if !ok {
		return denied("InvalidAccessKeyId", "there is no such key")
	}
	if sign.payload != unsignedPayload && sign.payload != emptyPayload {
		return errSignature
	}
	at, err := time.Parse(signTime, sign.time)
	switch {
	case err != nil, at.Format("20060102") != sign.day, !slices.Contains(sign.signed, "host"):
		return errSignature
	case at.Sub(now) > maxSkew, sign.expires == 0 && now.Sub(at) > maxSkew:
		return denied("RequestTimeTooSkewed", "the time of the request is not that of the server")
	case sign.expires > 0 && now.Sub(at) > sign.expires:
		return denied("AccessDenied", "the signature has expired")
	}
	for name := range r.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") && !slices.Contains(sign.signed, name) {
			return denied("AccessDenied", name+" is not signed")
		}
	}
	got, err := hex.DecodeString(sign.value)
	if err != nil || !hmac.Equal(got, sign.make(r, query, secret)) {
		return errSignature
	}
	return nil
}

// parseSignature returns the signature of a request.
func parseSignature(r *http.Request, query url.Values) (s signature, err error) {
	malformed := &refusal{http.StatusBadRequest, "the signature is malformed", "InvalidArgument"}
	credential, headers := "", ""
	switch header := r.Header.Get("Authorization"); {
	case strings.HasPrefix(header, signAlgorithm+" "):
		for part := range strings.SplitSeq(strings.TrimPrefix(header, signAlgorithm), ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			switch name {
			case "Credential":
				credential = value
			case "SignedHeaders":
				headers = value
			case "Signature":
				s.value = value
			}
		}
		s.time, s.payload = r.Header.Get("X-Amz-Date"), r.Header.Get("X-Amz-Content-Sha256")
	case header == "" && query.Get("X-Amz-Algorithm") == signAlgorithm:
		credential, headers, s.value = query.Get("X-Amz-Credential"), query.Get("X-Amz-SignedHeaders"), query.Get("X-Amz-Signature")
		s.time, s.payload = query.Get("X-Amz-Date"), unsignedPayload
		n, err := strconv.Atoi(query.Get("X-Amz-Expires"))
		if err != nil || n < 1 || n > maxExpires {
			return s, badArgument("X-Amz-Expires")
		}
		s.expires = time.Duration(n) * time.Second
	default:
		return s, denied("AccessDenied", "a signature is needed")
	}
	scope := strings.Split(credential, "/")
	if len(scope) < 5 || s.value == "" {
		return s, malformed
	}
	end := scope[len(scope)-4:]
	if end[2] != "s3" || end[3] != "aws4_request" {
		return s, malformed
	}
	s.access, s.day, s.region = strings.Join(scope[:len(scope)-4], "/"), end[0], end[1]
	s.signed = strings.Split(headers, ";")
	return s, nil
}

// make returns the signature that the request has to have.
func (s signature) make(r *http.Request, query url.Values, secret string) []byte {
	scope := s.day + "/" + s.region + "/s3/aws4_request"
	sum := sha256.Sum256([]byte(s.canonical(r, query)))
	text := signAlgorithm + "\n" + s.time + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + secret)
	for _, part := range []string{s.day, s.region, "s3", "aws4_request", text} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return key
}

// canonical returns what is signed of a request.
func (s signature) canonical(r *http.Request, query url.Values) string {
	at, err := url.PathUnescape(r.URL.EscapedPath())
	if err != nil {
		return ""
	}
	var pairs []string
	for name, values := range query {
		for _, v := range values {
			if name != "X-Amz-Signature" {
				pairs = append(pairs, escapeAll(name)+"="+escapeAll(v))
			}
		}
	}
	slices.Sort(pairs)
	var b strings.Builder
	b.WriteString(r.Method + "\n" + escape(at) + "\n" + strings.Join(pairs, "&") + "\n")
	for _, name := range s.signed {
		values := r.Header.Values(name)
		switch name {
		case "host":
			values = []string{r.Host}
		case "content-length":
			values = []string{strconv.FormatInt(r.ContentLength, 10)}
		}
		var trimmed []string
		for _, v := range values {
			trimmed = append(trimmed, strings.Join(strings.Fields(v), " "))
		}
		b.WriteString(name + ":" + strings.Join(trimmed, ",") + "\n")
	}
	b.WriteString("\n" + strings.Join(s.signed, ";") + "\n" + s.payload)
	return b.String()
}
