// Answerload measures answers over HTTP: how long a first answer takes, how
// soon a streamed one begins, and whether many sessions at once are all
// answered, each with its own follow-ups.
//
//	.ci/extra load [-span 60s] [-clients 100] [-data DIR] [-out FILE]
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/face/httpapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

func main() {
	span := flag.Duration("span", time.Minute, "how long the sessions ask")
	clients := flag.Int("clients", 100, "how many sessions ask at once")
	data := flag.String("data", "", "data directory that is kept (default: a temporary one)")
	repo := flag.String("repo", ".", "checkout of this repository")
	out := flag.String("out", "", "write the report to this file, too")
	flag.Parse()
	report, err := run(*repo, *data, *span, *clients)
	fmt.Print(report)
	if err == nil && *out != "" {
		err = os.WriteFile(*out, []byte(report), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "answerload:", err)
		os.Exit(1)
	}
}

func run(repo, data string, span time.Duration, clients int) (string, error) {
	ctx := context.Background()
	root, err := filepath.Abs(repo)
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp("", "answerload")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if data == "" {
		data = filepath.Join(tmp, "data")
	}
	a, err := product.New(app.Config{Version: "bench", DataDir: data, Dir: tmp, Env: func(k string) string {
		if k == "HOME" {
			return tmp
		}
		return ""
	}})
	if err != nil {
		return "", err
	}
	defer a.Close()
	if err := index(ctx, a, root); err != nil {
		return "", err
	}
	questions, err := questions(filepath.Join(root, "bench", "answers", "answerable.json"))
	if err != nil {
		return "", err
	}
	srv := httptest.NewUnstartedServer(nil)
	srv.Config.Handler = httpapi.Handler(a, httpapi.Options{Addr: srv.Listener.Addr().String()})
	srv.Start()
	defer srv.Close()
	c := &client{url: srv.URL + "/api/v1/mcp/tools/call", http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}

	if _, err := c.ask("warm", "what is a store?", "u"); err != nil {
		return "", err
	}
	var first, begun, again []float64
	for i, q := range questions {
		began := time.Now()
		if i%2 == 0 {
			if _, err := c.ask(fmt.Sprint("t", i), q, "u"); err != nil {
				return "", err
			}
			first = append(first, ms(began))
			began = time.Now()
			if _, err := c.ask(fmt.Sprint("t", i), q, "other"); err != nil {
				return "", err
			}
			again = append(again, ms(began))
			continue
		}
		at, err := c.stream(q)
		if err != nil {
			return "", err
		}
		begun = append(begun, at)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Answers over HTTP\n\n%s/%s, %d processors, %s; stores of bench/answers/stores.json, load average before %s.\n\n", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version(), load())
	fmt.Fprintf(&b, "| what | p50 ms | p95 ms | n |\n|---|---|---|---|\n")
	for _, r := range []struct {
		name string
		v    []float64
	}{{"first answer, whole", first}, {"first byte of a streamed answer", begun}, {"the same question again", again}} {
		slices.Sort(r.v)
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %d |\n", r.name, at(r.v, 0.5), at(r.v, 0.95), len(r.v))
	}
	asked, failed, mixed, times := c.crowd(questions, span, clients)
	slices.Sort(times)
	fmt.Fprintf(&b, "\n%d sessions at once for %v: %d answers, %d errors, %d follow-ups that knew of another session; p50 %.0f ms, p95 %.0f ms.\n",
		clients, span, asked, failed, mixed, at(times, 0.5), at(times, 0.95))
	if failed > 0 || mixed > 0 {
		return b.String(), fmt.Errorf("%d errors, %d mixed", failed, mixed)
	}
	return b.String(), nil
}

// index makes the stores that bench/answers asks, and makes them public.
func index(ctx context.Context, a *app.App, root string) error {
	raw, err := os.ReadFile(filepath.Join(root, "bench", "answers", "stores.json"))
	if err != nil {
		return err
	}
	var want map[string]struct {
		Commit string
		Paths  []string
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	for name, w := range want {
		req := app.CreateStore{Name: name, Paths: w.Paths, User: true, Yes: true, Kind: kb.KindFolder, Source: strings.TrimSpace(string(goroot))}
		if w.Commit != "" {
			full, err := exec.Command("git", "-C", root, "rev-parse", w.Commit).Output()
			if err != nil {
				return err
			}
			req.Kind, req.Source, req.Commit = kb.KindRepo, root, strings.TrimSpace(string(full))
		}
		if info, err := a.StoreInfo(ctx, name); err != nil || info.Status != "ready" {
			st, err := a.CreateStore(ctx, req)
			if err != nil {
				return err
			}
			if _, err := a.WaitJob(ctx, st.Job); err != nil {
				return err
			}
		}
		if _, err := answers.SetPublic(ctx, a, name, true); err != nil {
			return err
		}
	}
	return nil
}

func questions(file string) ([]string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []struct{ Q string }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	var out []string
	for _, x := range list {
		out = append(out, x.Q)
	}
	return out, nil
}

type client struct {
	url  string
	http *http.Client
}

type reply struct {
	Success  bool   `json:"success"`
	Error    string `json:"error"`
	Result   string `json:"result"`
	Question string `json:"question"`
}

func (c *client) ask(session, question, agent string) (r reply, err error) {
	body, err := json.Marshal(map[string]any{"tool_name": "generate_rag_answer", "arguments": map[string]any{"query": question}, "session_id": session})
	if err != nil {
		return r, err
	}
	req, err := http.NewRequest(http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	req.Header.Set("User-Agent", agent)
	resp, err := c.http.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err == nil && (resp.StatusCode != http.StatusOK || !r.Success) {
		err = fmt.Errorf("%d %s", resp.StatusCode, raw)
	}
	return r, err
}

// stream returns after how many milliseconds the first byte of an answer came.
func (c *client) stream(question string) (float64, error) {
	body, err := json.Marshal(map[string]any{"tool_name": "generate_rag_answer", "arguments": map[string]any{"query": question, "stream": true}})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	resp, err := c.http.Post(c.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	if _, err := in.ReadByte(); err != nil {
		return 0, err
	}
	at := ms(began)
	rest, err := io.ReadAll(in)
	if err == nil && !bytes.Contains(rest, []byte("event: done")) {
		err = fmt.Errorf("the stream ends with %s", rest[max(0, len(rest)-200):])
	}
	return at, err
}

// crowd has many sessions of one id ask at once: a question about something
// of their own, and one that leans on it.
func (c *client) crowd(questions []string, span time.Duration, clients int) (asked, failed, mixed int64, times []float64) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	end := time.Now().Add(span)
	subjects := []string{"maxFileBytes", "sync.Pool", "json.Marshal", "filepath.WalkDir", "http.Client", "GODEBUG", "slices.Sort", "errors.Join", "strings.Builder", "vectors.engine"}
	for i := range clients {
		wg.Go(func() {
			agent := fmt.Sprint("client-", i)
			subject := subjects[i%len(subjects)]
			for n := 0; time.Now().Before(end); n++ {
				for j, q := range []string{questions[(i+n)%len(questions)], "what is " + subject + "?", "and what is it good for?"} {
					began := time.Now()
					r, err := c.ask("web", q, agent)
					took := ms(began)
					mu.Lock()
					times = append(times, took)
					mu.Unlock()
					atomic.AddInt64(&asked, 1)
					if err != nil {
						if atomic.AddInt64(&failed, 1) < 5 {
							fmt.Fprintln(os.Stderr, err)
						}
						continue
					}
					if j != 2 {
						continue
					}
					for _, s := range subjects {
						if last := s[strings.LastIndexByte(s, '.')+1:]; s != subject && strings.Contains(r.Question, last) {
							atomic.AddInt64(&mixed, 1)
						}
					}
				}
			}
		})
	}
	wg.Wait()
	return asked, failed, mixed, times
}

func ms(began time.Time) float64 { return time.Since(began).Seconds() * 1000 }

func at(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return v[min(len(v)-1, int(q*float64(len(v))))]
}

func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(raw))[:1], "")
}
