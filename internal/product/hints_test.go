package product_test

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// TestHints: a hint is written once, and names a command as its reader can
// call it.
func TestHints(t *testing.T) {
	for _, tc := range []struct{ written, shell, agent string }{
		{"list its paths with: files {\"store\":\"web\",\"glob\":\"**/a b.go\"}",
			"list its paths with: knowledge files web '**/a b.go'", ""},
		{"list its paths with: knowledge files web --glob '**/a b.go'", "",
			`list its paths with: files {"store":"web","glob":"**/a b.go"}`},
		{"list them with: stores", "list them with: knowledge stores", ""},
		{"look at it with: job:status abc", "look at it with: knowledge job:status abc", ""},
		{"see: help stores:sync", "see: knowledge help stores:sync", ""},
		{`"commands" lists them all`, "knowledge help all lists them all", ""},
		{"list all with: knowledge help all", "", "list all with: commands"},
		{"run store:index: it is fetched anew", "run knowledge store:index: it is fetched anew", ""},
		{"narrow the glob or raise limit", "narrow the glob or raise --limit", ""},
		{"name the folder that holds it, and the file with paths", "name the folder that holds it, and the file with --paths", ""},
		{"index it as a folder, with type file", "index it as a folder, with --type file", ""},
		{"leave out save, or scope user", "leave out --save, or --scope user", ""},
		{"make one with: store:create", "make one with: knowledge store:create --help", ""},
		{"ask get_full_context for the rest", "ask knowledge show for the rest", ""},
		{`the whole place: get_full_context {"resultId":"k3vq7m2xabc"}`, "the whole place: knowledge show k3vq7m2xabc", ""},
		{"the whole place: knowledge show k3vq7m2xabc", "", `the whole place: get_full_context {"resultId":"k3vq7m2xabc"}`},
		{"try: knowledge search -n 3 --stores=a,b 'how is it done'", "",
			`try: search {"query":"how is it done","limit":3,"stores":["a","b"]}`},
		{"for one page alone set maxPages to 1", "for one page alone set --max-pages to 1", ""},
		{"name stores or pass [\"*\"]", "name stores or pass --stores '*'", ""},
		// Words that happen to be names, and paths, stay as they are.
		{"read the files and search again; see docs/stores.md", "", ""},
		{"write files, one of stores.json", "", ""},
		// What only a person may run stays a line for a shell.
		{"vouch for it: knowledge trust .knowledge/stores.json", "", ""},
		{"start: knowledge serve --addr 127.0.0.1:0", "", ""},
		{"a quote is open: knowledge files 'web", "", ""},
	} {
		shell, agent := tc.shell, tc.agent
		if shell == "" {
			shell = tc.written
		}
		if agent == "" {
			agent = tc.written
		}
		if got := product.Commands().ForShell(tc.written); got != shell {
			t.Errorf("for a shell %q is %q, want %q", tc.written, got, shell)
		}
		if got := product.Commands().ForAgent(tc.written); got != agent {
			t.Errorf("for an agent %q is %q, want %q", tc.written, got, agent)
		}
	}
}

// TestExamplesBothWays: every example of every command, as a call and as a
// line for a shell, means the same.
func TestExamplesBothWays(t *testing.T) {
	for _, c := range product.Commands().All() {
		for _, e := range c.Examples {
			call := c.Name
			if e != "{}" {
				call += " " + e
			}
			shell := command.CommandLine(c, e)
			if got := product.Commands().ForShell("run: " + call); got != "run: "+shell && e != "{}" {
				t.Errorf("%s\n got %s\nwant %s", call, got, shell)
			}
			if c.Audience != command.Agent {
				continue
			}
			got := product.Commands().ForAgent("run: " + shell)
			name, args, _ := strings.Cut(strings.TrimPrefix(got, "run: "), " ")
			if args == "" {
				args = "{}"
			}
			var a, b any
			if name != c.Name || json.Unmarshal([]byte(args), &a) != nil || json.Unmarshal([]byte(e), &b) != nil || printer.JSON(a) != printer.JSON(b) {
				t.Errorf("%s is %s for an agent, want %s", shell, got, call)
			}
		}
	}
}

