package web

import (
	"io"
	"net/http"
	"strconv"
	"sync"
)

// A reply sends its header with the first byte, so that what cannot be read gets the status of an
// error.
type reply struct {
	http.ResponseWriter
	request *http.Request
	status  int          // 0: none yet
	sent    bool         // with the header
	bytes   int64        // of the body
	err     error        // of reading what should be sent
	turn    *turn        // nil: none is needed
	held    *limitedConn // which has the reply until flush; nil: net/http sends it
}

// bufferSize is how much of a file is read at a time, and all that a client that takes its time
// holds.
const bufferSize = 64 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}

// WriteHeader implements http.ResponseWriter.
func (w *reply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// send sends the header.
func (w *reply) send() {
	if !w.sent {
		w.WriteHeader(http.StatusOK)
		w.sent = true
		if c := connOf(w.request); c != nil && w.Header().Get("Content-Length") != "" {
			w.held = c
			c.hold()
		}
		w.ResponseWriter.WriteHeader(w.status)
	}
}

// flush sends what is held of a reply whose length was told.
func (w *reply) flush() error {
	if w.held == nil {
		return nil
	}
	if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
		return err
	}
	return w.held.release()
}

// Write implements http.ResponseWriter. The text that net/http has for an error is left out.
func (w *reply) Write(p []byte) (int, error) {
	if w.status >= http.StatusBadRequest && !w.sent {
		return len(p), nil
	}
	w.send()
	w.turn.leave()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom.
func (w *reply) ReadFrom(src io.Reader) (n int64, err error) {
	buffer := buffers.Get().(*[]byte)
	defer func() { buffers.Put(buffer) }()
	for all, ok := src.(*io.LimitedReader); !ok || all.N > 0; { // its end takes no turn
		if !w.turn.held {
			buffers.Put(buffer) // many may wait
			w.err = w.turn.take(w.request.Context())
			buffer = buffers.Get().(*[]byte)
		}
		if w.err != nil {
			return n, w.err
		}
		read, err := src.Read(*buffer)
		if read > 0 {
			written, err := w.Write((*buffer)[:read])
			n += int64(written)
			if err != nil {
				return n, err
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			w.err = err
			return n, err
		}
	}
	return n, nil
}

// ofContent are the headers that tell of what was not sent in the end.
var ofContent = []string{"Accept-Ranges", "Content-Disposition", "Content-Encoding", "Content-Range", "Etag", "Last-Modified"}

// Answer sends all of a small body.
func (w *reply) Answer(r *http.Request, status int, contentType string, body []byte) {
	h := w.Header()
	for _, name := range ofContent {
		if status >= http.StatusBadRequest && !(name == "Content-Range" && status == http.StatusRequestedRangeNotSatisfiable) {
			h.Del(name)
		}
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.status = status
	w.send()
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // who does not take it has gone
	}
}
