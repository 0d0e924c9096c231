package remote

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
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

const awsEndpoint = "https://s3.amazonaws.com"

// A config is what flags, environment and the shared files say of S3.
type config struct {
	endpoint *url.URL
	own      bool // the endpoint is not that of AWS
	region   string
	profile  string
	shared   map[string]string // what the shared files say in it
}

// loadConfig reads the configuration. What is wrong in shared files is as if it were not there.
func loadConfig(opt Options) (config, error) {
	c := config{profile: cmp.Or(opt.Profile, os.Getenv("AWS_PROFILE"), "default")}
	c.shared = sharedProfile(c.profile)
	name := cmp.Or(opt.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), c.shared["endpoint_url"])
	c.own = name != ""
	u, err := url.Parse(cmp.Or(name, awsEndpoint))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return c, fmt.Errorf("--endpoint-url: not an address such as https://HOST:PORT")
	}
	if u.Path == "/" {
		u.Path = ""
	}
	c.endpoint = u
	c.region = cmp.Or(opt.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), c.shared["region"], "us-east-1")
	return c, nil
}

// sharedProfile returns what the shared files say in a profile.
func sharedProfile(profile string) map[string]string {
	home, _ := os.UserHomeDir()
	values := map[string]string{}
	for _, f := range []struct{ name, section string }{
		{cmp.Or(os.Getenv("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config")), "profile " + profile},
		{cmp.Or(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, ".aws", "credentials")), profile},
	} {
		file, err := ini.LoadSources(ini.LoadOptions{Loose: true, SkipUnrecognizableLines: true}, f.name)
		if err != nil {
			continue
		}
		for _, section := range []string{f.section, profile} {
			if s, err := file.GetSection(section); err == nil {
				for k, v := range s.KeysHash() {
					values[k] = v
				}
			}
		}
	}
	return values
}

// credentials returns where keys come from, the first that has some: environment, shared files, and
// what tells this container or instance.
func (c config) credentials(asker *http.Client) *credentials.Credentials {
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{Profile: c.profile},
		&credentials.Static{Value: credentials.Value{
			AccessKeyID: c.shared["aws_access_key_id"], SecretAccessKey: c.shared["aws_secret_access_key"], SessionToken: c.shared["aws_session_token"],
		}},
		&credentials.IAM{Client: asker, Region: c.region},
	})
}

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

// parseNetrc returns who the user is at a host, by the first entry of its machine or of default. A
// word that begins with # where an entry could go on makes the rest of its line a comment.
func parseNetrc(text, host string) *url.Userinfo {
	logins := map[string]*url.Userinfo{}
	var machine, user, secret string
	var next *string // what the next word is
	take := func() {
		if logins[machine] == nil && next == nil {
			logins[machine] = url.UserPassword(user, secret)
		}
		user, secret = "", ""
	}
	for line := range strings.Lines(text) {
		for _, word := range strings.Fields(line) {
			if next != nil {
				*next, next = word, nil
				continue
			}
			if word[0] == '#' {
				break
			}
			switch word {
			case "machine":
				take()
				next = &machine
			case "default":
				take()
				machine = "default"
			case "login":
				next = &user
			case "password":
				next = &secret
			}
		}
	}
	take()
	return cmp.Or(logins[host], logins["default"])
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