// TestReader: Run words the hint of an error for who asks.
func TestReader(t *testing.T) {
	fails := command.New("x", "fails", command.Reads, func(context.Context, *app.App, struct{}) (string, error) {
		return "", kb.Errorf(kb.NotFound, "nothing is there").WithHint("list its paths with: files {\"store\":\"web\"}")
	})
	room := command.Room{Commands: func(table *command.Table) { table.Add("help", fails) }}
	c, _ := command.NewTable(append(product.Rooms(), room), product.Spoken()).Lookup("x")
	_, err := c.Run(context.Background(), nil, nil)
	if got := kb.HintOf(err); got != `list its paths with: files {"store":"web"}` {
		t.Error(got)
	}
	_, err = c.Run(command.FromCLI(context.Background()), nil, nil)
	if got := kb.HintOf(err); got != "list its paths with: knowledge files web" || kb.CodeOf(err) != kb.NotFound || err.Error() != "nothing is there" {
		t.Error(got, err)
	}
}

// agentsWords are what agents are told of tools and of JSON arguments; it
// helps nobody at a terminal.
var agentsWords = []string{"resultId", "get_full_context", "execute", "Use before grep", `["*"]`, `{"`, "jobId", "minRelevance", "activeOnly", "dryRun", "maxPages", "session_id", "the argument"}

// TestPeoplesWords: what commands say of themselves to a person is in words
// of the terminal.
func TestPeoplesWords(t *testing.T) {
	for _, c := range product.Commands().All() {
		says := c.ForPerson()
		texts := []string{says.Summary, says.Help}
		for _, p := range c.Params {
			texts = append(texts, p.ForPerson(), "--"+p.Flag())
			if strings.ToLower(p.Flag()) != p.Flag() || strings.Contains(p.Flag(), "_") {
				t.Errorf("%s: the flag --%s is not in kebab-case", c.Name, p.Flag())
			}
		}
		for _, text := range texts {
			for _, w := range agentsWords {
				if strings.Contains(text, w) && c.Name != "execute" {
					t.Errorf("%s tells a person of %s: %s", c.Name, w, text)
				}
			}
		}
	}
}

// TestWrittenHints reads every hint of the sources: as a person sees it, none
// is in words of agents.
func TestWrittenHints(t *testing.T) {
	n := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		// The HTTP servers speak to programs.
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "http") || strings.Contains(path, "mcpserver") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(x ast.Node) bool {
			call, ok := x.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "WithHint" {
				return true
			}
			lit, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				return true
			}
			hint, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			n++
			if strings.HasSuffix(path, "command/reading.go") {
				return true // reached by agents only, see runContext
			}
			// A call's arguments are values by the time the hint is read.
			hint = product.Commands().ForShell(strings.NewReplacer(`:%q`, `:"a"`, "%s", "a", "%d", "1").Replace(hint))
			for _, w := range agentsWords {
				// What stands in a file of the user's is JSON for them, too.
				if strings.Contains(hint, w) && !(w == `{"` && (strings.Contains(path, "restapi") || strings.Contains(path, "config") || strings.Contains(path, "definitions") || strings.Contains(path, "decode"))) {
					t.Errorf("%s: a person reads of %s: %s", path, w, hint)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 300 {
		t.Errorf("%d hints found: this test does not see them", n)
	}
}

// TestShorts: within a command a letter means one flag, and none of the
// letters that every command has.
func TestShorts(t *testing.T) {
	for _, c := range product.Commands().All() {
		seen := map[string]string{"h": "help", "q": "quiet", "j": "json", "C": "project", "v": "version"}
		for _, p := range c.Params {
			if p.Short == "" {
				continue
			}
			if other := seen[p.Short]; other != "" {
				t.Errorf("%s: -%s is --%s and --%s", c.Name, p.Short, other, p.Flag())
			}
			seen[p.Short] = p.Flag()
		}
	}
}
