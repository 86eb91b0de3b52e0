// Command publicrepo does the main job on a real public repository: an agent
// makes a store of it, waits, searches and reads, and every line it is shown
// is compared with the blob at the indexed commit. Run it with
// ".ci/extra public-repo SOURCE [NAME]"; SOURCE is an https or ssh URL, or the
// path of a repository on this machine.
//
// A path is taken four ways: as it is, over HTTP on loopback from git's own
// http-backend (so that cloning is exercised without a network), the same
// with go-git refused, so that the installed git clones, and as a folder
// with the files of its HEAD. The checks are the acceptance tests of
// cmd/knowledge.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "publicrepo:", err)
		os.Exit(1)
	}
}

var errFailed = errors.New("a check failed, see the report")

// way is one way in which the product gets at the text.
type way struct {
	title, test, variable, value string
	seen                         func() string // what the other side saw, "" when nothing can be told
}

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: public-repo [-out DIR] [SOURCE [NAME]]; without SOURCE, $KNOWLEDGE_REPO_URL and $KNOWLEDGE_REPO_NAME")
	}
	flag.Parse()
	source, name := flag.Arg(0), flag.Arg(1)
	if source == "" {
		source, name = os.Getenv("KNOWLEDGE_REPO_URL"), os.Getenv("KNOWLEDGE_REPO_NAME")
	}
	if source == "" {
		fmt.Println("skipped: no repository is named; give a URL or a path, or set KNOWLEDGE_REPO_URL")
		return nil
	}
	if _, err := exec.LookPath("git"); err != nil {
		fmt.Println("skipped: no program git on the PATH")
		return nil
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	scratch, err := lab.Scratch("publicrepo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	began := time.Now()
	var ways []way
	var commit string
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		if source, err = filepath.Abs(source); err != nil {
			return err
		}
		if name == "" {
			name = nameOf(source)
		}
		said, err := lab.Command(source, nil, "git", "rev-parse", "HEAD")
		if err != nil {
			fmt.Println("skipped: not a repository with a commit:", err)
			return nil
		}
		commit = strings.TrimSpace(said)
		var stop func()
		if ways, stop, err = local(source, scratch); err != nil {
			return err
		}
		defer stop()
	} else {
		if name == "" {
			name = source
		}
		if commit, err = remoteHead(source); err != nil {
			fmt.Printf("skipped: %s does not answer: %v\n", source, err)
			return nil
		}
		ways = []way{{title: "URL", test: "TestOwnRepository", variable: "KNOWLEDGE_E2E_REPO", value: source}}
	}
	tree, err := lab.Checkout(root, filepath.Join(scratch, "tree"))
	if err != nil {
		return err
	}
	var r lab.Report
	r.Printf("# Public repository %s, %s\n\nAt commit %s. The product at commit %s. %s. Load averages %s at the start. Written by `.ci/extra public-repo`.\n\n",
		name, began.Format(time.DateOnly), commit, tree.Commit, lab.Machine(), lab.Load())
	r.Printf("Over stdio an agent makes a store, waits for its job, asks questions (words of the repository's own files) at each level of detail, and asks for the full context of every hit. Every line that it is shown must be that line of the blob at the indexed commit, or of the file.\n\n")
	rows := [][]string{{"taken as", "created and indexed in", "the job says", "documents", "questions", "hits, all lines true", "verdict"}}
	failed := false
	for _, w := range ways {
		fmt.Fprintln(os.Stderr, w.title)
		row, err := w.run(tree.Dir, scratch)
		if err != nil {
			failed = true
			fmt.Fprintln(os.Stderr, err)
		}
		rows = append(rows, row)
	}
	r.Table(rows...)
	for _, w := range ways {
		if w.seen != nil {
			r.Printf("- %s: %s.\n", w.title, w.seen())
		}
	}
	r.Printf("\nNot shown here: a slow or broken connection, a private repository, one with submodules or large files kept elsewhere.\n")
	slug := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(name, "-"), "-")
	p, err := r.Write(*out, "public-repo-"+strings.ToLower(slug))
	if err != nil {
		return err
	}
	fmt.Println(p)
	if failed {
		return errFailed
	}
	return nil
}

// nameOf says what a local repository is called: where it comes from, or its folder.
func nameOf(dir string) string {
	if said, err := lab.Command(dir, nil, "git", "config", "remote.origin.url"); err == nil && strings.Contains(said, "://") {
		return strings.TrimSuffix(strings.TrimSpace(said), ".git")
	}
	return strings.TrimSuffix(filepath.Base(dir), ".git")
}

func remoteHead(url string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "ls-remote", "--", url, "HEAD")
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:ssh")
	cmd.WaitDelay = time.Second
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %.200s", err, strings.TrimSpace(errs.String()))
	}
	hash, _, ok := strings.Cut(string(out), "\t")
	if !ok {
		return "", errors.New("it has no HEAD")
	}
	return hash, nil
}

