// Command travel publishes a large store and pulls it into a second data
// directory, through a folder, plain HTTP and an object store, and compares that with
// the time its indexing took:
//
//	travel [-src DIR] [-gateway PROGRAM] [-out FILE]
//
// The object store is versitygw, which PROGRAM names; without it that part is skipped.
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
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func main() {
	src := flag.String("src", "", "folder that is indexed; empty is Go's own")
	gateway := flag.String("gateway", os.Getenv("KNOWLEDGE_VERSITYGW"), "program versitygw; empty skips the object store")
	out := flag.String("out", "", "file for the report, which is added to; standard output without")
	flag.Parse()
	if err := run(*src, *gateway, *out); err != nil {
		fmt.Fprintln(os.Stderr, "travel:", err)
		os.Exit(1)
	}
}

type trip struct {
	tmp, exe string
	env      []string
	key      string
	report   bytes.Buffer
	made     time.Duration // processor time of indexing, with its jobs
}

// median runs f three times and returns the middle of the times that it returns.
func (t *trip) median(f func(n int) (time.Duration, error)) (time.Duration, error) {
	var all []time.Duration
	for n := range 3 {
		took, err := f(n)
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	slices.Sort(all)
	return all[1], nil
}

func run(src, gateway, out string) error {
	tmp, err := os.MkdirTemp("", "travel-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	t := &trip{tmp: tmp, exe: filepath.Join(tmp, "knowledge")}
	if said, err := exec.Command("go", "build", "-o", t.exe, "./cmd/knowledge").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, said)
	}
	if src == "" {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return err
		}
		src = filepath.Join(strings.TrimSpace(string(root)), "src")
	}
	copied := filepath.Join(tmp, "src") // who edits the folder meanwhile changes nothing
	if err := os.CopyFS(copied, os.DirFS(src)); err != nil {
		return err
	}
	config := filepath.Join(tmp, "config.yaml")
	if err := os.WriteFile(config, []byte("web: {allow: ['127.0.0.1']}\n"), 0o600); err != nil {
		return err
	}
	t.env = append(os.Environ(), "KNOWLEDGE_CONFIG="+config)
	if err := t.all(copied, gateway); err != nil {
		return err
	}
	if out == "" {
		_, err = t.report.WriteTo(os.Stdout)
		return err
	}
	f, err := os.OpenFile(out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = t.report.WriteTo(f)
	return errors.Join(err, f.Close())
}

// whole is do with the processor time of all processes that it begins, to the end of the
// last: how long something takes beside other work says less than what it takes.
func (t *trip) whole(data, dir string, args ...string) (said string, took, work time.Duration, err error) {
	u, err := lab.Run(dir, t.env, t.exe, append([]string{"--data-dir", filepath.Join(t.tmp, data)}, args...)...)
	return u.Out, u.Wall, u.User + u.Sys, err
}

// do runs the program on a data directory and returns what it says and how long it took.
func (t *trip) do(data, dir string, args ...string) (string, time.Duration, error) {
	cmd := exec.Command(t.exe, append([]string{"--data-dir", filepath.Join(t.tmp, data)}, args...)...)
	cmd.Dir, cmd.Env = dir, t.env
	began := time.Now()
	said, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		return string(said), took, fmt.Errorf("knowledge %s: %w: %s", strings.Join(args, " "), err, said)
	}
	return string(said), took, nil
}

func (t *trip) row(what string, took, indexing time.Duration, bound string) {
	fmt.Fprintf(&t.report, "| %s | %.2f s | %.1f %% | %s |\n", what, took.Seconds(), 100*float64(took)/float64(indexing), bound)
}

