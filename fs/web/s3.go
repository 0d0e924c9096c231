package web

import (
	"cmp"
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"recfs/fs/web/page"
	"recfs/nodes"
)

// bucket is the name of the one bucket.
const bucket = "recfs"

var (
	errNotImplemented = page.NewRefusal(http.StatusNotImplemented, "not implemented")
	errNoBucket       = &page.Refusal{Status: http.StatusNotFound, Text: "no such bucket", Code: "NoSuchBucket"}
)

// s3 answers a call of an S3 client.
func (t *tree) s3(w *reply, r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPut, http.MethodPost, http.MethodDelete:
		w.Header().Set("Allow", "GET, HEAD")
		return page.ErrMethod
	default:
		return errNotImplemented
	}
	q, err := page.ParseQuery(r)
	if err != nil {
		return err
	}
	name, key, inBucket := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	switch {
	case name == "" && r.Method == http.MethodGet && only(q, "x-id"):
		return t.listBuckets(w, r)
	case name == "":
		return errNotImplemented
	case name != bucket:
		return errNoBucket
	case inBucket && key != "":
		return t.getObject(w, r, key, q)
	case r.Method == http.MethodHead:
		w.Header().Set("X-Amz-Bucket-Region", "us-east-1")
		return nil
	case q.Has("location") && only(q, "location"):
		return writeXML(w, r, struct {
			XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ LocationConstraint"`
		}{})
	}
	return t.listObjects(w, r, q)
}

// only reports whether a query has nothing but these names and a signature.
func only(q url.Values, names ...string) bool {
	for name := range q {
		if !slices.ContainsFunc(append(names, "[xX]-[aA][mM][zZ]-*"), func(known string) bool {
			ok, _ := path.Match(known, name)
			return ok
		}) {
			return false
		}
	}
	return true
}

func (t *tree) listBuckets(w *reply, r *http.Request) error {
	type named struct {
		Name         string
		CreationDate string
	}
	return writeXML(w, r, struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListAllMyBucketsResult"`
		Owner   owner
		Buckets []named `xml:"Buckets>Bucket"`
	}{Owner: theOwner, Buckets: []named{{bucket, s3Time(t.Root.Time)}}})
}

type owner struct{ ID, DisplayName string }

var theOwner = owner{"recfs", "recfs"}

func s3Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// getObject sends an object, or its headers.
func (t *tree) getObject(w *reply, r *http.Request, key string, q url.Values) error {
	if q.Has("partNumber") || !only(q, "x-id", "response-*") {
		return errNotImplemented
	}
	name, slash, err := parsePath("/" + key)
	if err != nil || slash {
		return page.ErrMissing
	}
	_, o, err := t.get(r.Context(), name, s3Mark, true)
	if err != nil {
		return err
	}
	if o == nil {
		return page.ErrMissing
	}
	return o.send(w, r)
}

func writeXML(w *reply, r *http.Request, v any) error {
	b, err := xml.Marshal(v)
	if err == nil {
		w.Answer(r, http.StatusOK, "application/xml", append([]byte(xml.Header), b...))
	}
	return err
}

// s3Codes are the codes of errors by status.
var s3Codes = map[int]string{
	http.StatusBadRequest: "InvalidArgument", http.StatusForbidden: "AccessDenied", http.StatusNotFound: "NoSuchKey",
	http.StatusMethodNotAllowed: "MethodNotAllowed", http.StatusPreconditionFailed: "PreconditionFailed",
	http.StatusRequestEntityTooLarge: "MaxMessageLengthExceeded", http.StatusRequestedRangeNotSatisfiable: "InvalidRange",
	http.StatusMisdirectedRequest: "EndpointNotFound", http.StatusNotImplemented: "NotImplemented", http.StatusServiceUnavailable: "SlowDown", http.StatusGatewayTimeout: "ServiceUnavailable",
}

func codeOf(err *page.Refusal) string { return cmp.Or(err.Code, s3Codes[err.Status], "InternalError") }

var requests atomic.Uint64

// refuseS3 answers a call with an error.
func refuseS3(w *reply, r *http.Request, err *page.Refusal) {
	if err.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	id := strconv.FormatUint(requests.Add(1), 16)
	w.Header().Set("X-Amz-Request-Id", id)
	b, _ := xml.Marshal(struct { // of strings alone, which do not fail
		XMLName                            xml.Name `xml:"Error"`
		Code, Message, Resource, RequestId string
	}{Code: codeOf(err), Message: err.Text, Resource: r.URL.Path, RequestId: id})
	w.Answer(r, err.Status, "application/xml", append([]byte(xml.Header), b...))
}

