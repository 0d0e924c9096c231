package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/rclone/gofakes3/signature"
)

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
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badArgument("the query")
	}
	if query.Has("X-Amz-Algorithm") {
		if n, err := strconv.Atoi(query.Get("X-Amz-Expires")); err != nil || n < 1 || n > maxExpires {
			return badArgument("X-Amz-Expires")
		}
	}
	code := signature.V4SignVerifyWithLookup(r, func(access string) (secret string, ok bool) {
		secret, ok = keys[access]
		return secret, ok
	})
	said := signature.GetAPIError(code)
	switch payload := r.Header.Values("X-Amz-Content-Sha256"); {
	case said.Code == "UnsupportedAlgorithm":
		return &refusal{http.StatusForbidden, "a signature is needed", "AccessDenied"}
	case code != signature.ErrNone && slices.Contains(deniedCodes, said.Code):
		return &refusal{http.StatusForbidden, said.Description, said.Code}
	case code != signature.ErrNone:
		return &refusal{http.StatusBadRequest, said.Description, "InvalidArgument"}
	case len(payload) > 0 && !slices.Contains([]string{unsignedPayload, emptyPayload}, payload[0]):
		return &refusal{http.StatusForbidden, "a body is signed", "SignatureDoesNotMatch"}
	}
	return nil
}
