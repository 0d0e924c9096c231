package remote

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"

	"recfs/cache"
)

const (
	maxPage     = 4 << 20 // bytes of a page of a listing
	maxKeys     = 10_000  // in a page: servers give 1,000
	maxDepth    = 10      // of its elements
	maxRefusal  = 64 << 10
	maxSize     = 1 << 50        // bytes of an object that anybody could have
	singleKeys  = "50"           // that begin as the one that is looked up
	sharedIndex = ".recfs-index" // of many machines, at the top of a bucket
	emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// A bucket is the protocol of one bucket of an S3 server.
type bucket struct {
	*client
	name        string
	endpoint    *url.URL
	byPath      bool // the bucket is in the path, and not in the host
	brackets    string
	region      atomic.Pointer[string]
	moved       atomic.Bool // the region was told by the server
	credentials *credentials.Credentials
	anonymous   bool
	pays        bool
}

// OpenBucket returns the server of a bucket. Nothing is asked yet.
func OpenBucket(name string, c *cache.Cache, opt Options) (*Server, error) {
	conf, err := loadConfig(opt)
	if err != nil {
		return nil, err
	}
	b := &bucket{name: name, endpoint: conf.endpoint, byPath: conf.own, anonymous: opt.Anonymous, pays: opt.RequesterPays}
	if conf.own {
		b.brackets = " (" + conf.endpoint.Host + ")"
	} else if strings.Contains(name, ".") { // a certificate covers no dots
		b.byPath = true
	}
	b.region.Store(&conf.region)
	transport, err := newTransport(opt, conf.endpoint.Scheme == "https")
	if err != nil {
		return nil, err
	}
	b.client = newClient(opt, &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }})
	b.client.prepare, b.client.refused = b.sign, b.refuse
	b.credentials = conf.credentials(b.client.http)
	s := newServer(b, b.client, c, opt)
	s.Hide(sharedIndex)
	return s, nil
}

func (b *bucket) tellsAll() bool   { return true }
func (b *bucket) wholeFiles() bool { return false }

func (b *bucket) url(key string) string {
	return strings.TrimSuffix("s3://"+b.name+"/"+key, "/") + b.brackets
}

func (b *bucket) missing(url string) error {
	return &Error{url + b.brackets, "no such object or folder", iofs.ErrNotExist}
}

func (b *bucket) place(dir string) string {
	return "s3://" + b.endpoint.Host + "/" + b.name + "/" + strings.TrimSuffix(dir, "/")
}

// request returns a request for a key, "" for the bucket.
func (b *bucket) request(ctx context.Context, key string, query url.Values) (*http.Request, error) {
	u := *b.endpoint
	if u.Path = "/"; b.byPath {
		u.Path += b.name + "/"
	} else {
		u.Host = b.name + "." + strings.Replace(u.Host, "s3.amazonaws.com", "s3."+*b.region.Load()+".amazonaws.com", 1)
	}
	u.Path = b.endpoint.Path + u.Path + key
	u.RawPath = s3utils.EncodePath(u.Path)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://invalid/", http.NoBody)
	if err != nil {
		return nil, err
	}
	req.URL, req.Host = &u, u.Host
	req.Header.Set("X-Amz-Content-Sha256", emptySHA256)
	if b.pays {
		req.Header.Set("X-Amz-Request-Payer", "requester")
	}
	return req, nil
}

// sign signs a request with credentials that hold at present.
func (b *bucket) sign(req *http.Request) (*http.Request, error) {
	if b.anonymous {
		return req, nil
	}
	v, err := b.credentials.GetWithContext(&credentials.CredContext{Client: b.client.http, Context: req.Context()})
	if ended := req.Context().Err(); ended != nil { // the library may call that anonymous
		return nil, ended
	}
	if err != nil || v.AccessKeyID == "" {
		return nil, &Error{"s3://" + b.name, "no credentials; --no-sign-request reads public buckets", iofs.ErrPermission}
	}
	return signer.SignV4(*req, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, *b.region.Load()), nil
}

