// Package browser reads pages that need a browser. It starts an installed Chrome or
// Chromium without a window, in a new profile that is deleted afterwards. Its cage:
//
//   - All of its traffic goes through a proxy on loopback that dials with the
//     function it was given; names are resolved there alone. Loopback is no
//     exception, QUIC and unproxied WebRTC are off.
//   - No extensions, no background networking, no pictures, fonts, downloads,
//     dialogs or second windows; each page has cookies and storage of its own.
//   - Time, traffic, size of the document and memory of all processes are
//     bounded. A browser that breaks a bound is killed, and the next page
//     starts another.
//   - It has a process group of its own, which is killed on Close and when the
//     context ends. When this process dies, the kernel kills it (Linux), and
//     everywhere the end of the pipe that controls it ends it. The next Open
//     removes the profile that is left.
//
// The sandbox of the browser is on, except for root, for whom it refuses to
// start with it: then, and only then, it runs with --no-sandbox.
//
// Only a worker that crawls starts it.
package browser

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Config says how a browser is run. Zero values are the defaults.
type Config struct {
	// Path is the program; "" looks for one, see Find.
	Path string
	// DialContext opens every connection of the browser; it refuses what must
	// not be reached. It is needed.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
	// Timeout bounds one page; 30 s.
	Timeout time.Duration
	// MaxBytes bounds the HTML of one page; 10 MiB.
	MaxBytes int
	// MaxTraffic bounds what one page may load; 64 MiB.
	MaxTraffic int64
	// MaxMemory bounds the private memory of all its processes together; 1.5
	// GiB. It is measured on Linux; elsewhere scripts alone are bounded.
	MaxMemory int64
	// UserAgent replaces the browser's own; "" leaves it.
	UserAgent string
	// TempDir is where the profile lies; "" is os.TempDir.
	TempDir string
}

// Browser renders pages, one after the other. It is safe for concurrent use.
type Browser struct {
	c    Config
	ctx  context.Context // of Open
	path string

	mu     sync.Mutex // held while a page is rendered
	run    *running   // nil between browsers
	closed bool
}

// running is one process of the browser.
type running struct {
	ctx     context.Context
	cancel  context.CancelFunc
	proxy   *proxy
	profile string
	pid     int
	over    atomic.Int64 // memory that was too much
	once    sync.Once
	ended   chan struct{}
}

// Find returns the path of an installed browser: the one that is named, one on
// the PATH, or one at a usual place. Without one it fails with kb.NotFound.
func Find(path string) (string, error) {
	if path != "" {
		p, err := exec.LookPath(path)
		if err != nil {
			return "", kb.Errorf(kb.NotFound, "there is no browser at %q", path).
				WithHint("name an installed Chrome or Chromium, or leave the setting empty to have one looked for")
		}
		return p, nil
	}
	for _, name := range usual() {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
	}
	return "", kb.Errorf(kb.NotFound, "no Chrome or Chromium is installed").
		WithHint("install one (Debian: apt-get install chromium), or crawl with headless: never")
}

// usual are the names and places of browsers, per system.
func usual() []string {
	names := []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "headless_shell",
		"chromium-headless-shell"}
	switch runtime.GOOS {
	case "darwin":
		for _, app := range []string{"Google Chrome", "Chromium", "Microsoft Edge", "Google Chrome Canary"} {
			names = append(names, "/Applications/"+app+".app/Contents/MacOS/"+app)
		}
	case "windows":
		for _, env := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			if dir := os.Getenv(env); dir != "" {
				names = append(names, filepath.Join(dir, `Google\Chrome\Application\chrome.exe`),
					filepath.Join(dir, `Chromium\Application\chrome.exe`), filepath.Join(dir, `Microsoft\Edge\Application\msedge.exe`))
			}
		}
	default:
		names = append(names, "/usr/lib/chromium/chromium", "/opt/google/chrome/chrome", "/snap/bin/chromium", "microsoft-edge")
	}
	return names
}

// Open finds a browser and starts it. It ends with ctx, with Close and with
// this process.
func Open(ctx context.Context, c Config) (*Browser, error) {
	if c.DialContext == nil {
		return nil, kb.Errorf(kb.Internal, "a browser needs a way to dial")
	}
	path, err := Find(c.Path)
	if err != nil {
		return nil, err
	}
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = 10 << 20
	}
	if c.MaxTraffic <= 0 {
		c.MaxTraffic = 64 << 20
	}
	if c.MaxMemory <= 0 {
		c.MaxMemory = 3 << 29
	}
	c.TempDir = cmp.Or(c.TempDir, os.TempDir())
	sweep(c.TempDir)
	b := &Browser{c: c, ctx: ctx, path: path}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.run, err = b.start(); err != nil {
		return nil, err
	}
	return b, nil
}

// profilePrefix and the id of its process name a profile.
const profilePrefix = "knowledge-browser-"

// sweep removes the profiles of processes that are gone.
func sweep(dir string) {
	entries, _ := filepath.Glob(filepath.Join(dir, profilePrefix+"*"))
	for _, e := range entries {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(e), profilePrefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && n != os.Getpid() && gone(n) {
			os.RemoveAll(e)
		}
	}
}

