package product_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// TestAudience pins who may call what: a command added to the table is for
// persons until somebody writes it down here.
func TestAudience(t *testing.T) {
	agents := []string{
		"search", "get_full_context", "execute", "commands", "help", "read", "files", "grep",
		"code:callees", "code:callers", "code:definition", "code:files", "code:outline", "code:references", "code:symbols",
		"stores", "store:info", "store:create", "store:index", "store:pages", "store:rename", "store:delete", "stores:sync", "store:update", "suggest", "stores:defaults", "jobs", "job:status", "job:cancel", "uninstall",
		"store:schedule", "schedules", "doctor", "resources", "resource:read",
		"apis", "api:help", "api:call", "why", "changed", "deps:upgrade", "impact", "trace:explain",
		"kdd:search", "kdd:related", "kdd:list", "kdd:impact", "kdd:context", "kdd:find", "kdd:section", "kdd:graph", "kdd:stats", "kdd:check", "kdd:matrix",
		"evidence:status", "evidence:summary", "evidence:snapshot", "evidence:findings", "evidence:rulesets", "evidence:platforms", "evidence:ledger", "evidence:imports", "evidence:export",
		"gate:check", "sdd:status", "sdd:open", "sdd:refresh", "sdd:close",
		"answer:ask", "answer:session", "answer:forget", "feedback:add", "feedback:list", "feedback:stats",
		"verify", "selftest",
		"repo:state", "repo:context", "repo:validate", "repo:sync-plan", "repo:cleanup-plan",
	}
	slices.Sort(agents)
	var got []string
	for _, c := range product.Commands().All() {
		if c.Audience == command.Agent {
			got = append(got, c.Name)
		}
	}
	slices.Sort(got)
	if d := cmp.Diff(agents, got); d != "" {
		t.Errorf("commands for agents (-want +got):\n%s", d)
	}
	// What strangers said is not opened with what is indexed.
	private := []string{"answer:session", "feedback:list", "feedback:stats"}
	for _, c := range product.Commands().All() {
		want := command.Token
		if c.Audience == command.Agent && c.Effect == command.Reads && !slices.Contains(private, c.Name) {
			want = command.Read
		}
		if c.Access != want {
			t.Errorf("%s: access %d, want %d", c.Name, c.Access, want)
		}
	}
}

func TestExecuteRefusesPersons(t *testing.T) {
	execute := mustFind(t, "execute")
	persons := 0
	for _, c := range product.Commands().All() {
		if c.Audience != command.Person {
			continue
		}
		persons++
		for _, name := range append([]string{c.Name, strings.ToUpper(c.Name), " " + c.Name + " "}, c.Aliases...) {
			args := printer.JSON(map[string]any{"command": name, "args": json.RawMessage(c.Examples[0])})
			for _, ctx := range []context.Context{context.Background(), command.FromCLI(context.Background())} {
				_, err := execute.Run(ctx, newApp(t), json.RawMessage(args))
				// What vouches is not named to who might have a shell.
				if kb.CodeOf(err) != kb.Denied || strings.Contains(kb.HintOf(err), "knowledge "+c.Name) == (c.Name == "trust") {
					t.Errorf("execute %q: %v (%s)", name, err, kb.HintOf(err))
				}
			}
		}
	}
	if persons == 0 {
		t.Error("no command is for persons: this test tests nothing")
	}
}

// TestTable holds every command to the same manners and runs each one's examples.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range product.Commands().All() {
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if seen[n] {
				t.Errorf("%q names two commands", n)
			}
			seen[n] = true
		}
		if c.Group == "" || c.Summary == "" || strings.HasSuffix(c.Summary, ".") || strings.Contains(c.Summary, "\n") || len(c.Summary) > 160 {
			t.Errorf("%s: group %q, summary %q", c.Name, c.Group, c.Summary)
		}
		if len(c.Examples) == 0 {
			t.Errorf("%s has no example", c.Name)
		}
		for _, e := range c.Examples {
			if err := c.Check(context.Background(), json.RawMessage(e)); err != nil {
				t.Errorf("%s: example %s: %v", c.Name, e, err)
			}
			if strings.Contains(e, "://") {
				continue // would reach for the network
			}
			// What an example does to an empty data directory may fail, with manners.
			_, err := c.Run(context.Background(), newApp(t), json.RawMessage(e))
			if code := kb.CodeOf(err); err != nil && (code == kb.Internal || kb.HintOf(err) == "" && code != kb.Unsupported) {
				t.Errorf("%s %s: %s %v, hint %q", c.Name, e, code, err, kb.HintOf(err))
			}
		}
		if !json.Valid(c.Schema()) {
			t.Errorf("%s: schema %s", c.Name, c.Schema())
		}
		optional := false
		for _, p := range c.Params {
			if p.Help == "" {
				t.Errorf("%s %s has no help", c.Name, p.Name)
			}
			if p.Arg && optional {
				t.Errorf("%s %s is positional after one that is not", c.Name, p.Name)
			}
			optional = optional || !p.Arg
			if p.CLIOnly && strings.Contains(string(c.Schema()), `"`+p.Name+`"`) {
				t.Errorf("%s: the schema tells of %s", c.Name, p.Name)
			}
		}
		if got, err := product.Commands().Find(c.Name); err != nil || got.Name != c.Name {
			t.Errorf("Find(%q): %v", c.Name, err)
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"show": "get_full_context", "store create": "store:create", "store_create": "store:create", "job  status": "job:status",
		"Stores": "stores", " search ": "search", "get_full_context": "get_full_context",
	} {
		c, err := product.Commands().Find(name)
		if err != nil || c.Name != want {
			t.Errorf("Find(%q) = %q, %v", name, c.Name, err)
		}
	}
	_, err := product.Commands().Find("store:crate")
	if kb.CodeOf(err) != kb.NotFound || !strings.Contains(kb.HintOf(err), "did you mean store:create?") {
		t.Errorf("%v (%s)", err, kb.HintOf(err))
	}
	_, err = product.Commands().Find(strings.Repeat("z", 1000))
	if kb.CodeOf(err) != kb.NotFound || len(err.Error()) > 200 {
		t.Errorf("%v", err)
	}
}

