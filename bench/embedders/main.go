// Command embedders measures search with the built-in embedder beside another, on judged
// queries, as `knowledge eval` asks them:
//
//	embedders [-tasks FILE] [-repos DIR] [-config FILE] [-delay TIME] [-out FILE]
//
// Without a network the other is the built-in model behind an API of OpenAI's form, which
// shows what asking a provider costs: the time of its requests, and the signals that only an embedder
// in the program has. -config names a configuration file with a provider of yours, which is measured as well.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
)

func main() {
	tasks := flag.String("tasks", "internal/search/eval/testdata/goroot.json", "judged queries")
	repos := flag.String("repos", "", "folder with their repositories; empty takes those of Go's own sources")
	config := flag.String("config", "", "configuration file with a provider of yours")
	delay := flag.Duration("delay", 20*time.Millisecond, "how long each request takes")
	out := flag.String("out", "", "file for the report, which is added to; standard output without")
	flag.Parse()
	if err := run(*tasks, *repos, *config, *delay, *out); err != nil {
		fmt.Fprintln(os.Stderr, "embedders:", err)
		os.Exit(1)
	}
}

// service is the built-in model behind OpenAI's form.
type service struct {
	delay           time.Duration
	requests, texts atomic.Int64
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	s.requests.Add(1)
	s.texts.Add(int64(len(q.Input)))
	time.Sleep(s.delay)
	vectors, err := embed.Default().Embed(r.Context(), q.Input)
	if err != nil {
		http.Error(w, "{}", http.StatusInternalServerError)
		return
	}
	type row struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	rows := make([]row, len(vectors))
	for i, v := range vectors {
		rows[i] = row{i, v}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": rows})
}

type figures struct {
	NDCG  float64 `json:"ndcg10"`
	MRR   float64 `json:"mrr"`
	P50   float64 `json:"query_p50_ms"`
	P95   float64 `json:"query_p95_ms"`
	Index float64 `json:"index_ms"`
	Tasks int     `json:"tasks"`
}

func run(tasks, repos, config string, delay time.Duration, out string) error {
	tmp, err := os.MkdirTemp("", "embedders-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	exe := filepath.Join(tmp, "knowledge")
	if said, err := exec.Command("go", "build", "-o", exe, "./cmd/knowledge").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, said)
	}
	if repos == "" {
		if repos, err = goRepos(tmp, tasks); err != nil {
			return err
		}
	}
	s := &service{delay: delay}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	none, behind := filepath.Join(tmp, "none.yaml"), filepath.Join(tmp, "behind.yaml")
	err = errors.Join(os.WriteFile(none, nil, 0o600), os.WriteFile(behind, []byte(fmt.Sprintf(
		"embedder: {provider: openai, endpoint: 'http://%s', model: built-in, dimensions: %d}\n", l.Addr(), embed.Default().Dims())), 0o600))
	if err != nil {
		return err
	}
	var report bytes.Buffer
	fmt.Fprintf(&report, "\n## %s\n\n", time.Now().UTC().Format("15:04"))
	rows := [][2]string{{"built in", none}, {"the same model behind an API", behind}}
	if config != "" {
		rows = append(rows, [2]string{"the provider of " + filepath.Base(config), config})
	}
	for i, row := range rows {
		cmd := exec.Command(exe, "--data-dir", filepath.Join(tmp, fmt.Sprint("data", i)), "eval", "--tasks", tasks, "--repos", repos, "--json")
		cmd.Env = append(os.Environ(), "KNOWLEDGE_CONFIG="+row[1])
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return err
		}
		var f figures
		if err := json.Unmarshal(text, &f); err != nil {
			return err
		}
		if i == 0 {
			fmt.Fprintf(&report, "%d judged queries (%s), requests of %v.\n\n| embedder | NDCG@10 | MRR | query p50, p95 | index, median | requests | texts |\n| --- | --- | --- | --- | --- | --- | --- |\n",
				f.Tasks, filepath.Base(tasks), delay)
		}
		fmt.Fprintf(&report, "| %s | %.4f | %.4f | %.1f, %.1f ms | %.0f ms | %d | %d |\n", row[0], f.NDCG, f.MRR, f.P50, f.P95, f.Index, s.requests.Swap(0), s.texts.Swap(0))
	}
	if out == "" {
		_, err = report.WriteTo(os.Stdout)
		return err
	}
	f, err := os.OpenFile(out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = report.WriteTo(f)
	return errors.Join(err, f.Close())
}

// goRepos copies the parts of Go's own sources that the tasks are about.
func goRepos(tmp, tasks string) (string, error) {
	text, err := os.ReadFile(tasks)
	if err != nil {
		return "", err
	}
	var t struct{ Repos []struct{ Name, Root string } }
	if err := json.Unmarshal(text, &t); err != nil {
		return "", err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(tmp, "repos")
	for _, r := range t.Repos {
		if err := os.CopyFS(filepath.Join(dir, r.Name, r.Root), os.DirFS(filepath.Join(strings.TrimSpace(string(root)), "src", r.Root))); err != nil {
			return "", err
		}
	}
	return dir, nil
}
