package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/face/cli"
	"github.com/seed-4f2d999b/knowledge/internal/face/httpapi"
	"github.com/seed-4f2d999b/knowledge/internal/face/mcpserver"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// full asks for the counts of the fault model instead of a sample.
var full = os.Getenv("KNOWLEDGE_CRASH") == "full"

// programEnv makes this test binary the program itself, with faults.
const programEnv = "KNOWLEDGE_CRASH_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		os.Exit(program())
	}
	for _, e := range os.Environ() { // nothing from outside the tests
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, "KNOWLEDGE_") && !strings.HasPrefix(name, "KNOWLEDGE_CRASH") || strings.HasPrefix(name, "CLAUDE_") || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "GIT_") {
			os.Unsetenv(name)
		}
	}
	os.Setenv("HOME", filepath.Join(os.TempDir(), "nobody-lives-here"))
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else every process under -race takes a second to end
	os.Setenv(programEnv, "1")               // for the processes that tests start
	os.Exit(m.Run())
}

// program is cmd/knowledge, except that faults reach its workers.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	args := os.Args[1:]
	if len(args) == 4 && args[0] == "--data-dir" && args[2] == "work" {
		if err := work(ctx, args[1], args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	return cli.Main(ctx, cli.Faces{
		Worker: []string{os.Args[0]},
		MCP: func(ctx context.Context, a *app.App, o cli.MCPOptions) error {
			return mcpserver.ServeStdio(ctx, a, mcpserver.Options{Tools: o.Tools, Log: o.Stderr}, o.Stdin, o.Stdout)
		},
		Serve: func(ctx context.Context, a *app.App, o cli.ServeOptions) error {
			return httpapi.Serve(ctx, a, httpapi.Options{Addr: o.Addr, RequireToken: o.RequireToken, Log: o.Stdout})
		},
	})
}

// faults are what a worker suffers. They lie beside the data directory, so
// that every worker finds them, whoever starts it.
type faults struct {
	EmbedDelay  time.Duration // for each text
	EmbedAtOnce time.Duration // see ingest.Indexer
	StepDelay   time.Duration // for each step of writing a file
	KillStep    int           // the worker kills itself at this step of writing files, counted from 1
	Poison      string        // the worker kills itself when it embeds a text that holds this
	FailStep    atomicfile.Op // this step fails
	FailFull    bool          // for want of space
	// The same of steps of writing below views only, and what makes a store large.
	KillView   int
	KillOnce   bool // only the first worker that comes to KillView dies of it
	FailView   atomicfile.Op
	ViewDelay  time.Duration
	LinkAtOnce int64
}

func faultsPath(dir string) string { return dir + ".faults" }

// embeddedPath is a file with one byte for every text that a worker embedded.
func embeddedPath(dir string) string { return dir + ".embedded" }

// diedPath is a file that says at which step a worker killed itself.
func diedPath(dir string) string { return dir + ".died" }

// stepsPath is a file that says how many steps the last worker took.
func stepsPath(dir string) string { return dir + ".steps" }

// work is a worker process.
func work(ctx context.Context, dir, id string) error {
	var f faults
	b, err := os.ReadFile(faultsPath(dir))
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var steps, views atomic.Int64
	atomicfile.Inject(func(op atomicfile.Op, path string) error {
		if op == atomicfile.OpOpen {
			return nil
		}
		time.Sleep(f.StepDelay)
		if n := steps.Add(1); f.KillStep > 0 && n == int64(f.KillStep) {
			os.WriteFile(diedPath(dir), []byte(string(op)+" "+filepath.Ext(path)), 0o600)
			killSelf()
		}
		if filepath.Base(filepath.Dir(path)) == "views" {
			time.Sleep(f.ViewDelay)
			if n := views.Add(1); f.KillView > 0 && n == int64(f.KillView) {
				if f.KillOnce { // whoever resumes the job may be quicker than the test
					next := f
					next.KillView = 0
					if b, err := json.Marshal(next); err == nil {
						os.WriteFile(faultsPath(dir), b, 0o600)
					}
				}
				os.WriteFile(diedPath(dir), []byte("link "+string(op)+" "+filepath.Ext(path)), 0o600)
				killSelf()
			}
			if f.FailView != "" && op == f.FailView {
				if f.FailFull {
					return syscall.ENOSPC
				}
				return errInjected
			}
		}
		if f.FailStep != "" && op == f.FailStep {
			if f.FailFull {
				return syscall.ENOSPC
			}
			return errInjected
		}
		return nil
	})
	a, err := product.New(app.Config{DataDir: dir, Worker: []string{os.Args[0]}, Env: noEnv, EmbedAtOnce: f.EmbedAtOnce, LinkAtOnce: f.LinkAtOnce, Embedder: &embedder{embed.Default(), f, dir}})
	if err != nil {
		return err
	}
	err = errors.Join(a.Work(ctx, id), a.Close())
	return errors.Join(err, os.WriteFile(stepsPath(dir), fmt.Append(nil, steps.Load()), 0o600))
}

var errInjected = errors.New("injected: input/output error")

func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		p.Kill()
	}
	select {}
}

// configEnv names the configuration file of a test, for the program and its workers.
const configEnv = "KNOWLEDGE_CRASH_CONFIG"

// noEnv is an environment without anything but that.
func noEnv(name string) string {
	if name == config.Variable {
		return os.Getenv(configEnv)
	}
	return ""
}

// embedder is the usual one, with faults.
type embedder struct {
	kb.Embedder
	faults faults
	dir    string
}

func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.faults.Poison != "" && slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, e.faults.Poison) }) {
		killSelf()
	}
	if e.faults.EmbedDelay > 0 {
		count, err := os.OpenFile(embeddedPath(e.dir), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		defer count.Close()
		for range texts {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(e.faults.EmbedDelay):
			}
			if _, err := count.Write([]byte{'.'}); err != nil {
				return nil, err
			}
		}
	}
	return e.Embedder.Embed(ctx, texts)
}
