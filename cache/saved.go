package cache

import (
	"context"
	"fmt"
)

type savedOnly struct{}

// SavedOnly returns a context in which a durable Memo computes nothing: what
// it would save and has neither in memory nor on disk is a *NotSavedError. It is for
// answers about many recordings that must not cost a scan of each.
func SavedOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, savedOnly{}, true)
}

// IsSavedOnly tells whether ctx is one of SavedOnly.
func IsSavedOnly(ctx context.Context) bool { return ctx.Value(savedOnly{}) != nil }

// A Place is where a durable Memo keeps a value on disk.
type Place interface {
	// Find returns where the value may lie.
	Find(ctx context.Context) Found
	// Name returns the name under which it is saved; "": it cannot be told at present.
	Name(ctx context.Context) string
}

// A Found says where a value may lie on disk.
type Found struct {
	Names []string // the best first; none: it is known that there is none
	Await string   // what is saved there once there is one, for Disk.Lookup
}

// A NotSavedError says that a value would have to be computed.
type NotSavedError struct{ Name string } // on disk, for Disk.Lookup

// Error names the value.
func (e *NotSavedError) Error() string { return fmt.Sprintf("%q is not in the cache", e.Name) }
