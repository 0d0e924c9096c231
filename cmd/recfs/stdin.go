package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// stdinName is the FILE that is standard input, and stdinPath what begins the path of what is in
// it: to flags -/header.json is one of them.
const (
	stdinName = "-"
	stdinPath = "/dev/stdin"
)

// notFlags returns the words of a command line with those that begin with -/ as paths.
func notFlags(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if inside, ok := strings.CutPrefix(arg, stdinName+"/"); ok {
			args[i] = stdinPath + "/" + inside
		}
	}
	return args
}

// mostInput is how much of standard input is taken.
const mostInput = 4 * gib

// aboutInput tells of it.
var aboutInput = fmt.Sprintf(`

FILE - is standard input, one recording, compressed or not, which its first bytes tell. Up to %s of it are taken
into a temporary file first, which is gone at the end. -/header.json is a file in it.`, humanSize(int64(mostInput)))

// takeInput lets a take standard input, once and when it is first asked for.
func (a *archive) takeInput(ctx context.Context) {
	a.input = sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "recfs-")
		if err != nil {
			return "", err
		}
		a.closers = append(a.closers, func() { os.RemoveAll(dir) })
		name := filepath.Join(dir, stdinName)
		return within(ctx, func() (string, error) { return name, spool(os.Stdin, name, int64(mostInput)) })
	})
}

// within runs work, which reads from a pipe, a terminal or a mount: nobody waits for that when ctx
// has ended.
func within[T any](ctx context.Context, work func() (T, error)) (v T, err error) {
	done := make(chan func() (T, error), 1)
	go func() {
		v, err := work()
		done <- func() (T, error) { return v, err }
	}()
	select {
	case result := <-done:
		return result()
	case <-ctx.Done():
		return v, ctx.Err()
	}
}

// agrees asks a person a question, and reports whether the answer is yes.
func (e *env) agrees(ctx context.Context, question string) bool {
	if e.answers == nil {
		return false
	}
	fmt.Fprint(e.stderr, question, " [y/N] ")
	answer, err := within(ctx, func() (answer string, err error) {
		_, err = fmt.Fscanln(e.answers, &answer)
		return answer, err
	})
	return err == nil && strings.HasPrefix(strings.ToLower(answer), "y")
}

// spool writes what it reads to a new file, unless that is more than most.
func spool(in io.Reader, name string, most int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(in, most+1))
	if n > most {
		err = fmt.Errorf("standard input has more than %s; write it to a file first", humanSize(most))
	}
	return errors.Join(err, f.Close())
}

// behindInput returns name with what standard input was taken into in its place.
func (a *archive) behindInput(name string) (string, error) {
	inside, ok := strings.CutPrefix(name, stdinPath)
	if name == stdinName {
		inside, ok = "", true
	}
	if a.input == nil || !ok || inside != "" && inside[0] != '/' {
		return name, nil
	}
	at, err := a.input()
	return at + inside, err
}
