package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// settle is the quiet time after which a page counts as made; four times as long
// while it is loading.
const settle = 500 * time.Millisecond

// state is evaluated in a page again and again.
const state = `(() => { const t = document.body ? document.body.textContent.length : 0;
return [document.readyState === "complete" ? 1 : 0, t, performance.getEntriesByType("resource").length, document.getElementsByTagName("*").length]; })()`

// tame runs before a page's own scripts, so that none stops to ask.
const tame = `window.alert = window.print = () => {}; window.confirm = () => false; window.prompt = () => null; window.open = () => null;
window.RTCPeerConnection = window.webkitRTCPeerConnection = undefined;`

// Render loads a page, lets its scripts run until nothing changes any more,
// and returns the document as HTML and the URL it ended at. Errors: kb.Invalid
// for what is no http URL, kb.TooLarge over a limit of size or memory, kb.Away
// for everything that keeps the page from loading, a refusal of the dialler
// included, kb.Canceled.
func (b *Browser) Render(ctx context.Context, u string) (html, finalURL string, err error) {
	if parsed, err := url.Parse(u); err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return "", "", kb.Errorf(kb.Invalid, "%q is no page for a browser", u).WithHint("use an http or https URL")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.ctx.Err() != nil {
		return "", "", kb.Errorf(kb.Canceled, "the browser is closed")
	}
	if ctx.Err() != nil {
		return "", "", kb.Errorf(kb.Canceled, "stopped before %s was rendered", u)
	}
	if b.run == nil {
		if b.run, err = b.start(); err != nil {
			return "", "", err
		}
	}
	r := b.run
	r.proxy.reset()
	tab, cancel := chromedp.NewContext(r.ctx, chromedp.WithNewBrowserContext())
	timed, stop := context.WithTimeout(tab, b.c.Timeout)
	unhook := context.AfterFunc(ctx, stop)
	html, finalURL, err = b.render(timed, r, u)
	late := timed.Err() != nil
	unhook()
	stop()
	if err != nil && (late || r.ctx.Err() != nil || r.over.Load() > 0) {
		// A page that holds the browser up is ended with it.
		r.end()
		b.run = nil
	}
	cancelled := make(chan struct{})
	go func() {
		cancel()
		close(cancelled)
	}()
	select {
	case <-cancelled:
	case <-time.After(2 * time.Second):
		r.end()
		b.run = nil
	}
	switch {
	case err == nil:
		return html, finalURL, nil
	case ctx.Err() != nil || b.ctx.Err() != nil:
		return "", "", kb.Errorf(kb.Canceled, "stopped while %s was rendered", u)
	case r.over.Load() > 0:
		return "", "", kb.Errorf(kb.TooLarge, "%s makes the browser take %d MB of memory, more than %d", u,
			r.over.Load()>>20, b.c.MaxMemory>>20)
	case r.proxy.spent():
		return "", "", kb.Errorf(kb.TooLarge, "%s loads more than %d MB", u, b.c.MaxTraffic>>20)
	case r.proxy.refused() != nil && strings.Contains(err.Error(), "net::ERR_"):
		return "", "", kb.Errorf(kb.Away, "%s cannot be loaded: %s", u, oneLine(r.proxy.refused()))
	case late:
		return "", "", kb.Errorf(kb.Away, "%s is not there after %v in a browser", u, b.c.Timeout)
	}
	var known *kb.Error
	if errors.As(err, &known) {
		return "", "", err
	}
	return "", "", kb.Errorf(kb.Away, "%s cannot be rendered: %s", u, oneLine(err))
}

func (b *Browser) render(ctx context.Context, r *running, u string) (html, final string, err error) {
	script := page.AddScriptToEvaluateOnNewDocumentParams{Source: tame}
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, script); err != nil {
		return "", "", err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(u)); err != nil {
		return "", "", err
	}
	// Quiet is when neither the page nor the proxy has moved for a while.
	var last [4]int
	since := time.Now()
	deadline, _ := ctx.Deadline()
	for {
		now, err := chromedp.Run(ctx, chromedp.Evaluate[[4]int](state))
		if err != nil {
			moving := strings.Contains(err.Error(), "context was destroyed") || strings.Contains(err.Error(), "Cannot find context")
			if !moving || ctx.Err() != nil {
				return "", "", err
			}
			now = [4]int{} // it moves to another page
		}
		if moved := r.proxy.moved(); now != last || moved.After(since) {
			last, since = now, time.Now()
		}
		wait := settle
		if now[0] == 0 || r.proxy.busy() > 0 {
			wait = 4 * settle
		}
		if r.proxy.spent() {
			return "", "", errors.New("too much traffic")
		}
		// A quarter before the end of time, an unfinished page is better than none.
		if time.Since(since) >= wait || now[1] > 0 && time.Until(deadline) < b.c.Timeout/4 {
			break
		}
		select {
		case <-ctx.Done():
			return "", "", ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	size, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.outerHTML.length`))
	if err != nil {
		return "", "", err
	}
	if size > b.c.MaxBytes {
		return "", "", kb.Errorf(kb.TooLarge, "%s has %d MB of HTML in a browser, more than %d", u, size>>20, b.c.MaxBytes>>20)
	}
	take := fmt.Sprintf(`[document.documentElement.outerHTML.slice(0, %d), location.href]`, b.c.MaxBytes)
	out, err := chromedp.Run(ctx, chromedp.Evaluate[[2]string](take))
	if err != nil {
		return "", "", err
	}
	if !strings.HasPrefix(out[1], "http") {
		return "", "", errors.New("it ends at " + kb.Clip(out[1], 200))
	}
	return "<!DOCTYPE html>" + out[0], out[1], nil
}

func oneLine(err error) string { return kb.Clip(strings.Join(strings.Fields(err.Error()), " "), 200) }
