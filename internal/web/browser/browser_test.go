package browser

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("BROWSER_TEST_PARENT"); dir != "" {
		parent(dir)
		return
	}
	os.Exit(m.Run())
}

// parent opens a browser, says which process it is, and waits to be killed.
func parent(dir string) {
	b, err := Open(context.Background(), Config{DialContext: (&net.Dialer{}).DialContext, TempDir: dir})
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println(b.run.pid, b.run.profile)
	select {}
}

// needBrowser skips a test where no browser is installed.
func needBrowser(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	if _, err := Find(""); err != nil {
		t.Skipf("%v; CI installs Debian's chromium", err)
	}
}

// open opens a browser that may dial everything, or what allow says.
func open(t *testing.T, c Config) *Browser {
	t.Helper()
	needBrowser(t)
	if c.DialContext == nil {
		c.DialContext = (&net.Dialer{}).DialContext
	}
	c.TempDir = t.TempDir()
	b, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func serve(t *testing.T, pages map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if to, ok := strings.CutPrefix(body, "-> "); ok {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if strings.HasSuffix(r.URL.Path, ".json") {
			w.Header().Set("Content-Type", "application/json")
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestRender reads pages that have no text without their scripts.
func TestRender(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{
		"/app":       `<html><body><div id="root"></div><script>setTimeout(() => fetch("/data.json").then(r => r.json()).then(d => { document.getElementById("root").innerHTML = "<h1>" + d.title + "</h1><p id=x>made by script</p>" }), 200)</script></body></html>`,
		"/data.json": `{"title": "Später"}`,
		"/moved":     "-> /app",
		"/asks":      `<body><script>alert("stop"); if (!confirm("go on?")) document.body.append("went on"); window.open("/app");</script></body>`,
	})
	b := open(t, Config{})
	for path, want := range map[string]string{"/app": "<h1>Später</h1><p id=\"x\">made by script</p>", "/moved": "made by script", "/asks": "went on"} {
		html, final, err := b.Render(t.Context(), s.URL+path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !strings.Contains(html, want) {
			t.Errorf("%s: no %q in %s", path, want, html)
		}
		if path == "/moved" && final != s.URL+"/app" {
			t.Errorf("%s ended at %s", path, final)
		}
	}
	if _, _, err := b.Render(t.Context(), "file:///etc/passwd"); kb.CodeOf(err) != kb.Invalid {
		t.Errorf("a file: %v", err)
	}
	if _, _, err := b.Render(t.Context(), "http://nowhere.invalid/"); kb.CodeOf(err) != kb.Away {
		t.Errorf("a host that is not: %v", err)
	}
}

// TestCage has a page try, in every way it has, to reach a server that the
// dialler refuses.
func TestCage(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	secret := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, "SECRET")
	}))
	defer secret.Close()
	port := secret.URL[strings.LastIndex(secret.URL, ":")+1:]
	script := `<body><script>
const out = [], tries = [];
for (const host of ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "127.0.0.1.nip.io", "app.localhost"])
	for (const scheme of ["http", "https"])
		tries.push(fetch(scheme + "://" + host + ":PORT/", {mode: "no-cors"}).then(() => out.push(scheme + host)).catch(() => {}));
tries.push(fetch("http://169.254.169.254/latest/meta-data/", {mode: "no-cors"}).then(() => out.push("metadata")).catch(() => {}));
tries.push(new Promise(r => { const w = new WebSocket("ws://127.0.0.1:PORT/"); w.onopen = () => { out.push("ws"); r() }; w.onerror = r }));
for (const tag of ["img", "iframe", "script", "video", "embed"]) { const e = document.createElement(tag); e.src = "http://127.0.0.1:PORT/" + tag; document.body.append(e) }
const l = document.createElement("link"); l.rel = "stylesheet"; l.href = "http://127.0.0.1:PORT/css"; document.head.append(l);
navigator.sendBeacon("http://127.0.0.1:PORT/beacon", "x");
try { new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:PORT"}]}).createDataChannel("x") } catch (e) {}
Promise.allSettled(tries).then(() => document.body.append("reached:" + out.join(",") + ";"));
</script></body>`
	s := serve(t, map[string]string{"/": strings.ReplaceAll(script, "PORT", port), "/away": "-> " + secret.URL})
	allowed := strings.TrimPrefix(s.URL, "http://")
	var mu sync.Mutex
	refused := map[string]bool{}
	b := open(t, Config{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr != allowed {
			mu.Lock()
			refused[addr] = true
			mu.Unlock()
			return nil, kb.Errorf(kb.Denied, "%s is on this machine", addr)
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}})
	html, _, err := b.Render(t.Context(), s.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(html, "reached:;") {
		t.Errorf("the page reached something: %s", html)
	}
	if _, _, err := b.Render(t.Context(), s.URL+"/away"); kb.CodeOf(err) != kb.Away || !strings.Contains(err.Error(), "is on this machine") {
		t.Errorf("a redirect: %v", err)
	}
	if n := hits.Load(); n > 0 {
		t.Errorf("the server was reached %d times", n)
	}
	if len(refused) < 5 {
		t.Errorf("only %v were refused by the dialler: the page did not go through it", refused)
	}
}

// TestBounds has pages break every bound, and a good one rendered after each.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{
		"/good":    `<body><script>document.body.append("fine")</script></body>`,
		"/loop":    `<body><script>for (;;) {}</script></body>`,
		"/memory":  `<body><script>const keep = []; const more = () => { const a = new Uint8Array(96 << 20); for (let i = 0; i < a.length; i += 4096) a[i] = 1; keep.push(a); document.body.append("m") }; more(); more(); setInterval(more, 100)</script></body>`,
		"/big":     `<body><script>const s = document.createElement("script"); s.type = "text/plain"; s.textContent = "x".repeat(3 << 20); document.body.append(s)</script></body>`,
		"/traffic": `<body><script>(async () => { for (;;) await fetch("/chunk?" + Math.random()).then(r => r.text()) })()</script></body>`,
		"/chunk":   strings.Repeat("y", 1<<20),
		"/moving":  `<body>text<script>setInterval(() => document.body.append("z"), 50)</script></body>`,
	})
	// Only a page that takes all of its time has little of it, and no start of a
	// browser: a busy machine is slow.
	hasty := open(t, Config{}).again(3 * time.Second)
	patient := open(t, Config{Timeout: time.Minute, MaxBytes: 2 << 20, MaxMemory: 500 << 20, MaxTraffic: 8 << 20})
	var good time.Duration // that an ordinary page takes
	for path, want := range map[string]kb.Code{"/loop": kb.Away, "/memory": kb.TooLarge, "/big": kb.TooLarge, "/traffic": kb.TooLarge} {
		b := patient
		if path == "/loop" {
			b = hasty
		}
		if runtime.GOOS != "linux" && path == "/memory" { // not measured
			continue
		}
		if _, _, err := b.Render(t.Context(), s.URL+path); (err == nil) != (want == "") || err != nil && kb.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		began := time.Now()
		html, _, err := patient.Render(t.Context(), s.URL+"/good")
		good = time.Since(began)
		if err != nil || !strings.Contains(html, "fine") {
			t.Errorf("after %s: %v, %s", path, err, html)
		}
	}
	// A page that never rests is taken as it is when time runs out.
	if _, _, err := patient.again(5*time.Second+4*good).Render(t.Context(), s.URL+"/moving"); err != nil {
		t.Errorf("/moving: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, _, err := patient.Render(ctx, s.URL+"/loop"); kb.CodeOf(err) != kb.Canceled {
		t.Errorf("stopped: %v", err)
	}
}

