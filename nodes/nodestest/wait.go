package nodestest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Hang is after how long a test says that what it waits for does not come. That tells of no speed:
// on a loaded machine each step may take half a minute.
const Hang = 5 * time.Minute

// Eventually waits for something to become true.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(Hang); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// Receive waits for a value.
func Receive[T any](t testing.TB, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(Hang):
		t.Fatalf("waited in vain for %s", what)
	}
	return v
}

// Main runs the tests of a package, which leave no goroutine behind.
func Main(m *testing.M) {
	code := m.Run()
	if err := GoroutinesLeft(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// GoroutinesLeft returns an error that lists the goroutines that do not end.
func GoroutinesLeft() (err error) {
	for end := time.Now().Add(time.Minute); ; {
		if err = goleak.Find(); err == nil || time.Now().After(end) {
			return err
		}
	}
}
