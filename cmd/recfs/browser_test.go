package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserTime is how long a browser has for all that a test wants of it, on a machine that has much
// else to do.
const browserTime = 5 * time.Minute

// A browser is a tab of a headless Chromium at a server of a test.
type browser struct {
	*testing.T
	ctx    context.Context
	server serverProcess
}

// chromium is the context of the browser of all tests, which the first one starts; nil: there is no
// browser. stopChromium ends it.
var chromium, stopChromium = sync.OnceValues(func() (context.Context, error) {
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", os.Getenv("RECFS_BROWSER")} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
		}
	}
	if program == "" {
		return nil, nil
	}
	var ctx context.Context
	ctx, stopChromium = chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(
		chromedp.ExecPath(program), chromedp.Flag("lang", "en-GB"), chromedp.Flag("disable-back-forward-cache", true)))
	return ctx, chromedp.Do(ctx)
}), func() {}

// testsWithBrowser are the tests of the package, behind which the browser is stopped.
type testsWithBrowser struct{ *testing.M }

// Run implements testscript.TestingM.
func (m testsWithBrowser) Run() int {
	defer func() { stopChromium() }()
	return m.M.Run()
}

// needBrowser returns the browser of all tests, and skips the test if there is none.
func needBrowser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long")
	}
	shared, err := chromium()
	must(t, err)
	if shared == nil {
		t.Skip("there is no chromium or google-chrome, and RECFS_BROWSER names none")
	}
	return shared
}

// openBrowser opens a tab of a number of CSS pixels at a server of a source. Without a browser the
// test is skipped. What a page throws, or does against its policy, fails the test. All tabs are in
// one window, which shows the last one: a window and a profile of its own take three processes.
func openBrowser(t *testing.T, source string, width, height int64, flags ...string) *browser {
	t.Helper()
	ctx, cancel := context.WithTimeout(needBrowser(t), browserTime)
	p := startServer(t, source, flags...)
	ctx, stop := chromedp.NewContext(ctx, chromedp.WithNewWindow(false))
	t.Cleanup(func() {
		stop()
		cancel()
	})
	b := &browser{t, ctx, p}
	must(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, height)))
	must(t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				text += " " + e.ExceptionDetails.Exception.Description
			}
			t.Errorf("the page throws: %s", text)
		case *runtime.EventConsoleAPICalled:
			for _, a := range e.Args {
				t.Logf("console: %s", a.Value)
			}
		case *log.EventEntryAdded:
			if e.Entry.Source == log.EntrySourceSecurity {
				t.Errorf("against the policy: %s", e.Entry.Text)
			}
		}
	}))
	return b
}

// open goes to a path of the server, with what is behind it, and waits for the page to be ready.
func (b *browser) open(path string) {
	b.Helper()
	url := b.server.http + path
	if b.text(fmt.Sprintf("location.href.split('#')[0] === new URL(%q).href.split('#')[0]", url)) == "true" {
		must(b.T, chromedp.Do(b.ctx, chromedp.Navigate("about:blank"))) // else the page stays
	}
	must(b.T, chromedp.Do(b.ctx, chromedp.Navigate(url)))
	b.wait("window.recfs && window.recfs.ready")
}

// wait waits until an expression is true, which is asked at each frame, also of the next page.
func (b *browser) wait(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserTime/2)
	defer cancel()
	var err error
	for {
		_, err = chromedp.Run(ctx, chromedp.Poll[any]("!!("+expression+")", chromedp.WithPollingTimeout(browserTime)))
		if err == nil || ctx.Err() != nil {
			break // else the page was left meanwhile
		}
	}
	if err != nil {
		b.Fatalf("waiting for %s: %v; recfs is %s, the page says %.2000s", expression, err,
			b.text("JSON.stringify(window.recfs)"), b.text("document.body.innerText"))
	}
}

// text returns the value of an expression as text, awaiting a promise.
func (b *browser) text(expression string) string {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("(async()=>String(await("+expression+")))()", chromedp.EvalAwaitPromise))
	if err != nil {
		b.Errorf("%s: %v", expression, err)
	}
	return v
}

// evaluate returns the value of an expression that has JSON, awaiting a promise.
func evaluate[T any](b *browser, expression string) (v T) {
	b.Helper()
	text := b.text("JSON.stringify(await(" + expression + "))")
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		b.Fatalf("%s is %s: %v", expression, text, err)
	}
	return v
}

// press presses keys as a person does, see package kb.
func (b *browser) press(keys string, modifiers ...chromedp.Modifier) {
	b.Helper()
	must(b.T, chromedp.Do(b.ctx, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...))))
}

// back goes back in the history.
func (b *browser) back() {
	b.Helper()
	b.text("setTimeout(() => history.back())")
}

// click clicks the middle of what has a data-testid, or of the first of those that have it.
func (b *browser) click(testid string) {
	b.Helper()
	must(b.T, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(fmt.Sprintf("[data-testid=%q]", testid)))))
}

// prefer has the browser say that its user prefers something, as in prefers-color-scheme: dark.
func (b *browser) prefer(feature, value string) {
	b.Helper()
	must(b.T, chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: feature, Value: value}},
		})
		return err
	})))
}

// picture writes a PNG of what is seen into the directory named by RECFS_PICTURES, if it is set.
func (b *browser) picture(name string) {
	b.Helper()
	if dir := os.Getenv("RECFS_PICTURES"); dir != "" {
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		must(b.T, err)
		must(b.T, os.WriteFile(filepath.Join(dir, name), png, 0o644))
	}
}