// start starts a browser and sees that it answers.
func (b *Browser) start() (*running, error) {
	profile, err := os.MkdirTemp(b.c.TempDir, profilePrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "no profile for the browser: %v", err)
	}
	p, err := newProxy(b.c.DialContext, b.c.MaxTraffic)
	if err != nil {
		os.RemoveAll(profile)
		return nil, err
	}
	r := &running{proxy: p, profile: profile, ended: make(chan struct{})}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(b.path), chromedp.UserDataDir(profile),
		chromedp.ProxyServer("http://"+p.addr()), chromedp.DisableGPU)
	for name, value := range flags {
		opts = append(opts, chromedp.Flag(name, value))
	}
	if b.c.UserAgent != "" {
		opts = append(opts, chromedp.UserAgent(b.c.UserAgent))
	}
	var cmd *exec.Cmd
	opts = append(opts, chromedp.ModifyCmdFunc(func(c *exec.Cmd) {
		contain(c)
		cmd = c
	}))
	outer, cancelOuter := chromedp.NewExecAllocator(b.ctx, opts...)
	quiet := func(string, ...any) {}
	ctx, cancel := chromedp.NewContext(outer, chromedp.WithErrorf(quiet), chromedp.WithLogf(quiet))
	r.ctx = ctx
	r.cancel = func() {
		cancel()
		cancelOuter()
	}
	// The start may hang with the browser; the context of Open ends it.
	began := make(chan error, 1)
	go func() {
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetDownloadBehavior,
			cdpbrowser.SetDownloadBehaviorParams{Behavior: "deny"})
		began <- err
	}()
	select {
	case err = <-began:
	case <-time.After(b.c.Timeout):
		err = errors.New("it does not answer")
	case <-b.ctx.Done():
		err = b.ctx.Err()
	}
	if cmd != nil && cmd.Process != nil {
		r.pid = cmd.Process.Pid
	}
	if err != nil {
		r.end()
		if e := b.ctx.Err(); e != nil {
			return nil, kb.Errorf(kb.Canceled, "stopped before the browser had started")
		}
		return nil, kb.Errorf(kb.Away, "the browser %q does not start: %s", b.path, oneLine(err)).
			WithHint("see what it says: %s --headless --dump-dom about:blank", b.path)
	}
	go r.watch(b.ctx, b.c.MaxMemory)
	return r, nil
}

// flags are set beside those of chromedp.DefaultExecAllocatorOptions.
var flags = map[string]any{
	"proxy-bypass-list":               "<-loopback>",
	"host-resolver-rules":             "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
	"disable-quic":                    true,
	"force-webrtc-ip-handling-policy": "disable_non_proxied_udp",
	"dns-prefetch-disable":            true,
	"no-pings":                        true,
	"disable-component-update":        true,
	"disable-domain-reliability":      true,
	"disable-crash-reporter":          true,
	"disable-features": "Translate,BlinkGenPropertyTrees,OptimizationHints,MediaRouter,DialMediaRouteProvider," +
		"AutofillServerCommunication,CertificateTransparencyComponentUpdater,InterestFeedContentSuggestions," +
		"WebRtcHideLocalIpsWithMdns",
	"disable-remote-fonts":                true,
	"disable-notifications":               true,
	"disable-speech-api":                  true,
	"disable-sync":                        true,
	"mute-audio":                          true,
	"autoplay-policy":                     "user-gesture-required",
	"blink-settings":                      "imagesEnabled=false",
	"js-flags":                            "--max-old-space-size=512",
	"renderer-process-limit":              "2",
	"deny-permission-prompts":             true,
	"disable-background-mode":             true,
	"disable-software-rasterizer":         true,
	"disable-3d-apis":                     true,
	"disable-back-forward-cache":          true,
	"disk-cache-size":                     "33554432",
	"no-service-autorun":                  true,
	"disable-popup-blocking":              false,
	"block-new-web-contents":              true,
	"disable-search-engine-choice-screen": true,
}

// watch kills the browser when it takes too much memory or ctx ends.
func (r *running) watch(ctx context.Context, limit int64) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.ended:
			return
		case <-ctx.Done():
			r.end()
			return
		case <-tick.C:
			if n := groupMemory(r.pid); n > limit {
				r.over.Store(n)
				kill(r.pid, r.profile)
				return
			}
		}
	}
}

// end kills the browser and removes what it leaves. It may be called twice.
func (r *running) end() { r.once.Do(r.kill) }

func (r *running) kill() {
	close(r.ended)
	kill(r.pid, r.profile)
	done := make(chan struct{})
	go func() { // it may wait a second for a browser that is gone
		r.cancel()
		close(done)
	}()
	r.proxy.close()
	for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(10 * time.Millisecond) {
		kill(r.pid, r.profile) // what was forked meanwhile
		if os.RemoveAll(r.profile) == nil {
			break
		}
	}
	select {
	case <-done:
	case <-time.After(time.Second):
	}
}

// Close ends the browser and all its processes and deletes its profile. A page
// that is being rendered fails.
func (b *Browser) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.run != nil {
		b.run.end()
		b.run = nil
	}
	return nil
}
