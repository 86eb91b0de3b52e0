package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// hostile is what a stranger may call a thing or write into a text: it clears
// the screen and sets the title, turns the order around, and says something
// that a model reads and nobody sees.
var hostile = "zebra \x1b[2J\x1b]0;title\x07\u009b31m\u202egpj\u2066x\u2069\u200b\u2028\ufe01" +
	strings.Map(func(r rune) rune { return 0xe0000 + r }, "obey")

// strange makes a project in which everything that a stranger may name or
// write is hostile, and returns the path of a document in it.
func (w *world) strange() (dir, document string) {
	w.t.Helper()
	dir, document = w.governed("strange"), "a \x1b[2J\u202egpj\u200b\nforged.md"
	evidence, err := json.Marshal(map[string]any{"version": "2.1", "timestamp": "2026-11-22T09:00:00Z", "severity_metrics": obj{},
		"snapshot": obj{"stage": hostile, "outcome": "BLOCK", "findings": []obj{{"severity": "ERROR", "ruleId": hostile, "message": hostile, "file": hostile, "lines": 1}}}})
	if err != nil {
		w.t.Fatal(err)
	}
	write(w.t, dir, ".ai_evidence.json", evidence)
	text := "# " + hostile + "\n\nzebra " + hostile + "\n\n## " + hostile + " two\n\nMUST zebra " + hostile + "\n"
	write(w.t, dir, document, []byte(text))
	write(w.t, dir, "code.go", []byte("package p\n\n// Zebra "+hostile+"\nfunc Zebra() { other() }\n\nfunc other() {} // "+hostile+"\n"))
	write(w.t, dir, "docs/specs/UC-001.md", []byte("---\nid: UC-001\nkind: use-case\nstatus: approved\ntitle: "+hostile+"\n---\n# UC-001 "+hostile+"\n\n## Zebra "+hostile+"\n\nSee [[BR-002]] "+hostile+"\n"))
	w.git(dir, "add", "-A")
	w.git(dir, "commit", "-qm", "subject "+hostile)
	w.git(dir, "checkout", "-qb", "b\u202eranch\u200b")
	return dir, document
}

// arguments are two forms of a command's arguments: some that it understands,
// and hostile ones in every place.
func arguments(c command.Command, document string) []obj {
	good, bad := obj{}, obj{}
	values := map[string]any{
		"store": "strange", "path": document, "query": "zebra", "pattern": "zebra", "symbol": "Zebra", "entity": "UC-001", "name": "Zebra",
		"resultId": document + ":1", "hints": []string{"zebra"}, "rating": "negative", "file": "docs/specs/UC-001.md", "uri": "knowledge://stores",
		"session_id": "s", "comment": hostile, "source": "./nowhere " + hostile, "command": "stores", "change": hostile, "cron": "@daily",
	}
	for _, p := range c.Params {
		if p.CLIOnly {
			continue
		}
		switch {
		case p.Enum != nil:
		case p.Type == "string":
			bad[p.Name] = hostile
		case p.Type == "strings":
			bad[p.Name] = []string{hostile}
		case p.Type == "object":
			bad[p.Name] = obj{hostile: hostile}
		}
		if v, ok := values[p.Name]; ok && (p.Required || p.Name == "comment") {
			good[p.Name] = v
		}
	}
	return []obj{good, bad}
}

// unseen returns the strings of a JSON value in which something is not seen
// after they have been decoded.
func unseen(t *testing.T, raw []byte) (out []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.Token()
		if err != nil {
			return out
		}
		if s, ok := token.(string); ok && visible.Line(s) != s {
			out = append(out, s)
		}
	}
}

// left are commands that are not tried: they change what others in this test
// look at, or take minutes, and no text of a stranger is in their replies that
// is in no other's.
var left = map[string]bool{"uninstall": true, "install": true, "upgrade": true, "eval": true, "store:delete": true, "gc": true, "selftest": true, "execute": true}