// get implements protocol.
func (b *bucket) get(ctx context.Context, o object, off, n int64) (*http.Request, error) {
	req, err := b.request(ctx, o.key, nil)
	if err != nil {
		return nil, err
	}
	if n < o.size {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	}
	if o.tag != "" {
		req.Header.Set("If-Match", o.tag)
	}
	return req, nil
}

// A listResult is a page of ListObjectsV2.
type listResult struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	EncodingType          string
	IsTruncated           bool
	NextContinuationToken string
	Contents              []struct {
		Key          string
		ETag         string
		Size         int64
		LastModified time.Time
	}
	CommonPrefixes []struct{ Prefix string }
}

// list asks for a page of a listing.
func (b *bucket) list(ctx context.Context, query url.Values) (*listResult, error) {
	query.Set("list-type", "2")
	query.Set("encoding-type", "url")
	at := b.url(query.Get("prefix"))
	var r *listResult
	err := b.ask(ctx, question{
		url: at, count: &b.List,
		build: func(ctx context.Context) (*http.Request, error) { return b.request(ctx, "", query) },
		take: func(resp *http.Response) (err error) {
			r, err = readPage(at, resp.Body)
			return err
		},
	})
	return r, err
}

// readPage reads a page of a listing.
func readPage(at string, body io.Reader) (*listResult, error) {
	r := &listResult{}
	if err := xml.NewTokenDecoder(&plainXML{Decoder: xml.NewDecoder(io.LimitReader(body, maxPage))}).Decode(r); err != nil {
		return nil, strange(at, "the answer is no listing")
	}
	if len(r.Contents)+len(r.CommonPrefixes) > maxKeys || r.IsTruncated && r.NextContinuationToken == "" {
		return nil, strange(at, "the listing has no end")
	}
	for i := range r.Contents {
		c := &r.Contents[i]
		if c.Size < 0 || c.Size > maxSize {
			return nil, strange(at, "an object has %d bytes", c.Size)
		}
		c.Key = decodeKey(c.Key, r.EncodingType)
	}
	for i := range r.CommonPrefixes {
		p := &r.CommonPrefixes[i].Prefix
		*p = decodeKey(*p, r.EncodingType)
	}
	return r, nil
}

// A plainXML reads XML that has no more elements in its root, and none deeper, than a listing has.
// The elements of a page of nothing else take forty times its bytes of memory.
type plainXML struct {
	*xml.Decoder
	depth, inRoot int
}

// Token implements xml.TokenReader.
func (p *plainXML) Token() (xml.Token, error) {
	t, err := p.RawToken()
	switch t.(type) {
	case xml.StartElement:
		if p.depth++; p.depth == 2 {
			p.inRoot++
		}
	case xml.EndElement:
		p.depth--
	}
	if p.depth > maxDepth || p.inRoot > 2*maxKeys {
		return nil, errors.New("too many elements")
	}
	return t, err
}

func decodeKey(key, encoding string) string {
	if encoding == "url" {
		if plain, err := url.QueryUnescape(key); err == nil {
			return plain
		}
	}
	return key
}

