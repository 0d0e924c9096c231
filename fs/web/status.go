package web

import (
	"context"
	"errors"
	iofs "io/fs"
	"net/http"
	"runtime/debug"
	"strings"
	"syscall"
	"unicode"

	"recfs/cache"
	"recfs/fs/web/page"
	"recfs/nodes"
)

// A refusal is what a request gets in place of what it asked for.
type refusal struct {
	status int
	text   string
	code   string // of S3; "": that of the status
}

func (r *refusal) Error() string { return r.text }

var (
	errBadPath = &refusal{http.StatusBadRequest, "bad path", ""}
	errBadBody = &refusal{http.StatusBadRequest, "bad request body", ""}
	errMethod  = &refusal{http.StatusMethodNotAllowed, "method not allowed", ""}
	errHost    = &refusal{http.StatusMisdirectedRequest, "not a name of this server", ""}
	errToken   = &refusal{http.StatusUnauthorized, "a token is needed", ""}
	errBusy    = &refusal{http.StatusServiceUnavailable, "busy", ""}
	errMissing = &refusal{http.StatusNotFound, "no such file", ""}
	errGone    = &refusal{statusGone, "the client has gone", ""}
)

// A panicError is what a panic has become.
type panicError struct {
	cause any
	stack []byte
}

func (*panicError) Error() string { return "it could not be made" }

// rescue is deferred to have a panic returned as an error.
func rescue(err *error) {
	if cause := recover(); cause != nil {
		*err = &panicError{cause, debug.Stack()}
	}
}

// statusGone is in the access log when a client hung up.
const statusGone = 499

// refusalOf is the one place where errors become what a client sees.
func refusalOf(err error) *refusal {
	r, own := errors.AsType[*refusal](err)
	p, ofPage := errors.AsType[*page.Refusal](err)
	switch {
	case own:
		return r
	case ofPage:
		return &refusal{p.Status, p.Text, ""}
	case errors.Is(err, context.Canceled):
		return errGone
	case errors.Is(err, nodes.ErrStale):
		return &refusal{http.StatusServiceUnavailable, "changed, ask again", ""}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT), errors.Is(err, nodes.ErrUnavailable), errors.Is(err, nodes.ErrRemote):
		return &refusal{http.StatusGatewayTimeout, "the source does not answer", ""}
	case isBusy(err):
		return errBusy
	case errors.Is(err, iofs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP), errors.Is(err, nodes.ErrTooManyLinks), errors.Is(err, syscall.ENAMETOOLONG):
		return errMissing
	case errors.Is(err, iofs.ErrPermission):
		return &refusal{http.StatusForbidden, "permission denied", ""}
	}
	if p, ok := errors.AsType[*iofs.PathError](err); ok { // whose path is none of a client's business
		err = p.Err
	}
	return &refusal{http.StatusInternalServerError, "damaged: " + oneLine(err.Error()), ""}
}

// isBusy reports whether an error says that this process has too little of something at present.
func isBusy(err error) bool {
	return cache.IsShort(err) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// isPassing reports whether an error says nothing of what was asked for.
func isPassing(ctx context.Context, err error) bool {
	_, panicked := errors.AsType[*panicError](err)
	return err != nil && (ctx.Err() != nil || isBusy(err) || errors.Is(err, nodes.ErrUnavailable) || panicked)
}

// oneLine returns text without what a terminal would obey.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
