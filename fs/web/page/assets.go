package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	iofs "io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed assets
var embedded embed.FS

var (
	//go:embed html/list.html
	listHTML string
	//go:embed html/play.html
	playHTML string
)

// An assetFile is one of the scripts, styles and pictures of the page.
type assetFile struct{ plain, packed []byte }

// assetTypes are those of assets.
var assetTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// loadAssets returns all assets by name, compressed once, and what tells them from those of another
// program.
var loadAssets = sync.OnceValues(func() (all map[string]assetFile, hash string) {
	all = map[string]assetFile{}
	sum := sha256.New()
	entries, _ := iofs.ReadDir(embedded, "assets") // it is in the program
	for _, e := range entries {
		b, _ := embedded.ReadFile("assets/" + e.Name())
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = z.Write(b) // to memory
		_ = z.Close()
		all[e.Name()] = assetFile{b, packed.Bytes()}
		sum.Write([]byte(e.Name() + "\x00"))
		sum.Write(b)
	}
	return all, hex.EncodeToString(sum.Sum(nil)[:8])
})

// hash is in the path of all assets.
func hash() string {
	_, h := loadAssets()
	return h
}

// asset answers a request for HASH/NAME.
func asset(w Writer, r *http.Request, rest string) error {
	all, h := loadAssets()
	of, name, _ := strings.Cut(rest, "/")
	a, ok := all[name]
	if !ok || of != h {
		return ErrMissing
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	answerPacked(w, r, assetTypes[path.Ext(name)], a.plain, a.packed)
	return nil
}

// answerPacked sends a body, compressed where that is taken.
func answerPacked(w Writer, r *http.Request, contentType string, plain, packed []byte) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		plain = packed
	}
	w.Answer(r, http.StatusOK, contentType, plain)
}

// takesGzip reports whether who asks takes compressed bodies.
func takesGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		coding, weight, _ := strings.Cut(one, ";")
		if strings.TrimSpace(coding) == "gzip" {
			q, ok := strings.CutPrefix(strings.TrimSpace(weight), "q=")
			return !ok || strings.Trim(q, "0.") != ""
		}
	}
	return false
}