func (t *trip) all(src, gateway string) error {
	indexing, err := t.median(func(n int) (time.Duration, error) {
		_, took, work, err := t.whole(fmt.Sprint("index", n), src, "store:create", "large", src)
		if err != nil {
			return 0, err
		}
		t.made = work
		_, _, err = t.do(fmt.Sprint("index", n), src, "jobs", "--follow") // what goes on after it is nobody's time
		return took, err
	})
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(t.tmp, "index0"), filepath.Join(t.tmp, "first")); err != nil {
		return err
	}
	info, _, err := t.do("first", src, "store:info", "large", "--json")
	if err != nil {
		return err
	}
	var facts struct{ Documents, Chunks, Segments, IndexBytes int }
	if err := json.Unmarshal([]byte(info), &facts); err != nil {
		return err
	}
	fmt.Fprintf(&t.report, "\n## %s\n\n%d cores, %s; %d documents, %d chunks, %d segments, %.0f MB of index. Indexing and pulls are the middle of three; load averages %s.\n\n| what | time | of indexing | bound |\n| --- | --- | --- | --- |\n",
		time.Now().Format("15:04"), runtime.NumCPU(), runtime.Version(), facts.Documents, facts.Chunks, facts.Segments, float64(facts.IndexBytes)/1e6, lab.Load())
	t.row("indexed", indexing, indexing, "")
	if _, _, err := t.do("first", src, "publish:key", filepath.Join(t.tmp, "key")); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(t.tmp, "key.pub"))
	if err != nil {
		return err
	}
	t.key = strings.Split(strings.TrimSpace(string(text)), "\n")[1]
	site := filepath.Join(t.tmp, "site")
	if err := t.through("a folder", src, "1", site, site, indexing); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: http.FileServer(http.Dir(site)), ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	if err := t.through("plain HTTP", src, "2", "", "http://"+l.Addr().String(), indexing); err != nil {
		return err
	}
	if err := t.edited(src, site, indexing); err != nil {
		return err
	}
	if gateway == "" {
		fmt.Fprintln(&t.report, "\nThe object store was skipped: no versitygw.")
		return nil
	}
	return t.bucket(gateway, src, indexing)
}

// through publishes, unless it is there, and pulls into a data directory of its own.
func (t *trip) through(what, src, data, to, from string, indexing time.Duration) error {
	if to != "" {
		_, took, err := t.do("first", src, "store:publish", "large", to, "--key", filepath.Join(t.tmp, "key"))
		if err != nil {
			return err
		}
		t.row("published to "+what, took, indexing, "")
	}
	var said string
	var work time.Duration
	took, err := t.median(func(n int) (took time.Duration, err error) {
		said, took, work, err = t.whole(fmt.Sprint("second", data, n), t.tmp, "store:create", "large", "--from", from, "--key", t.key)
		if err == nil {
			_, _, err = t.do(fmt.Sprint("second", data, n), t.tmp, "jobs", "--follow")
		}
		return took, err
	})
	if err != nil {
		return err
	}
	t.row("pulled from "+what+", ready", took, indexing, "10 %")
	t.row(fmt.Sprintf("… processor time, with its jobs, of that of indexing with its (%.1f s)", t.made.Seconds()), work, t.made, "")
	want, _, err := t.do("first", t.tmp, "search", "-s", "large", "parse a duration", "--json")
	if err != nil {
		return err
	}
	got, took, err := t.do("second"+data+"0", t.tmp, "search", "-s", "large", "parse a duration", "--json")
	if err != nil {
		return err
	}
	t.row("first search there", took, indexing, "")
	if ids(want) != ids(got) || ids(got) == "" {
		return fmt.Errorf("%s answers otherwise: %s\n%s\n%s", what, said, want, got)
	}
	return nil
}

// ids are those of the hits of a reply, with their scores.
func ids(reply string) string {
	var r struct {
		Hits []struct {
			ID    string
			Score float64
		}
	}
	if json.Unmarshal([]byte(reply), &r) != nil || len(r.Hits) == 0 {
		return ""
	}
	return fmt.Sprint(r.Hits)
}

