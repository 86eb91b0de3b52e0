package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/cli"
	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// The faces that scripts start only say how they were started.
var faces = cli.Faces{
	MCP: func(_ context.Context, _ *app.App, o cli.MCPOptions) error {
		_, err := fmt.Fprintf(o.Stdout, "mcp tools=%s http=%q noauth=%t\n", o.Tools, o.HTTP, o.NoAuth)
		return err
	},
	Serve: func(_ context.Context, _ *app.App, o cli.ServeOptions) error {
		_, err := fmt.Fprintf(o.Stdout, "serve addr=%s token=%t\n", o.Addr, o.RequireToken)
		return err
	},
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"knowledge": func() { os.Exit(cli.Main(context.Background(), faces)) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("KNOWLEDGE_DATA_DIR", e.WorkDir+"/.data")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each run of the program ends a second late
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "hitid": hitID},
	})
}

// exits STATUS COMMAND ARG... runs a command and requires its exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARG...")
	}
	got := "0"
	err := ts.Exec(args[1], args[2:]...)
	var status interface{ ExitCode() int }
	if errors.As(err, &status) {
		got = fmt.Sprint(status.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// hitID PATH COMMAND ARG... runs a search and sets $HIT to the id of the
// first hit in the document at PATH.
func hitID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: hitid PATH COMMAND ARG...")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if f := strings.Split(line, "\t"); len(f) > 1 && strings.HasPrefix(f[1], args[0]+":") {
			ts.Setenv("HIT", f[0])
			return
		}
	}
	ts.Fatalf("no hit in %s", args[0])
}

// run runs the program in this process, in an empty folder.
func run(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	status = cli.Run(ctx, faces, cli.Env{
		Args: append([]string{"--data-dir", t.TempDir()}, args...), Dir: t.TempDir(),
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
	})
	return status, out.String(), errs.String()
}

// TestEveryCommand asks for the help of each command of the registry, by its
// name and as two words, and gives each a flag that it does not have.
func TestEveryCommand(t *testing.T) {
	for _, c := range command.All() {
		if c.Name == "help" {
			continue // the command line has its own
		}
		for _, words := range [][]string{{c.Name}, strings.Split(c.Name, ":")} {
			status, out, errs := run(t, context.Background(), append(words, "--help")...)
			if status != 0 || errs != "" || !strings.Contains(out, c.ForPerson().Summary) {
				t.Errorf("%s --help: %d %s%s", words, status, out, errs)
			}
			for _, p := range c.Params {
				if !strings.Contains(out, p.ForPerson()) {
					t.Errorf("%s --help does not tell of %s", words, p.Name)
				}
			}
			status, out, errs = run(t, context.Background(), append(words, "--no-such-flag")...)
			if status != 2 || out != "" || !strings.Contains(errs, "no flag") || strings.Count(errs, "\n") != 2 {
				t.Errorf("%s --no-such-flag: %d %s%s", words, status, out, errs)
			}
		}
	}
}

// TestInterrupted starts with a context that is over: whatever a command does
// with it, what comes out is a sentence.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, errs := run(t, ctx, "search", "anything")
	if strings.Contains(errs, "context canceled") {
		t.Error(errs)
	}
}

type brokenPipe struct{ io.Writer }

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestLostOutput(t *testing.T) {
	var errs bytes.Buffer
	status := cli.Run(context.Background(), faces, cli.Env{
		Args: []string{"commands"}, Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: brokenPipe{}, Stderr: &errs,
	})
	if status != 1 || !strings.Contains(errs.String(), "broken pipe") {
		t.Errorf("%d %s", status, &errs)
	}
}
