package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// meterPeriod is how often a meter is drawn anew.
const meterPeriod = 200 * time.Millisecond

// A meter shows how far a command has come: recordings done of all, how fast it goes and how long
// it will take. It is drawn where the terminal is; on a pipe it only counts.
type meter struct {
	what    string                         // the command does
	looked  func() int                     // how many recordings are done, if finish does not tell
	traffic func() (requests, bytes int64) // of servers; nil: there are none

	mu      sync.Mutex
	done    amount                   // what is finished
	started int64                    // bytes of recordings that were begun
	read    int64                    // bytes read of sources, some twice
	files   int                      // read or written
	all     amount                   // what there is to do
	counted bool                     // all is known
	bar     *progressbar.ProgressBar // nil: nothing is drawn; itself it is safe, but not what is printed
	redraw  *time.Timer
}

// An amount is what a command has to do, or has done.
type amount struct {
	recordings int
	bytes      int64 // of recordings and other files, as they are stored
}

// newMeter returns a meter of what a command does, which is drawn on w if that is a terminal, until
// close.
func newMeter(w io.Writer, what string) *meter {
	m := &meter{what: what}
	if isTerminal(w) {
		m.draw(w)
	}
	return m
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// draw begins to draw m on w.
func (m *meter) draw(w io.Writer) {
	m.bar = progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowBytes(true),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionUseANSICodes(true),          // it is drawn over, never blank
		progressbar.OptionSetSpinnerChangeInterval(0), // it draws only when it is told to, nothing after close
		progressbar.OptionSetDescription(m.what),
	)
	m.change(func() {
		m.redraw = time.AfterFunc(meterPeriod, func() {
			m.change(func() {
				if m.show(); m.bar != nil {
					m.redraw.Reset(meterPeriod)
				}
			})
		})
	})
}

// drawn reports whether somebody sees m.
func (m *meter) drawn() bool { return m.bar != nil }

// close takes m away, if there is one. What it counted stays.
func (m *meter) close() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		m.redraw.Stop()
		_ = m.bar.Clear()
		_ = m.bar.Exit()
		m.bar = nil
	}
}

// change counts something; the next drawing shows it.
func (m *meter) change(count func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count()
}

// during calls work, which is on a recording of so many bytes.
func (m *meter) during(ctx context.Context, bytes int64, work func()) {
	m.change(func() { m.started += bytes })
	work()
	if ctx.Err() == nil {
		m.finish(1, bytes)
	}
}

// finish says that one was finished, or that no recording was but a file.
func (m *meter) finish(recordings int, bytes int64) {
	m.change(func() {
		m.done.recordings += recordings
		m.done.bytes += min(bytes, math.MaxInt64-m.done.bytes) // members of tars are as long as these say
	})
}

// set says that so much of all is done of one recording.
func (m *meter) set(done, all int64) {
	m.change(func() { m.done.bytes, m.all, m.counted = done, amount{0, all}, true })
}

// file says that a file was read or written.
func (m *meter) file() { m.change(func() { m.files++ }) }

// onRead says that n more bytes of sources were read.
func (m *meter) onRead(n int) { m.change(func() { m.read += int64(n) }) }

// print calls write, which prints something, with the meter, if there is one, out of its way. All
// that a command prints goes through it.
func (m *meter) print(write func()) {
	if m == nil {
		write()
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		_ = m.bar.Clear()
	}
	write()
	m.show()
}

// show draws m as it is now.
func (m *meter) show() {
	if m.bar == nil {
		return
	}
	m.bar.Describe(m.text())
	if m.counted {
		if end := m.all.bytes + 1; m.bar.GetMax64() != end { // a bar at its end would vanish
			m.bar.ChangeMax64(end)
		}
		_ = m.bar.Set64(m.position())
	}
}

// text is what stands before the bar.
func (m *meter) text() string {
	text := m.what
	switch {
	case m.counted && m.all.recordings > 0:
		text += fmt.Sprintf(" %d/%d recordings", m.done.recordings, m.all.recordings)
	case !m.counted:
		n := m.done.recordings
		if m.looked != nil {
			n = m.looked()
		}
		text += " " + count(n, "recording", "recordings")
	}
	if m.files > 0 {
		text += ", " + count(m.files, "file", "files")
	}
	if m.traffic != nil {
		if requests, bytes := m.traffic(); requests > 0 {
			text += fmt.Sprintf(", %s, %s", count(int(requests), "request", "requests"), humanSize(bytes))
		}
	}
	return text
}

// position is how many of all bytes are done. What is read of recordings that are not finished yet
// counts, but not twice.
func (m *meter) position() int64 {
	return min(max(m.done.bytes, min(m.read, m.started)), m.all.bytes)
}

// far says how much is done of what.
func (m *meter) far() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counted {
		return fmt.Sprintf("%d of %s", m.done.recordings, count(m.all.recordings, "recording", "recordings"))
	}
	return count(m.done.recordings, "recording", "recordings")
}
