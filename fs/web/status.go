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

var (
	errBadPath = page.NewRefusal(http.StatusBadRequest, "bad path")
	errBadBody = page.NewRefusal(http.StatusBadRequest, "bad request body")
	errHost    = page.NewRefusal(http.StatusMisdirectedRequest, "not a name of this server")
	errToken   = page.NewRefusal(http.StatusUnauthorized, "a token is needed")
	errBusy    = page.NewRefusal(http.StatusServiceUnavailable, "busy")
	errGone    = page.NewRefusal(statusGone, "the client has gone")
)

func badValue(name string) error {
	return page.NewRefusal(http.StatusBadRequest, "bad value of "+name)
}

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
func refusalOf(err error) *page.Refusal {
	r, own := errors.AsType[*page.Refusal](err)
	switch {
	case own:
		return r
	case errors.Is(err, context.Canceled):
		return errGone
	case errors.Is(err, nodes.ErrStale):
		return page.NewRefusal(http.StatusServiceUnavailable, "changed, ask again")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT), errors.Is(err, nodes.ErrUnavailable), errors.Is(err, nodes.ErrRemote):
		return page.NewRefusal(http.StatusGatewayTimeout, "the source does not answer")
	case isBusy(err):
		return errBusy
	case errors.Is(err, iofs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP), errors.Is(err, nodes.ErrTooManyLinks), errors.Is(err, syscall.ENAMETOOLONG):
		return page.ErrMissing
	case errors.Is(err, iofs.ErrPermission):
		return page.NewRefusal(http.StatusForbidden, "permission denied")
	}
	if p, ok := errors.AsType[*iofs.PathError](err); ok { // whose path is none of a client's business
		err = p.Err
	}
	return page.NewRefusal(http.StatusInternalServerError, "damaged: "+oneLine(err.Error()))
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
