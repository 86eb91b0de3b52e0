package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/face/cli"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "hitid": hitID, "slip": slip, "jobid": jobID},
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

// jobID STORE COMMAND ARG... lists jobs and sets $JOB to the id of one of the store.
func jobID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: jobid STORE COMMAND ARG...")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if f := strings.Split(line, "\t"); len(f) > 2 && f[2] == args[0] {
			ts.Setenv("JOB", f[0])
			return
		}
	}
	ts.Fatalf("no job of %s", args[0])
}

// slip ID sets $SLIP to the id with one letter wrong.
func slip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || len(args[0]) < 4 {
		ts.Fatalf("usage: slip ID")
	}
	wrong := "x"
	if args[0][3:4] == wrong {
		wrong = "y"
	}
	ts.Setenv("SLIP", args[0][:3]+wrong+args[0][4:])
}

// run runs the program in this process, in an empty folder.
func run(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	status = cli.Run(ctx, faces, cli.Env{
		Args: append([]string{"--data-dir", filepath.Join(t.TempDir(), "data")}, args...), Dir: t.TempDir(), // made with the program's own mode
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
	})
	return status, out.String(), errs.String()
}

// TestEveryCommand asks for the help of each command of the registry, by its
// name and as two words, and gives each a flag that it does not have.
func TestEveryCommand(t *testing.T) {
	for _, c := range product.Commands().All() {
		if c.Name == "help" {
			continue // the command line has its own
		}
		for _, words := range [][]string{{c.Name}, strings.Split(c.Name, ":")} {
			status, out, errs := run(t, context.Background(), append(words, "--help")...)
			if status != 0 || errs != "" || !strings.Contains(out, c.ForPerson().Summary) {
				t.Errorf("%s --help: %d %s%s", words, status, out, errs)
			}
			for _, p := range c.Params {
				if p.Unlisted {
					continue
				}
				if !strings.Contains(out, p.ForPerson()) {
					t.Errorf("%s --help does not tell of %s", words, p.Name)
				}
			}
			if c.Name != "execute" {
				plain(t, out)
			}
			status, out, errs = run(t, context.Background(), append(words, "--no-such-flag")...)
			if status != 2 || out != "" || !strings.Contains(errs, "no flag") || strings.Count(errs, "\n") != 2 || !strings.Contains(errs, ": knowledge ") {
				t.Errorf("%s --no-such-flag: %d %s%s", words, status, out, errs)
			}
		}
	}
}

// plain refuses what agents are told of tools and JSON arguments, and names of
// fields where flags are meant.
func plain(t *testing.T, help string) {
	t.Helper()
	for _, w := range []string{"resultId", "get_full_context", "execute", "Use before grep", `["*"]`, `{"command"`} {
		if strings.Contains(help, w) {
			t.Errorf("a person reads of %s in\n%s", w, help)
		}
	}
	if odd := regexp.MustCompile(`--[a-z]+([A-Z]|_)\w*`).FindString(help); odd != "" {
		t.Errorf("a person reads of %s in\n%s", odd, help)
	}
}

// TestEveryExample types the examples of every command where there is nothing
// yet. What fails is told in one sentence and one next step, in words of the
// terminal.
func TestEveryExample(t *testing.T) {
	for _, c := range product.Commands().All() {
		if c.Name == "help" || c.Group == "setup" || c.Network != command.NoNetwork {
			continue // asks others, or writes beside the data directory
		}
		for _, e := range c.Examples {
			words, err := command.Words(command.CommandLine(c, e))
			if err != nil {
				t.Fatal(err)
			}
			status, _, errs := run(t, context.Background(), words[1:]...)
			for l := range strings.Lines(errs) {
				if note, ok := strings.CutPrefix(l, "note: "); ok {
					plain(t, note)
					errs = strings.Replace(errs, l, "", 1)
				}
			}
			if lines := strings.Count(errs, "\n"); status != 0 && (lines != 2 && errs != "" || errs == "" && c.Group != "gate" || lines == 2 && !strings.Contains(errs, ": knowledge ")) {
				t.Errorf("%s: %d %s", words, status, errs)
			}
			if c.Name != "execute" {
				plain(t, errs)
			}
		}
	}
}

// TestHelp: the help begins with what people use and fits on a screen, and
// every topic that it names is one.
func TestHelp(t *testing.T) {
	status, brief, errs := run(t, context.Background(), "--help")
	if status != 0 || errs != "" || strings.Count(brief, "\n") > 45 {
		t.Errorf("%d, %d lines, %s", status, strings.Count(brief, "\n"), errs)
	}
	plain(t, brief)
	for i, l := range strings.Split(brief, "\n") {
		if len([]rune(l)) > 110 {
			t.Errorf("line %d is long: %s", i, l)
		}
	}
	if strings.Index(brief, "knowledge search QUERY") > strings.Index(brief, "TOPIC") {
		t.Error("topics come before search")
	}
	_, list, _ := strings.Cut(brief, "knowledge help TOPIC\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for l := range strings.Lines(list) {
		topic := strings.Fields(l)[0]
		status, out, errs := run(t, context.Background(), "help", topic)
		if status != 0 || errs != "" || out == "" {
			t.Errorf("help %s: %d %s", topic, status, errs)
		}
		plain(t, out)
	}
	status, all, _ := run(t, context.Background(), "help", "all")
	for _, c := range product.Commands().All() {
		if name := c.Word(); status != 0 || !strings.Contains(all, "\n  "+name+" ") && name != "execute" && name != "commands" {
			t.Errorf("help all does not tell of %s", name)
		}
	}
	plain(t, all)
}