// local returns the ways to take a repository on this machine.
func local(dir, scratch string) ([]way, func(), error) {
	const repo, folder = "KNOWLEDGE_E2E_REPO", "KNOWLEDGE_E2E_FOLDER"
	files := filepath.Join(scratch, "files")
	archive := filepath.Join(scratch, "files.tar")
	if err := os.MkdirAll(files, 0o700); err != nil {
		return nil, nil, err
	}
	if _, err := lab.Command(dir, nil, "git", "archive", "--format=tar", "-o", archive, "HEAD"); err != nil {
		return nil, nil, err
	}
	if _, err := lab.Command(files, nil, "tar", "xf", archive); err != nil {
		return nil, nil, err
	}
	ways := []way{
		{title: "path", test: "TestOwnRepository", variable: repo, value: dir},
		{title: "folder with the files of HEAD", test: "TestOwnFolder", variable: folder, value: files},
	}
	s, err := serve(dir)
	if err != nil {
		fmt.Println("skipped: over HTTP on loopback:", err)
		return ways, func() {}, nil
	}
	ways = append(ways,
		way{title: "URL on loopback", test: "TestOwnRepository", variable: repo, value: s.url(false), seen: s.seen(false)},
		way{title: "URL on loopback, go-git refused", test: "TestOwnRepository", variable: repo, value: s.url(true), seen: s.seen(true)})
	return ways, func() { s.http.Close() }, nil
}

// server serves one repository below /all/NAME to every client, and below
// /git/NAME at first only to clients that say that they are git's own program.
type server struct {
	http    *http.Server
	address string
	name    string
	packs   [2]atomic.Int64 // upload-pack requests by path
	refused [2]atomic.Int64
}

func serve(dir string) (*server, error) {
	said, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, err
	}
	backend := filepath.Join(strings.TrimSpace(string(said)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		return nil, errors.New("git has no http-backend here")
	}
	gitDir, err := lab.Command(dir, nil, "git", "rev-parse", "--absolute-git-dir")
	if err != nil {
		return nil, err
	}
	gitDir = strings.TrimSpace(gitDir)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{address: l.Addr().String(), name: "mirror"}
	mux := http.NewServeMux()
	for i, prefix := range []string{"/all/", "/git/"} {
		h := &cgi.Handler{
			Path: backend, Root: prefix + s.name, Stderr: os.Stderr,
			Env: []string{"GIT_PROJECT_ROOT=" + gitDir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
		}
		mux.HandleFunc(prefix, func(w http.ResponseWriter, r *http.Request) {
			// go-git calls itself "git/1.0"; git names its version. When git has
			// its packs, the test may clone with go-git to compare.
			if i == 1 && s.packs[i].Load() == 0 && !gitAgent.MatchString(r.UserAgent()) {
				s.refused[i].Add(1)
				http.Error(w, "this path is for git's own program", http.StatusInternalServerError)
				return
			}
			if strings.HasSuffix(r.URL.Path, "/git-upload-pack") {
				s.packs[i].Add(1)
			}
			h.ServeHTTP(w, r)
		})
	}
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

var gitAgent = regexp.MustCompile(`^git/[2-9]\.\d+`)

func (s *server) url(gitOnly bool) string {
	if gitOnly {
		return "http://" + s.address + "/git/" + s.name
	}
	return "http://" + s.address + "/all/" + s.name
}

func (s *server) seen(gitOnly bool) func() string {
	i := 0
	if gitOnly {
		i = 1
	}
	return func() string {
		return fmt.Sprintf("the server answered %d requests for packs and refused %d requests (the checks clone once more for themselves)", s.packs[i].Load(), s.refused[i].Load())
	}
}

var (
	jobRE  = regexp.MustCompile(`(?m)^\s*\S+\.go:\d+: ([0-9.]+ s): (.*)$`)
	doneRE = regexp.MustCompile(`(?m)^\s*\S+\.go:\d+: (\d+) documents, (\d+) questions, (\d+) hits with true lines$`)
)

// run runs the acceptance test and returns a row of the table.
func (w way) run(dir, scratch string) ([]string, error) {
	env := append(os.Environ(), w.variable+"="+w.value)
	out, err := lab.Command(dir, env, "go", "test", "-count=1", "-timeout=20m", "-v", "-run", "^"+w.test+"$", "./cmd/knowledge")
	row := []string{w.title, "–", "–", "–", "–", "–", "holds"}
	if m := jobRE.FindStringSubmatch(out); m != nil {
		row[1], row[2] = m[1], strings.ReplaceAll(m[2], w.value, "SOURCE")
	}
	if m := doneRE.FindStringSubmatch(out); m != nil {
		row[3], row[4], row[5] = m[1], m[2], m[3]
	} else if err == nil {
		err = fmt.Errorf("the test told no figures: %s", out)
	}
	if err != nil {
		row[6] = "**failed**"
		err = fmt.Errorf("%w\n%s", err, strings.ReplaceAll(out, scratch, "SCRATCH"))
	}
	return row, err
}