func TestNatives(t *testing.T) {
	want := map[string]string{
		"search": `{"type":"object","properties":{"query":{"type":"string"},` +
			`"intent":{"type":"string","enum":["find-pattern","find-implementation","find-usage","find-definition","find-documentation"]},` +
			`"mode":{"type":"string","enum":["hybrid","vector","fts"]},"detail":{"type":"string","enum":["minimal","contextual","full"]},` +
			`"limit":{"type":"integer"},"stores":{"type":"array","items":{"type":"string"}},"threshold":{"type":"number"},"minRelevance":{"type":"number"}},` +
			`"required":["query"]}`,
		"get_full_context": `{"type":"object","properties":{"resultId":{"type":"string"}},"required":["resultId"]}`,
		"execute":          `{"type":"object","properties":{"command":{"type":"string"},"args":{"type":"object"}},"required":["command"]}`,
	}
	got := map[string]string{}
	for _, c := range product.Commands().All() {
		if c.Native {
			got[c.Name] = string(c.Schema())
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("native tools (-want +got):\n%s", d)
	}
}

// TestAsAgentsGuess: what an agent writes that goes by other programs is
// understood, or answered with what it should have written.
func TestAsAgentsGuess(t *testing.T) {
	execute := mustFind(t, "execute")
	run := func(args string) (string, error) {
		got, err := execute.Run(context.Background(), newApp(t), json.RawMessage(args))
		return printer.Render(got), err
	}
	for _, group := range []string{"store", "code", "kdd", "job"} {
		got, err := run(`{"command":"help","args":{"command":"` + group + `"}}`)
		if err != nil || !strings.Contains(got, group+":") || strings.Count(got, "\n") < 3 {
			t.Errorf("help %s: %q, %v", group, got, err)
		}
	}
	for args, hint := range map[string]string{
		`{"command":"store:list"}`:                                         "that is: stores",
		`{"command":"store:add"}`:                                          "that is: store:create",
		`{"command":"store:info","store":"react"}`:                         `{"command":"store:info","args":{"store":"react"}}`,
		`{"command":"files","args":{"store":"react"},"glob":"*.go"}`:       `{"command":"files","args":{"glob":"*.go","store":"react"}}`,
		`{"command":"store:schedule","args":{"store":"x","schedule":"?"}}`: "stores", // understood as far as the store that is not there
		`{"command":"grep","args":{"pattern":"x","limit":0}}`:              "at most this many lines",
	} {
		if _, err := run(args); err == nil || !strings.Contains(kb.HintOf(err), hint) {
			t.Errorf("%s: %v (%s), want %s", args, err, kb.HintOf(err), hint)
		}
	}
}

func TestExecute(t *testing.T) {
	execute := mustFind(t, "execute")
	got, err := execute.Run(context.Background(), newApp(t), json.RawMessage(`{"command":"help","args":{"command":"job cancel"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "job:cancel: Stop a job; the store keeps what it had before\n  jobId string: id of a job\nexample: {\"jobId\":\"abcdefgh\"}"
	if d := cmp.Diff(want, printer.Render(got)); d != "" {
		t.Errorf("help (-want +got):\n%s", d)
	}
	for args, code := range map[string]kb.Code{
		`{"command":"execute"}`:                                kb.Invalid,
		`{"command":"exceute"}`:                                kb.NotFound,
		`{"command":"store:info"}`:                             kb.Invalid,
		`{"command":"store:info","args":{"stroe":"x"}}`:        kb.Invalid,
		`{"command":"search","args":{"query":"x","yes":true}}`: kb.Denied,
		`{"command":"store:create","args":{"source":"http://127.0.0.1/docs","type":"web","depth":2}}`: kb.Denied,
		`{"command":"store:create","args":{"source":".","type":"file","depth":2}}`:                    kb.Invalid,
	} {
		_, err := execute.Run(context.Background(), newApp(t), json.RawMessage(args))
		if kb.CodeOf(err) != code || kb.HintOf(err) == "" {
			t.Errorf("%s: %s %v (%s)", args, kb.CodeOf(err), err, kb.HintOf(err))
		}
	}
}

func TestDispatched(t *testing.T) {
	ctx := context.Background()
	execute := mustFind(t, "execute")
	c, err := product.Commands().Dispatched(ctx, execute, json.RawMessage(`{"command":"stores"}`))
	if err != nil || c.Name != "stores" || c.Access != command.Read {
		t.Errorf("%s %v", c.Name, err)
	}
	c, err = product.Commands().Dispatched(ctx, execute, json.RawMessage(`{"command":"store delete","args":{"store":"x"}}`))
	if err != nil || c.Name != "store:delete" || c.Access != command.Token {
		t.Errorf("%s %v", c.Name, err)
	}
	if _, err = product.Commands().Dispatched(ctx, execute, json.RawMessage(`{"command":"trust"}`)); kb.CodeOf(err) != kb.Denied {
		t.Error(err)
	}
	// A resource that is closed closes what reads it, also through execute and by another name.
	for args, access := range map[string]command.Access{
		`{"command":"resource:read","args":{"uri":"feedback://stats"}}`:         command.Token,
		`{"command":"resource","args":"{\"uri\":\"feedback://stats\"}"}`:        command.Token,
		`{"command":"resource:read","args":{"uri":"evidence://status"}}`:        command.Read,
		`{"command":"resource:read","args":{"uri":"kdd://entity/feedback"}}`:    command.Read,
		`{"command":"resource:read","args":{"uri":"feedback://nothing"}}`:       command.Read,
		`{"command":"resource:read","args":{"uri":["feedback://stats"],"x":1}}`: command.Read, // is refused when it runs
	} {
		if c, err = product.Commands().Dispatched(ctx, execute, json.RawMessage(args)); err != nil || c.Name != "resource:read" || c.Access != access {
			t.Errorf("%s: %s %d %v, want %d", args, c.Name, c.Access, err, access)
		}
	}
	c, err = product.Commands().Dispatched(ctx, mustFind(t, "resource:read"), json.RawMessage(`{"uri":"feedback://stats"}`))
	if err != nil || c.Access != command.Token {
		t.Errorf("%s %d %v", c.Name, c.Access, err)
	}
	if c, err = product.Commands().Dispatched(ctx, mustFind(t, "search"), nil); err != nil || c.Name != "search" {
		t.Errorf("%s %v", c.Name, err)
	}
}

// TestCommands holds the list that agents read to about 300 tokens, here at most 1100 bytes.
func TestCommands(t *testing.T) {
	got, err := mustFind(t, "commands").Run(context.Background(), newApp(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := printer.Render(got)
	plain := regexp.MustCompile(`([a-z]+:)\{([^}]*)\}`).ReplaceAllStringFunc(text, func(s string) string { // as a shell does
		before, ends, _ := strings.Cut(strings.TrimSuffix(s, "}"), "{")
		return before + strings.ReplaceAll(ends, ",", " "+before)
	})
	words := strings.FieldsFunc(plain, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' }) // install is in uninstall
	for _, c := range product.Commands().All() {
		if slices.Contains(words, c.Name) != (c.Audience == command.Agent) {
			t.Errorf("%s: %s", c.Name, text)
		}
	}
	if len(text) > 1100 {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
}

func TestCommandLine(t *testing.T) {
	for _, tc := range []struct{ name, args, want string }{
		{"store:create", `{"source":"./my docs","type":"file","name":"d"}`, `knowledge store:create d './my docs' --type file`},
		{"search", `{"query":"it's","stores":["a","b"],"limit":3}`, `knowledge search 'it'\''s' --limit 3 --stores a,b`},
		{"store:index", `{"store":"x","force":true}`, `knowledge store:index x --force`},
		{"stores", `{}`, `knowledge stores`},
	} {
		if got := command.CommandLine(mustFind(t, tc.name), tc.args); got != tc.want {
			t.Errorf("%s\nwant %s", got, tc.want)
		}
	}
}

func mustFind(t *testing.T, name string) command.Command {
	t.Helper()
	c, err := product.Commands().Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newApp returns an app over an empty folder and an empty data directory.
func newApp(t *testing.T) *app.App {
	t.Helper()
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir()) // whose sessions are nobody's
	a, err := product.New(app.Config{Version: "test", DataDir: t.TempDir(), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}
