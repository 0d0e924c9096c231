package main

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	archives "recfs/formats/archive"
	"recfs/formats/source/remote"
	"recfs/nodes"
)

// registerRemote adds the flags of sources that are URLs.
func registerRemote(flags *pflag.FlagSet, opt *remote.Options) {
	flags.StringVar(&opt.Endpoint, "endpoint-url", "", "`URL` of the server for s3:// (default: AWS_ENDPOINT_URL, the profile's, or AWS)")
	flags.StringVar(&opt.Region, "region", "", "`NAME` of the region for s3:// (default: AWS_REGION, the profile's, or us-east-1)")
	flags.StringVar(&opt.Profile, "profile", "", "take the credentials of this `PROFILE` for s3://")
	flags.BoolVar(&opt.Anonymous, "no-sign-request", false, "ask s3:// without credentials")
	flags.BoolVar(&opt.RequesterPays, "request-payer", false, "pay for what is asked of s3://")
	flags.StringVar(&opt.CAFile, "ca-file", "", "believe the certificates in this PEM `FILE`")
	opt.TTL, opt.Timeout = time.Minute, time.Minute
	flags.Func("remote-ttl", "look at a folder of a server only once in this `TIME` (default 1m)", into(&opt.TTL, parseSpan))
	flags.Func("remote-timeout", "give a request this `TIME`, with all its retries (default 1m)", into(&opt.Timeout, parseSpan))
	flags.IntVar(&opt.Requests, "remote-requests", 32, "ask a server this many things at a time")
}

// checkRemote says what is wrong with the flags of sources that are URLs.
func checkRemote(opt remote.Options) error {
	switch {
	case opt.Timeout < time.Second:
		return usagef("--remote-timeout is 1s or more, not %s", opt.Timeout)
	case opt.Requests < 1:
		return usagef("--remote-requests is 1 or more, not %d", opt.Requests)
	}
	return nil
}

// checkURLs says which of the arguments of a command are no URLs of sources, although they look
// like some.
func checkURLs(args []string) error {
	for _, name := range args {
		if remote.IsURL(name) {
			if _, err := remote.ParseURL(name); err != nil {
				return usagef("%v", err)
			}
		} else if scheme, _, ok := strings.Cut(name, "://"); ok && len(scheme) > 1 && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz") == "" { // one letter is a drive
			return usagef("recfs does not read %s://, but s3://, http:// and https://; mount it first with sshfs or rclone", scheme)
		}
	}
	return nil
}

// joinName is the name of what lies below a source: a path or a URL.
func joinName(dir string, elem ...string) string {
	if remote.IsURL(dir) {
		return remote.Join(dir, elem...)
	}
	return path.Join(append([]string{dir}, elem...)...)
}

// dirName is the name of what a name lies in, a server in itself.
func dirName(name string) string {
	r, err := remote.ParseURL(name)
	switch {
	case !remote.IsURL(name):
		return path.Dir(name)
	case err != nil || r.Key == "":
		return name
	}
	return name[:strings.LastIndex(strings.TrimRight(name, "/"), "/")]
}

// cleanName is a name without what leads nowhere.
func cleanName(name string) string {
	if remote.IsURL(name) {
		return remote.Join(name)
	}
	return path.Clean(name)
}

// absName is a name that holds in any directory.
func absName(name string) (string, error) {
	if err := checkURLs([]string{name}); err != nil {
		return "", err
	}
	if remote.IsURL(name) {
		return remote.Join(name), nil
	}
	return filepath.Abs(name)
}

// remoteServers are the servers that were asked. Their lock is held while nobody is.
type remoteServers struct {
	mu  sync.Mutex
	all map[string]*remote.Server
}

// remoteServer returns the server of a URL, which all sources there share.
func (a *archive) remoteServer(r remote.Ref) (*remote.Server, error) {
	a.servers.mu.Lock()
	defer a.servers.mu.Unlock()
	if s, ok := a.servers.all[r.Base]; ok {
		return s, nil
	}
	var s *remote.Server
	var err error
	if name, isBucket := r.Server(); isBucket {
		s, err = remote.OpenBucket(name, a.cache, a.remote)
	} else {
		var u *url.URL
		if u, err = url.Parse(r.Base); err == nil {
			s, err = remote.OpenSite(u, a.cache, a.remote)
		}
	}
	if err == nil {
		a.servers.all[r.Base] = s
	}
	return s, err
}

// remoteStats tells what was asked of each server.
func (a *archive) remoteStats() []remote.Stats {
	a.servers.mu.Lock()
	defer a.servers.mu.Unlock()
	list := make([]remote.Stats, 0, len(a.servers.all))
	for _, s := range a.servers.all {
		list = append(list, s.Stats())
	}
	slices.SortFunc(list, func(x, y remote.Stats) int { return strings.Compare(x.Source, y.Source) })
	return list
}

// remoteTraffic is how often servers were asked, and how many bytes they sent.
func (a *archive) remoteTraffic() (requests, bytes int64) {
	for _, s := range a.remoteStats() {
		r := s.Requests
		requests += r.List + r.Head + r.Range + r.Get + r.Put
		bytes += s.Bytes
	}
	return requests, bytes
}

// A walkKey is what a context has in which all of a source is about to be listed.
type walkKey struct{}

// walking returns a context for a name whose whole tree is wanted.
func walking(ctx context.Context) context.Context { return context.WithValue(ctx, walkKey{}, true) }

// isNamed reports whether a name is that of a recording or a container.
func (a *archive) isNamed(name string) bool { return archives.IsNamed(a.formats, name) }

// lookUpRemote finds what a URL means: a source, or what a path in one leads to.
func (a *archive) lookUpRemote(ctx context.Context, name string) (nodes.Entry, error) {
	r, err := remote.ParseURL(name)
	if err != nil {
		return nodes.Entry{}, err
	}
	server, err := a.remoteServer(r)
	if err != nil {
		return nodes.Entry{}, err
	}
	if ctx.Value(walkKey{}) != nil && !slices.ContainsFunc(strings.Split(r.Key, "/"), a.isNamed) {
		if err := server.Tree("").Walk(ctx, cmp.Or(r.Key, ".")); err != nil {
			return nodes.Entry{}, err
		}
	}
	at, err := server.Locate(ctx, r.Key, a.isNamed)
	if err != nil {
		return nodes.Entry{}, err
	}
	whole := at.File == "."
	e, err := a.sourceAt(ctx, sourcePlace{r.Base + "/" + at.Dir, at.File}, func() (opened, error) {
		return a.openTree(server.Tree(at.Dir), cmp.Or(strings.Trim(at.Dir, "/"), r.Base)), nil
	})
	if err == nil && at.Inside != "." {
		e, err = inSource(ctx, e, at.Inside)
	}
	_, isBucket := r.Server()
	switch {
	case !errors.Is(err, iofs.ErrNotExist), isBucket && nodes.IsOfServer(err): // it may be the bucket
	case whole:
		err = server.NotFound(name)
	default:
		err = syscall.ENOENT
	}
	return e, err
}