// A listResult is what a listing of the bucket says, of both versions.
type listResult struct {
	XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name                  string
	Prefix                string
	Marker                *string
	NextMarker            string `xml:",omitempty"`
	StartAfter            string `xml:",omitempty"`
	ContinuationToken     string `xml:",omitempty"`
	NextContinuationToken string `xml:",omitempty"`
	KeyCount              *int
	MaxKeys               int
	Delimiter             string `xml:",omitempty"`
	EncodingType          string `xml:",omitempty"`
	IsTruncated           bool
	Contents              []content
	CommonPrefixes        []commonPrefix
}

type content struct {
	Key          string
	LastModified string
	ETag         string
	Size         int64
	Owner        *owner
	StorageClass string
}

type commonPrefix struct{ Prefix string }

const mostKeys = 1000

// listObjects answers ListObjectsV2, or the version before it.
func (t *tree) listObjects(w *reply, r *http.Request, q url.Values) error {
	if !only(q, "list-type", "prefix", "delimiter", "max-keys", "start-after", "continuation-token", "encoding-type", "fetch-owner", "marker", "x-id") {
		return errNotImplemented
	}
	second := q.Get("list-type") == "2"
	l := lister{
		t: t, prefix: q.Get("prefix"), delimited: q.Get("delimiter") != "", max: mostKeys,
		encoded: q.Get("encoding-type") != "", owned: !second || q.Get("fetch-owner") == "true",
	}
	switch {
	case q.Has("list-type") && !second:
		return badValue("list-type")
	case l.delimited && q.Get("delimiter") != "/":
		return errNotImplemented
	case l.encoded && q.Get("encoding-type") != "url":
		return badValue("encoding-type")
	}
	if text := q.Get("max-keys"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return badValue("max-keys")
		}
		l.max = min(n, mostKeys)
	}
	after := q.Get("marker")
	if token, ok := strings.CutPrefix(after, tokenMark); ok {
		if key, ok := keyOf(token); ok {
			after = key
		}
	}
	if second {
		after = q.Get("start-after")
		if token := q.Get("continuation-token"); token != "" {
			key, ok := keyOf(token)
			if !ok {
				return badValue("continuation-token")
			}
			after = key
		}
	}
	if err := l.list(r.Context(), after); err != nil {
		return err
	}
	out := &listResult{
		Name: bucket, Prefix: l.text(l.prefix), MaxKeys: l.max, Delimiter: q.Get("delimiter"), EncodingType: q.Get("encoding-type"),
		IsTruncated: l.truncated, Contents: l.contents, CommonPrefixes: l.prefixes,
	}
	if second {
		n := len(l.contents) + len(l.prefixes)
		out.KeyCount, out.StartAfter, out.ContinuationToken = &n, l.text(q.Get("start-after")), q.Get("continuation-token")
		if l.truncated {
			out.NextContinuationToken = tokenOf(l.last)
		}
	} else {
		marker := l.text(after)
		out.Marker = &marker
		if l.truncated {
			out.NextMarker = l.text(l.last)
			if strings.ContainsRune(xmlText(out.NextMarker), utf8.RuneError) {
				out.NextMarker = tokenMark + tokenOf(l.last)
			}
		}
	}
	return writeXML(w, r, out)
}

// tokenMark begins a marker that is a token: XML does not hold every key.
const tokenMark = "?token="

// text returns a key as the client wants it.
func (l *lister) text(key string) string {
	if l.encoded {
		return escape(key)
	}
	return key
}

// addObject adds a file to a listing, unless its size is not to be made or cannot be.
func (l *lister) addObject(ctx context.Context, key string, way nodes.Way) error {
	if e := way.Last(); l.makesSizes(key) || nodes.IsMeasured(ctx, e.File) {
		o, err := l.t.object(nodes.Listing(ctx), way, s3Mark)
		if isPassing(ctx, err) {
			return err
		}
		if err == nil {
			c := content{Key: l.text(key), LastModified: s3Time(e.Time), ETag: o.tag, Size: o.size, StorageClass: "STANDARD"}
			if l.owned {
				c.Owner = &theOwner
			}
			l.contents = append(l.contents, c)
		}
	}
	return nil
}
