package remote

import (
	"cmp"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// netrcLogin returns who the user is at a server, as the netrc says; nil: it says nothing, or
// others may read it.
func netrcLogin(u *url.URL, log *slog.Logger) *url.Userinfo {
	home, _ := os.UserHomeDir()
	name := cmp.Or(os.Getenv("NETRC"), filepath.Join(home, ".netrc"))
	info, err := os.Stat(name)
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	login := parseNetrc(string(text), u.Hostname())
	if login != nil && info.Mode().Perm()&0o077 != 0 {
		if log != nil {
			log.Warn("not used, as others may read it", "path", name)
		}
		return nil
	}
	return login
}

// parseNetrc returns who the user is at a host, by its machine or by default.
func parseNetrc(text, host string) (login *url.Userinfo) {
	var machine, user, secret string
	take := func() {
		if machine == host || machine == "default" && login == nil {
			login = url.UserPassword(user, secret)
		}
		user, secret = "", ""
	}
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch words[i] {
		case "machine":
			take()
			machine = next
			i++
		case "default":
			take()
			machine = "default"
		case "login":
			user = next
			i++
		case "password":
			secret = next
			i++
		}
	}
	take()
	return login
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