// again is the browser with another bound of time.
func (b *Browser) again(timeout time.Duration) *Browser {
	b.c.Timeout = timeout
	return b
}

// TestGone: soon after Close, the end of the context and the death of the
// process that opened it, no process of a browser is left: within two seconds,
// and twice the time that the start took, since machines differ and are busy.
func TestGone(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	s := serve(t, map[string]string{"/loop": `<body><script>for (;;) {}</script></body>`})
	for _, way := range []string{"close", "context", "busy"} {
		t.Run(way, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began := time.Now()
			b, err := Open(ctx, Config{DialContext: (&net.Dialer{}).DialContext, TempDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			soon := 2*time.Second + 2*time.Since(began)
			defer b.Close()
			pid, profile := b.run.pid, b.run.profile
			if count(pid, profile) == 0 {
				t.Fatal("no process of the browser is seen")
			}
			switch way {
			case "close":
				b.Close()
			case "context":
				cancel()
			case "busy":
				go b.Render(ctx, s.URL+"/loop")
				time.Sleep(time.Second)
				cancel()
			}
			vanish(t, pid, profile, soon)
		})
	}
	t.Run("killed", func(t *testing.T) {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "BROWSER_TEST_PARENT="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		var pid int
		var profile string
		if _, err := fmt.Sscan(line, &pid, &profile); err != nil {
			_ = cmd.Process.Kill()
			t.Fatalf("%q", line)
		}
		if count(pid, profile) == 0 {
			t.Fatal("no process of the browser is seen")
		}
		soon := 2*time.Second + 2*time.Since(began)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		began = time.Now()
		for count(pid, profile) > 0 {
			if time.Since(began) > soon {
				t.Fatalf("%d processes are left after %v", count(pid, profile), time.Since(began))
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Logf("gone %v after the kill", time.Since(began).Round(time.Millisecond))
		if _, err := os.Stat(profile); err != nil {
			t.Fatal("the profile is gone, although its process was killed")
		}
		sweep(dir)
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("left in the temporary directory: %v", left)
		}
	})
}

// vanish waits for the end of a browser and of its profile.
func vanish(t *testing.T, pid int, profile string, soon time.Duration) {
	t.Helper()
	began := time.Now()
	for {
		_, err := os.Stat(profile)
		n := count(pid, profile)
		if n == 0 && os.IsNotExist(err) {
			t.Logf("gone after %v", time.Since(began).Round(time.Millisecond))
			return
		}
		if time.Since(began) > soon {
			t.Fatalf("after %v %d processes are left, profile: %v", soon, n, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestFind(t *testing.T) {
	if _, err := Find("/nowhere/chrome"); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("%v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Open(t.Context(), Config{}); kb.CodeOf(err) != kb.Internal {
		t.Errorf("without a dialler: %v", err)
	}
}
