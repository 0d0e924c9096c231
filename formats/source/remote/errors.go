package remote

import (
	"crypto/tls"
	"errors"
	"fmt"
	iofs "io/fs"
	"net"
	"net/http"
	"os"
	"regexp"
	"syscall"
	"time"

	"recfs/nodes"
)

// An Error is what a server says, or that it says nothing. It unwraps to one of io/fs.ErrNotExist,
// io/fs.ErrPermission, errors.ErrUnsupported, nodes.ErrStale, nodes.ErrUnavailable and
// nodes.ErrRemote.
type Error struct {
	URL    string // as the user names the thing
	Reason string
	Err    error
}

// Error has the URL and the reason, and no secret.
func (e *Error) Error() string { return e.URL + ": " + e.Reason }

// OfServer implements what [nodes.IsOfServer] asks for.
func (e *Error) OfServer() {}

// Unwrap returns the kind of the error.
func (e *Error) Unwrap() error { return e.Err }

// strange is the error of an answer that is none.
func strange(url, format string, args ...any) error {
	return &Error{url, fmt.Sprintf(format, args...), nodes.ErrRemote}
}

// stale is the error of an object that is another one by now.
func stale(url string) error { return &Error{url, "was replaced while it was read", nodes.ErrStale} }

// A passing error is one that the same request may not have the next time.
type passing struct {
	reason string
	after  time.Duration // when the server wants to be asked again; 0: it does not say
	lost   bool          // there was no connection
}

func (p *passing) Error() string { return p.reason }

// errSilent ends a request of which nothing was heard for too long.
var errSilent = errors.New("silence")

// failureOf tells what the end of a connection says: what may pass, or the certificate's error.
func failureOf(url string, err error) error {
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return strange(url, "certificate: %v", e.Err)
	}
	if e, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return strange(url, "certificate: %s", e.Msg)
	}
	switch {
	case errors.Is(err, errSilent), errors.Is(err, os.ErrDeadlineExceeded):
		return &passing{reason: "silence"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &passing{reason: "connection refused", lost: true}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return &passing{reason: "no address of " + dns.Name, lost: true}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return &passing{reason: op.Err.Error(), lost: true}
	}
	return &passing{reason: "connection cut"}
}

// isWord matches what servers call errors, regions and classes of storage.
var isWord = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`).MatchString

// wordOr returns what a server says if that is a word, which may stand in a text or a name.
func wordOr(said, otherwise string) string {
	if isWord(said) {
		return said
	}
	return otherwise
}

// refusal returns the error of a status that means the same on every server, nil for others.
func refusal(url, code string, status int) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &Error{url, fmt.Sprintf("access denied (%s)", code), iofs.ErrPermission}
	case status == http.StatusPreconditionFailed, status == http.StatusRequestedRangeNotSatisfiable:
		return stale(url)
	case status == http.StatusTooManyRequests, status >= 500 && status <= 504 && status != http.StatusNotImplemented:
		return &passing{reason: code}
	case status >= 300 && status < 400:
		return strange(url, "redirect that is not followed (%s)", code)
	}
	return nil
}