// page implements protocol.
func (b *bucket) page(ctx context.Context, dir, from string, flat bool, add addFunc) (string, error) {
	query := url.Values{"prefix": {dir}}
	if !flat {
		query.Set("delimiter", "/")
	}
	token, before, _ := strings.Cut(from, "\x00") // and the last name of the page before
	if token != "" {
		query.Set("continuation-token", token)
	}
	r, err := b.list(ctx, query)
	if err != nil {
		return "", err
	}
	last := before
	for _, c := range r.Contents {
		key, ok := strings.CutPrefix(c.Key, dir)
		if !ok || c.Key <= last {
			return "", strange(b.url(dir), "the keys of the listing are out of order at %q", c.Key)
		}
		last = c.Key
		if strings.HasSuffix(key, "/") && !flat {
			continue // the folder itself
		}
		add(key, c.ETag, c.Size, milliseconds(c.LastModified))
	}
	for _, p := range r.CommonPrefixes {
		key, ok := strings.CutPrefix(p.Prefix, dir)
		switch {
		case p.Prefix < before:
			return "", strange(b.url(dir), "the folders of the listing are out of order at %q", p.Prefix)
		case ok && p.Prefix != before:
			add(strings.TrimSuffix(key, "/"), "", sizeFolder, 0)
			last = max(last, p.Prefix)
		}
	}
	switch {
	case !r.IsTruncated:
		return "", nil
	case last == before:
		return "", strange(b.url(dir), "the listing does not go on")
	}
	return r.NextContinuationToken + "\x00" + last, nil
}

// look implements protocol.
func (b *bucket) look(ctx context.Context, key string) (looked, error) {
	r, err := b.list(ctx, url.Values{"prefix": {key}, "delimiter": {"/"}, "max-keys": {singleKeys}})
	if err != nil {
		return looked{}, err
	}
	for _, p := range r.CommonPrefixes {
		if p.Prefix == key+"/" {
			return looked{isDir: true}, nil
		}
	}
	found := looked{}
	for _, c := range r.Contents {
		if c.Key == key {
			found = looked{object: object{key, c.ETag, c.Size, milliseconds(c.LastModified)}, isFile: true}
		}
	}
	found.unsure = r.IsTruncated
	return found, nil
}

// A refusalText is what an S3 server says of a request that it does not answer.
type refusalText struct {
	XMLName      xml.Name `xml:"Error"`
	Code         string
	Message      string
	Region       string
	StorageClass string
}

// refuse returns the error of an answer that is none.
func (b *bucket) refuse(at string, resp *http.Response) error {
	var said refusalText
	_ = xml.NewDecoder(io.LimitReader(resp.Body, maxRefusal)).Decode(&said)
	said.Code = wordOr(said.Code, "")
	code := wordOr(said.Code, fmt.Sprint(resp.StatusCode))
	if b.goElsewhere(resp, said) {
		return &passing{reason: code}
	}
	isListing := resp.Request.URL.RawQuery != ""
	switch {
	case said.Code == "NoSuchBucket", isListing && resp.StatusCode == http.StatusNotFound:
		return &Error{"s3://" + b.name + b.brackets, "no such bucket", iofs.ErrNotExist}
	case resp.StatusCode == http.StatusNotFound:
		return stale(at)
	case said.Code == "InvalidObjectState":
		class := wordOr(said.StorageClass, wordOr(resp.Header.Get("X-Amz-Storage-Class"), "GLACIER"))
		return &Error{at, fmt.Sprintf("archived (%s); it has to be restored first", class), iofs.ErrPermission}
	case resp.StatusCode == http.StatusBadRequest && strings.Contains(strings.ToLower(said.Message), "server side encryption"):
		return &Error{at, "encrypted with a key of the customer, which recfs does not take", errors.ErrUnsupported}
	}
	if resp.StatusCode >= 500 && said.Code != "" {
		code = fmt.Sprintf("%d %s", resp.StatusCode, said.Code)
	}
	if err := refusal(at, code, resp.StatusCode); err != nil {
		return err
	}
	return strange(at, "the server says %s", code)
}

// goElsewhere reports whether the server names another region, which is asked from now on. It is
// believed once.
func (b *bucket) goElsewhere(resp *http.Response, said refusalText) bool {
	region := wordOr(resp.Header.Get("X-Amz-Bucket-Region"), wordOr(said.Region, ""))
	if region == "" || region == *b.region.Load() || resp.StatusCode < 300 || !b.moved.CompareAndSwap(false, true) {
		return false
	}
	b.region.Store(&region)
	return true
}
