package main

import (
	"net"
	"os"
)

// notifySystemd tells the service manager how we are, as sd_notify(3) describes. Without one, and
// where telling fails, nothing happens.
func notifySystemd(state string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}
