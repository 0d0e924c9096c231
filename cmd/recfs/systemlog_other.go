//go:build !unix

package main

import (
	"errors"
	"log/slog"
)

// openSystemLog fails: this system has none that is known here.
func openSystemLog(string, *slog.HandlerOptions) (slog.Handler, func(), error) {
	return nil, nil, errors.ErrUnsupported
}
