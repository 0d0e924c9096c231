package remote

import (
	"log/slog"
	"strings"
	"time"
)

// Options are what can be chosen about servers.
type Options struct {
	Endpoint      string        // base URL of the S3 server; "": from the environment, the profile, or AWS
	Region        string        // of the signature; "": likewise, or us-east-1
	Profile       string        // of the shared files; "": AWS_PROFILE, or default
	Anonymous     bool          // S3 requests are not signed
	RequesterPays bool          // who asks pays
	CAFile        string        // certificates in PEM that are believed; "": those of the system
	TTL           time.Duration // how long a listing is good; 0: each look-up asks
	Timeout       time.Duration // of one request with all its retries
	Requests      int           // at a time
	Version       string        // of the program, for User-Agent
	Log           *slog.Logger
}

// IsURL reports whether a name is that of a remote source.
func IsURL(name string) bool {
	for _, scheme := range []string{"s3://", "http://", "https://"} {
		if strings.HasPrefix(name, scheme) {
			return true
		}
	}
	return false
}