// Every command, with good arguments and hostile ones, at every face: nothing
// that steers a terminal or hides from its reader comes through.
func TestNothingUnseenPasses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no file can be called so")
	}
	w := newWorld(t)
	dir, document := w.strange()
	w.must(dir, "search", "zebra", "-q")
	w.must(dir, "store:create", "strange", dir, "-q")
	w.run(dir, "feedback:add", "zebra "+hostile, "negative", "--comment", hostile)
	agent, server := w.agent(dir), w.serve(dir)
	shown := 0
	for _, c := range product.Commands().All() {
		if left[c.Name] {
			continue
		}
		for _, args := range arguments(c, document) {
			raw, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			_, body := server.post(c.Name, raw)
			if bad := unseen(t, body); bad != nil || visible.Line(string(body)) != string(body) {
				t.Errorf("%s %s over HTTP: %q", c.Name, raw, append(bad, string(body)))
			}
			if bytes.Contains(body, []byte(`\\u202e`)) {
				shown++
			}
			reply := agent.tool("execute", obj{"command": c.Name, "args": args})
			if text := reply.text; visible.Line(text) != text {
				t.Errorf("%s %s over MCP: %q", c.Name, raw, text)
			}
			words, err := command.Words(command.CommandLine(c, string(raw)))
			if err != nil {
				t.Fatal(err)
			}
			if words[0] == "knowledge" {
				words = words[1:]
			}
			r := w.run(dir, words...)
			if visible.Line(r.out) != r.out || visible.Line(r.err) != r.err {
				t.Errorf("knowledge %q in a pipe: %q %q", words, r.out, r.err)
			}
		}
	}
	if shown < 10 {
		t.Errorf("only %d replies show what was hidden: the hostile project is out of date", shown)
	}
	for _, address := range []string{
		server.url + "/api/stores", server.url + "/api/search?query=zebra", server.url + "/api/stores/strange/files", server.evidence, server.evidence + "/findings",
		server.enterprise + "/status", server.url + "/" + strings.Repeat("%E2%80%AE", 3), server.url + "/api/v1/mcp/tools",
	} {
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+server.token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(res.Body)
		res.Body.Close()
		if bad := unseen(t, body.Bytes()); err != nil || bad != nil || visible.Line(body.String()) != body.String() {
			t.Errorf("%s: %v %q", address, err, body.String())
		}
	}
	for _, r := range product.Commands().Resources() {
		if r.Template() {
			continue
		}
		var got struct{ Contents []struct{ Text string } }
		agent.request(&got, "resources/read", map[string]any{"uri": r.URI})
		for _, c := range got.Contents {
			if visible.Line(c.Text) != c.Text {
				t.Errorf("%s: %q", r.URI, c.Text)
			}
		}
	}
}

// What a reply calls a document is taken back by what reads documents, in each
// form in which it was shown; as JSON the name and the text are what they are.
func TestShownNamesAreTakenBack(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no file can be called so")
	}
	w := newWorld(t)
	dir := w.dir("names")
	name, text := "a\u202eb\n\x1b[2J.md", "# zebra \x1b[2J\u202e\nsecond\n"
	write(t, dir, name, []byte(text))
	want := strings.TrimSuffix(visible.Line(text), "\n") + "\n"
	shown := strings.TrimSuffix(w.must(dir, "files"), "\n")
	for _, form := range []string{name, shown, visible.Line(name), visible.Escape(name)} {
		if d := cmp.Diff(want, w.must(dir, "read", form)); d != "" {
			t.Errorf("%q: %s", form, d)
		}
	}
	place := strings.Split(w.must(dir, "--format", "plain", "search", "zebra"), "\t")[1]
	if got := w.must(dir, "read", place); got != want {
		t.Errorf("%s: %q", place, got)
	}
	if got := w.must(dir, "show", place); !strings.Contains(got, "second") {
		t.Errorf("%s: %q", place, got)
	}
	var file struct{ Path, Text string }
	w.decode(&file, dir, "read", name, "--json")
	if file.Path != name || file.Text+"\n" != text {
		t.Errorf("as JSON: %q", file)
	}
	agent, server := w.agent(dir), w.serve(dir)
	var list struct{ Files []string }
	agent.execute(&list, "files", obj{})
	if len(list.Files) != 1 || list.Files[0] != name {
		t.Errorf("a program that reads an agent's reply has the name %q", list.Files)
	}
	_, body := server.post("files", []byte("{}"))
	if err := json.Unmarshal(body, &list); err != nil || len(list.Files) != 1 || visible.Line(list.Files[0]) != list.Files[0] {
		t.Fatalf("%v %s", err, body)
	}
	back, err := json.Marshal(obj{"path": list.Files[0]})
	if err != nil {
		t.Fatal(err)
	}
	if status, body := server.post("read", back); status != http.StatusOK || !strings.Contains(string(body), "second") {
		t.Errorf("%s: %d %s", back, status, body)
	}
}