// edited measures a clone that differs in three files, and the publication after an edit.
func (t *trip) edited(src, site string, indexing time.Duration) error {
	clone := filepath.Join(t.tmp, "clone")
	if err := os.CopyFS(clone, os.DirFS(src)); err != nil {
		return err
	}
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(clone, fmt.Sprintf("zz%d.go", i)), []byte(fmt.Sprintf("package zz\n\nfunc New%d() {}\n", i)), 0o600); err != nil {
			return err
		}
	}
	said, took, err := t.do("clone", clone, "store:create", ".", "--from", site, "--key", t.key)
	if err != nil {
		return err
	}
	t.row("a clone with three more files, pulled and brought up to date ("+noteOf(said)+")", took, indexing, "")
	if err := os.WriteFile(filepath.Join(src, "zz.go"), []byte("package zz\n\nfunc New() {}\n"), 0o600); err != nil {
		return err
	}
	if _, _, err := t.do("first", src, "store:index", "large"); err != nil {
		return err
	}
	said, took, err = t.do("first", src, "store:publish", "large", site, "--key", filepath.Join(t.tmp, "key"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(said, "\n")
	t.row("published again after one edit ("+first[strings.LastIndex(first, ": ")+2:]+")", took, indexing, "")
	return nil
}

// noteOf is the note of a reply.
func noteOf(s string) string {
	_, note, _ := strings.Cut(s, "note: ")
	note, _, _ = strings.Cut(note, "\n")
	return note
}

// bucket does the same with an object store, and has publishers race there.
func (t *trip) bucket(gateway, src string, indexing time.Duration) error {
	root := filepath.Join(t.tmp, "objects")
	if err := os.MkdirAll(filepath.Join(root, "indexes"), 0o755); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	l.Close()
	cmd := exec.Command(gateway, "--port", addr, "--access", "id", "--secret", "secretsecret", "posix", "--sidecar", filepath.Join(t.tmp, "sidecar"), root)
	if err := os.MkdirAll(filepath.Join(t.tmp, "sidecar"), 0o755); err != nil {
		return err
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	t.env = append(t.env, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secretsecret", "AWS_ENDPOINT_URL=http://"+addr, "AWS_REGION=us-east-1")
	for range 100 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err := t.through("versitygw", src, "3", "s3://indexes/large", "s3://indexes/large", indexing); err != nil {
		return fmt.Errorf("%w\n%s", err, log.String())
	}
	return t.race()
}

// race has two data directories publish one store at once, ten times.
func (t *trip) race() error {
	small := filepath.Join(t.tmp, "small")
	if err := os.MkdirAll(small, 0o755); err != nil {
		return err
	}
	won, told := 0, 0
	for round := range 10 {
		var wg sync.WaitGroup
		errs := make([]error, 2)
		if err := os.WriteFile(filepath.Join(small, "a.md"), []byte(fmt.Sprintf("# Round %d\n\ntext\n", round)), 0o600); err != nil {
			return err
		}
		for i := range errs {
			data := fmt.Sprintf("race%d", i)
			verb := []string{"store:index", "small"}
			if round == 0 {
				verb = []string{"store:create", "small", small}
			}
			if _, _, err := t.do(data, small, verb...); err != nil {
				return err
			}
		}
		for i := range errs {
			wg.Go(func() {
				_, _, errs[i] = t.do(fmt.Sprintf("race%d", i), small, "store:publish", "small", "s3://indexes/small", "--key", filepath.Join(t.tmp, "key"))
			})
		}
		wg.Wait()
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case strings.Contains(err.Error(), "another publication came first"), strings.Contains(err.Error(), "indexed later"):
				told++
			default:
				return err
			}
		}
	}
	said, _, err := t.do("race2", small, "store:create", "small", "--from", "s3://indexes/small", "--key", t.key)
	if err != nil {
		return err
	}
	fmt.Fprintf(&t.report, "\nTwo publishers at once at versitygw, ten times: %d were published or found it published, %d were told that another came first; the target has %s.\n",
		won, told, noteOf(said))
	return nil
}
