//go:build unix

package main

import (
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"testing"
)

// A record goes to the system log with its severity, and without what that adds.
func TestSystemLog(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "log")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	h, stop, err := openSystemLog(socket, &slog.HandlerOptions{Level: slog.LevelWarn})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	log := slog.New(h).With("mount", "m")
	log.Info("left out")
	log.Warn("damaged", "path", "x.hcrp")
	log.Error("lost")
	for _, want := range []string{
		`^<28>.* recfs\[\d+\]: msg=damaged mount=m path=x.hcrp\n$`,
		`^<27>.* recfs\[\d+\]: msg=lost mount=m\n$`,
	} {
		b := make([]byte, 1024)
		n, err := conn.Read(b)
		if err != nil || !regexp.MustCompile(want).Match(b[:n]) {
			t.Errorf("%q, %v; want %s", b[:n], err, want)
		}
	}
	if _, _, err := openSystemLog(socket+".none", &slog.HandlerOptions{}); err == nil {
		t.Error("a system log that is not there was opened")
	}
}
