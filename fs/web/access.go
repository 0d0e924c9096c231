package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
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