// terminal runs the program as on a terminal, in dir.
func terminal(t *testing.T, data, dir string, args ...string) (status int, out, errs string) {
	t.Helper()
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	var stdout, stderr bytes.Buffer
	status = cli.Run(context.Background(), faces, cli.Env{
		Args: append([]string{"--data-dir", data}, args...), Dir: dir,
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Terminal: true,
	})
	return status, stdout.String(), stderr.String()
}

// TestHome: alone on a terminal the program says how the folder stands, in few
// lines, and begins nothing.
func TestHome(t *testing.T) {
	data, dir := filepath.Join(t.TempDir(), "data"), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("# Retry\n\nTries again.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := func(want string) {
		t.Helper()
		status, out, errs := terminal(t, data, dir)
		if status != 0 || errs != "" || !strings.Contains(out, want) || !strings.Contains(out, "knowledge search ") || strings.Count(out, "\n") > 20 {
			t.Errorf("want %q: %d %s%s", want, status, out, errs)
		}
		plain(t, out)
	}
	home("not indexed yet")
	if _, err := os.Stat(data); err == nil {
		t.Error("looking made a data directory")
	}
	if status, out, errs := terminal(t, data, dir, "search", "-n", "3", "retry"); status != 0 || !strings.Contains(out, "a.md") {
		t.Fatalf("%d %s%s", status, out, errs)
	}
	home("1 document, indexed just now")
	if status, _, errs := terminal(t, data, dir, "store:create", "notes", dir); status != 0 {
		t.Fatal(errs)
	}
	home("1 document, indexed just now") // that store is this folder
	// In a pipe it is the help.
	if _, out, _ := run(t, context.Background()); !strings.Contains(out, "knowledge help TOPIC") {
		t.Error(out)
	}
}

// TestGuesses: verbs and flags of other programs are answered with the line
// that was meant, where it makes sense as it stands.
func TestGuesses(t *testing.T) {
	for _, tc := range []struct{ typed, next string }{
		{"list", "did you mean: knowledge stores"},
		{"find retry loop", "did you mean: knowledge search retry loop"},
		{"how does it retry", "did you mean: knowledge ask 'how does it retry'"},
		{"retry with backoff", "did you mean: knowledge search 'retry with backoff'"},
		{"status", "see how things stand in this folder with: knowledge"},
		{"tui", "did you mean: knowledge ui"},
		{"config", "did you mean: knowledge help configuration"},
		{"logs", "did you mean: knowledge jobs"},
		{"add .", "did you mean: knowledge add-folder ."},
		{"add https://example.org/x.git", "did you mean: knowledge add-repo https://example.org/x.git"},
		{"add ./nowhere", "did you mean add-folder? see: knowledge add-folder --help"},
		{"remove nothing", "did you mean store:delete? see: knowledge store:delete --help"},
		{"xyzzy", "see what there is with: knowledge --help"},
		{"search retry --max-results 4", "did you mean: knowledge search retry --limit 4"},
		{"search retry --min_relevanc=0.5", "did you mean: knowledge search retry --min-relevance=0.5"},
		{"search retry --nothing-like-it", "see: knowledge search --help"},
		{"search retry --mode vectr -n 2", "did you mean: knowledge search retry --mode vector --limit 2"},
		{"stores --type git", "see: knowledge stores --help"},
		{"api:call nope {bad", "for example {\"name\":\"value\"}; see: knowledge api:call --help"},
	} {
		status, out, errs := run(t, context.Background(), strings.Fields(tc.typed)...)
		// The line is to run where this one ran.
		lines := strings.Split(strings.TrimSuffix(regexp.MustCompile(` --data-dir \S+`).ReplaceAllString(errs, ""), "\n"), "\n")
		if status == 0 || out != "" || len(lines) != 2 || !strings.HasSuffix(lines[1], tc.next) {
			t.Errorf("%s: %d %s%s want %s", tc.typed, status, out, errs, tc.next)
		}
	}
}

// TestPlace: a line to paste works on the same data and project.
func TestPlace(t *testing.T) {
	data, dir := filepath.Join(t.TempDir(), "it's data"), t.TempDir()
	_, _, errs := terminal(t, data, dir, "--project", ".", "job:status", "abcdefgh")
	if want := "knowledge --data-dir " + kb.ShellWord(data) + " --project . jobs\n"; !strings.HasSuffix(errs, want) {
		t.Errorf("%s want %s", errs, want)
	}
}

// TestSpellings: flags in kebab-case and by letter, and the older spellings.
func TestSpellings(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("# Retry\n\nTries again.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"search -n 3 retry", "search -i retry", "search --min-relevance 0 retry", "search --minRelevance 0 retry", "search --min_relevance=0 retry", "search -s . retry",
		"jobs -n 2 -f", "jobs --activeOnly", "jobs --active-only", "store_info .", "store info .", "ask --session-id s1 retry", "ask --session_id s1 retry",
	} {
		if status, _, errs := terminal(t, data, dir, strings.Fields(line)...); status != 0 {
			t.Errorf("%s: %d %s", line, status, errs)
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
