// Command apis measures what calling a declared API over POST /mcp/tools/call
// costs beyond asking the service directly: a service on loopback that takes
// a fixed time, N clients at once, each asking again as soon as it was
// answered, directly and through a server of ours in turns. It fails on any
// error and when the 99th percentile grows by more than 5 ms.
//
//	apis [-clients 200] [-span 30s] [-delay 250ms] [-out DIR]
//	apis -find FILE [-tasks FILE] [-queries FILE] [-out DIR]
//
// With -find it imports a document and asks for the operations of judged tasks.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/face/httpapi"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// most is the bound of the added 99th percentile.
const most = 5 * time.Millisecond

func main() {
	clients := flag.Int("clients", 200, "how many ask at once")
	span := flag.Duration("span", 30*time.Second, "how long calls through us are measured")
	delay := flag.Duration("delay", 250*time.Millisecond, "how long the service takes")
	out := flag.String("out", "bench/runs", "folder of the report")
	document := flag.String("find", "", "an OpenAPI document: ask for the operations of judged tasks instead")
	tasks := flag.String("tasks", "bench/apis/testdata/tasks.jsonl", "the judged tasks")
	queries := flag.String("queries", "bench/apis/testdata/queries.jsonl", "what a model asks for each")
	flag.Parse()
	if *document != "" {
		if err := find(*document, *tasks, *queries, *out); err != nil {
			fmt.Fprintln(os.Stderr, "apis:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*clients, *span, *delay, *out); err != nil {
		fmt.Fprintln(os.Stderr, "apis:", err)
		os.Exit(1)
	}
}

func run(clients int, span, delay time.Duration, out string) error {
	dir, err := lab.Scratch("apis")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	reply := []byte(`{"temp":22.5,"days":[` + strings.Repeat(`{"high":30,"low":12,"sky":"clear"},`, 20) + `{}]}`)
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	service := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		w.Header().Set("Content-Type", "application/json")
		w.Write(reply)
	})}
	go service.Serve(upstream)
	defer service.Close()
	host := upstream.Addr().String()

	config := filepath.Join(dir, "config.yaml")
	definition := "apis:\n  - code: weather\n    baseUrl: http://" + host + "\n    authenticationType: API_KEY\n    apiKeyName: X-Key\n    apiKeyValue: ${WEATHER_KEY}\n    allowHosts: [\"" + host +
		"\"]\n    tools:\n      - {code: forecast, endpointPath: '/forecast/{city}', parameters: [{name: city}, {name: days, type: NUMBER}]}\n"
	if err := errors.Join(os.WriteFile(config, []byte("# none\n"), 0o600), os.WriteFile(filepath.Join(dir, "apis.yaml"), []byte(definition), 0o600)); err != nil {
		return err
	}
	a, err := product.New(app.Config{Version: "bench", DataDir: filepath.Join(dir, "data"), Dir: dir, Env: func(n string) string {
		return map[string]string{"KNOWLEDGE_CONFIG": config, "WEATHER_KEY": "a-key-of-the-bench"}[n]
	}})
	if err != nil {
		return err
	}
	defer a.Close()
	ln, err := httpguard.Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		return err
	}
	ours := httpguard.Server(httpapi.Handler(a, httpapi.Options{Addr: ln.Addr().String(), Token: "bench", Log: os.Stderr}))
	go ours.Serve(ln)
	defer ours.Close()

	client := &http.Client{Transport: &http.Transport{MaxIdleConns: clients * 2, MaxIdleConnsPerHost: clients * 2}}
	direct := func() error {
		req, err := http.NewRequest(http.MethodGet, "http://"+host+"/forecast/Ushuaia?days=3", nil)
		if err != nil {
			return err
		}
		req.Header.Set("X-Key", "a-key-of-the-bench")
		return ask(client, req, `"temp":22.5`)
	}
	body := []byte(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"forecast","arguments":{"city":"Ushuaia","days":"3"}},"id":1}`)
	through := func() error {
		req, err := http.NewRequest(http.MethodPost, "http://"+ln.Addr().String()+"/mcp/tools/call", bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer bench")
		req.Header.Set("Content-Type", "application/json")
		return ask(client, req, `\"temp\":22.5`)
	}
	before := lab.Load()
	quiet := lab.WaitQuiet(20 * time.Second)
	measure(clients, time.Second, direct)
	measure(clients, time.Second, through)
	// In turns, so that whatever else the machine does meets both.
	const turns = 6
	var one, two []time.Duration
	for range turns {
		xs, err := measure(clients, span/turns, direct)
		if err != nil {
			return fmt.Errorf("direct: %w", err)
		}
		one = append(one, xs...)
		if xs, err = measure(clients, span/turns, through); err != nil {
			return fmt.Errorf("through us: %w", err)
		}
		two = append(two, xs...)
	}
	added := lab.Quantile(two, 0.99) - lab.Quantile(one, 0.99)
	var r lab.Report
	r.Printf("# Calls of declared APIs\n\n%s, %s; load before %s, quiet %v.\n\n    .ci/extra apis\n\n", time.Now().Format(time.DateOnly), lab.Machine(), before, quiet)
	r.Printf("%d clients at once on loopback, a service that takes %s, client and both servers in one process, six turns of each way.\n\n", clients, delay)
	row := func(name string, xs []time.Duration, span time.Duration) []string {
		return []string{name, fmt.Sprint(len(xs)), fmt.Sprintf("%.0f/s", float64(len(xs))/span.Seconds()), lab.Ms(lab.Quantile(xs, 0.5)), lab.Ms(lab.Quantile(xs, 0.99)), lab.Ms(slices.Max(xs))}
	}
	r.Table([]string{"way", "calls", "rate", "median", "p99", "worst"}, row("direct", one, span), row("POST /mcp/tools/call", two, span))
	r.Printf("No error. The 99th percentile grows by %s (bound 5 ms).\n", lab.Ms(added))
	fmt.Print(r.String())
	p, err := r.Write(out, "apis")
	if err != nil {
		return err
	}
	fmt.Println("written to", p)
	if added > most {
		return fmt.Errorf("the 99th percentile grows by %s, more than %s", added, most)
	}
	return nil
}

func ask(c *http.Client, req *http.Request, want string) error {
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !bytes.Contains(b, []byte(want)) {
		return fmt.Errorf("status %d: %s", resp.StatusCode, b)
	}
	return nil
}

// measure has clients call f over and over for a while and returns how long each took.
func measure(clients int, span time.Duration, f func() error) ([]time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	until := time.Now().Add(span)
	for i := range clients {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * time.Millisecond) // not all in the same instant
			var mine []time.Duration
			for time.Now().Before(until) {
				start := time.Now()
				if err := f(); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				mine = append(mine, time.Since(start))
			}
			mu.Lock()
			all = append(all, mine...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return all, failed
}
