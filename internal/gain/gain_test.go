package gain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// book writes the lines of one log. Every line follows the one before, unless
// it is told otherwise.
type book struct {
	b       strings.Builder
	n       int
	last    string
	folder  string
	version string
	extra   string // members of every line
}

func (w *book) line(typ, rest string, parent ...string) string {
	w.n++
	id := fmt.Sprintf("%s-%d", w.version, w.n)
	up := `"` + w.last + `"`
	if w.last == "" {
		up = "null"
	}
	if len(parent) > 0 {
		up = `"` + parent[0] + `"`
	}
	fmt.Fprintf(&w.b, `{"type":%q,"uuid":%q,"parentUuid":%s,"timestamp":"2026-11-20T10:%02d:%02dZ","sessionId":"s1","cwd":%q,"version":%q%s,%s}`+"\n",
		typ, id, up, w.n/60, w.n%60, w.folder, w.version, w.extra, rest)
	w.last = id
	return id
}

func (w *book) prompt(text string, parent ...string) string {
	return w.line("user", fmt.Sprintf(`"message":{"role":"user","content":%q}`, text), parent...)
}

func (w *book) says(msg, text string) string {
	return w.line("assistant", fmt.Sprintf(`"requestId":"r","message":{"id":%q,"role":"assistant","content":[{"type":"text","text":%q}],"usage":{"input_tokens":1,"cache_read_input_tokens":900,"output_tokens":99}}`, msg, text))
}

func (w *book) call(msg, id, name, input string) string {
	return w.line("assistant", fmt.Sprintf(`"message":{"id":%q,"content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}`, msg, id, name, input))
}

func (w *book) reply(id, content string, failed bool) string {
	return w.line("user", fmt.Sprintf(`"toolUseResult":{"stdout":"not what the model saw"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s,"is_error":%v}]}`, id, content, failed))
}

// put writes a file below a folder of logs.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func use(r []Kind, name string) Use {
	for _, k := range r {
		if k.Kind == name {
			return k.Use
		}
	}
	return Use{}
}

func counted(t *testing.T, dir string) Report {
	t.Helper()
	r, err := Count(context.Background(), request{folder: dir, sessions: 10})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Replies of known sizes.
var (
	hits   = "internal/a/one.go:L10-40 func One\n" + strings.Repeat("word ", 40)
	lines  = strings.Repeat("return nil\n", 30)
	places = strings.Repeat("a.go:3: x\n", 50)
)

func est(s string) int64 { return int64(tokens.Estimate(s)) }

// TestCount: one session of all kinds of calls. A response of several lines
// counts once, replies are carried by the responses after them, and what was compacted is
// not left.
func TestCount(t *testing.T) {
	w := &book{folder: "/home/me/app", version: "2.1.230"}
	w.prompt("how does it end?")
	w.says("m1", "I look.")
	w.call("m1", "c1", "mcp__plugin_knowledge_knowledge__search", `{"query":"end"}`)
	w.reply("c1", `[{"type":"text","text":`+quoted(hits)+`},{"type":"image","source":{}}]`, false)
	w.call("m2", "c2", "Read", `{"file_path":"/home/me/app/internal/a/one.go","offset":30,"limit":5}`)
	w.call("m2", "c3", "Grep", `{"pattern":"One"}`)
	w.reply("c2", quoted(lines), false)
	w.reply("c3", quoted(places), true)
	w.says("m3", "Done.")
	w.line("system", `"subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":1000}`)
	w.line("user", `"isCompactSummary":true,"message":{"role":"user","content":"all so far"}`)
	w.call("m4", "c4", "Bash", `{"command":"cd x && sed -n 1,9p a.go | head","description":"d"}`)
	w.reply("c4", quoted(lines), false)
	w.says("m5", "Done again.")
	w.call("m6", "c5", "Edit", `{"file_path":"x"}`)
	dir := t.TempDir()
	put(t, dir, "-home-me-app/s1.jsonl", w.b.String())
	r := counted(t, dir)

	in := func(name, input string) int64 { return est(name) + est(input) }
	want := []Kind{
		{Kind: "search", Use: Use{Calls: 1, Images: 1, In: in("mcp__plugin_knowledge_knowledge__search", `{"query":"end"}`),
			Out: est(hits), Chars: int64(len(hits)), Carried: 2 * est(hits)}},
		{Kind: "grep", Use: Use{Calls: 1, Failed: 1, In: in("Grep", `{"pattern":"One"}`), Out: est(places), Chars: int64(len(places)), Carried: est(places)}},
		{Kind: "read", Use: Use{Calls: 2, In: in("Read", `{"file_path":"/home/me/app/internal/a/one.go","offset":30,"limit":5}`) +
			in("Bash", `{"command":"cd x && sed -n 1,9p a.go | head","description":"d"}`),
			Out: 2 * est(lines), Chars: 2 * int64(len(lines)), Carried: 3 * est(lines), Left: est(lines)}},
		{Kind: "other", Use: Use{Calls: 1, Silent: 1, In: in("Edit", `{"file_path":"x"}`)}},
	}
	got := untooled(r.Total.Kinds)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("kinds (-want +got):\n%s", d)
	}
	if want := (After{Searches: 1, Greps: 1, Reads: 2, Again: 1}); r.Total.After != want {
		t.Errorf("after a search %+v, want %+v", r.Total.After, want)
	}
	if r.Total.Responses != 6 || r.Total.Prompts != 1 || r.Total.Compacted != 1 || r.Sessions[0].Window != 1000 {
		t.Errorf("%d responses, %d prompts, %d compactions, window %d", r.Total.Responses, r.Total.Prompts, r.Total.Compacted, r.Sessions[0].Window)
	}
	if r.Sessions[0].ID != "s1" || r.Projects[0].Project != "/home/me/app" || len(r.Skipped.Types)+len(r.Skipped.Fields)+len(r.Skipped.Blocks) != 0 {
		t.Errorf("session %q of %q, skipped %+v", r.Sessions[0].ID, r.Projects[0].Project, r.Skipped)
	}
}

// TestForks: lines that a fork has copied count once, and are in both windows.
func TestForks(t *testing.T) {
	w := &book{folder: "/p", version: "2.1.230"}
	w.prompt("a")
	w.call("m1", "c1", "Grep", `{"pattern":"x"}`)
	w.reply("c1", quoted(lines), false)
	w.says("m2", "b")
	first := w.b.String()
	w.prompt("go on")
	w.says("m3", "c")
	dir := t.TempDir()
	put(t, dir, "-p/a.jsonl", first)
	put(t, dir, "-p/b.jsonl", w.b.String())
	r := counted(t, dir)
	g := use(r.Total.Kinds, "grep")
	if g.Calls != 1 || g.Out != est(lines) || g.Carried != 2*est(lines) || g.Left != 2*est(lines) || r.Copies != 1 || r.Total.Responses != 3 {
		t.Errorf("%+v, %d copies, %d responses", g, r.Copies, r.Total.Responses)
	}
}

// TestBranches: words that somebody has written anew follow what the first had
// followed; what came of these has left the window, and its cost stays.
func TestBranches(t *testing.T) {
	w := &book{folder: "/p", version: "2.1.230"}
	start := w.prompt("a")
	w.call("m1", "c1", "Grep", `{"pattern":"x"}`)
	w.reply("c1", quoted(lines), false)
	before := w.says("m2", "b")
	w.prompt("one way")
	w.call("m3", "c2", "Read", `{"file_path":"f"}`)
	w.reply("c2", quoted(places), false)
	w.says("m4", "no")
	w.prompt("another way", before)
	w.says("m5", "yes")
	dir := t.TempDir()
	put(t, dir, "-p/a.jsonl", w.b.String())
	r := counted(t, dir)
	g, f := use(r.Total.Kinds, "grep"), use(r.Total.Kinds, "read")
	if g.Left != est(lines) || g.Carried != 4*est(lines) || f.Left != 0 || f.Carried != est(places) || f.Out != est(places) {
		t.Errorf("grep %+v, read %+v", g, f)
	}
	w.prompt("from the start", start)
	put(t, dir, "-p/a.jsonl", w.b.String())
	if g := use(counted(t, dir).Total.Kinds, "grep"); g.Left != 0 || g.Out != est(lines) {
		t.Errorf("from the start: grep %+v", g)
	}
}

// TestCleared: replies that a small compaction names have left the window.
func TestCleared(t *testing.T) {
	w := &book{folder: "/p", version: "2.1.230"}
	w.prompt("a")
	for _, id := range []string{"c1", "c2"} {
		w.call("m"+id, id, "Grep", `{"pattern":"x"}`)
		w.reply(id, quoted(lines), false)
	}
	w.line("system", `"subtype":"microcompact_boundary","microcompactMetadata":{"compactedToolIds":["c1","unknown"]}`)
	dir := t.TempDir()
	put(t, dir, "-p/a.jsonl", w.b.String())
	if g := use(counted(t, dir).Total.Kinds, "grep"); g.Left != est(lines) || g.Out != 2*est(lines) {
		t.Errorf("%+v", g)
	}
}

// TestAgents: what sub-agents have cost belongs to their session, in files of
// their own as in older forms, and nothing of it is left.
func TestAgents(t *testing.T) {
	agent := func(extra string) string {
		w := &book{folder: "/p", version: "agent", extra: extra}
		w.prompt("look")
		w.call("am1", "ac1", "mcp__knowledge__search", `{"query":"x"}`)
		w.reply("ac1", quoted(hits), false)
		w.says("am2", "found")
		return w.b.String()
	}
	main := &book{folder: "/p", version: "2.1.240"}
	main.prompt("a")
	main.call("m1", "c1", "Task", `{"prompt":"look"}`)
	parent := main.b.String()
	for name, files := range map[string]map[string]string{
		"beside":          {"-p/s1.jsonl": parent, "-p/s1/subagents/agent-7.jsonl": agent(`,"isSidechain":true,"agentId":"7"`), "-p/s1/subagents/journal.jsonl": "{}\n"},
		"in the folder":   {"-p/s1.jsonl": parent, "-p/agent-7.jsonl": agent(`,"isSidechain":true,"agentId":"7"`)},
		"within":          {"-p/s1.jsonl": parent + agent(`,"isSidechain":true`)},
		"within, with id": {"-p/s1.jsonl": parent + agent(`,"isSidechain":true,"agentId":"7"`)},
	} {
		dir := t.TempDir()
		for file, text := range files {
			put(t, dir, file, text)
		}
		r := counted(t, dir)
		k := use(r.Total.Kinds, "search")
		if k.Calls != 1 || k.Out != est(hits) || k.Carried != est(hits) || k.Left != 0 || r.Total.Agents != 1 || r.Total.Sessions != 1 {
			t.Errorf("%s: %+v, %d agents of %d sessions", name, k, r.Total.Agents, r.Total.Sessions)
		}
		if d := cmp.Diff([]Kind{{Kind: "search", Use: k}}, r.Subagents); d != "" {
			t.Errorf("%s: of sub-agents (-want +got):\n%s", name, d)
		}
	}
}

// TestDamage: what is not understood is counted, and costs nothing else.
func TestDamage(t *testing.T) {
	w := &book{folder: "/p", version: "9.0.0"}
	w.prompt("a")
	w.call("m1", "c1", "Grep", `{"pattern":"x"}`)
	w.reply("c1", quoted(lines), false)
	whole := w.b.String()
	w.b.Reset()
	for range 2 {
		w.line("thought", `"x":1`)
	}
	w.line("assistant", `"mood":"good","message":{"id":"m2","content":[{"type":"hologram"},{"type":"text","text":"x"},3]}`)
	w.line("user", `"message":"a string"`)
	w.line("user", `"message":{"content":7}`)
	w.line("user", `"message":{"content":[{"type":"tool_result","tool_use_id":"nobody","content":[{"type":"smell"}]}]}`)
	w.line("user", `"message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"twice"}]}`)
	w.line("summary", `"summary":"of no use"`)
	odd := w.b.String()
	for _, big := range []int{100, 17 << 20} {
		dir := t.TempDir()
		text := whole + "\x00\xff no JSON\nnull\n[]\n\n" + odd + `{"type":"user","message":{"content":"` + strings.Repeat("x", big) + "\"}}\n" + `{"type":"assistant","mess`
		put(t, dir, "-p/a.jsonl", text)
		put(t, dir, "-p/notes.txt", whole)
		put(t, dir, "-p/a/tool-results/t.jsonl", whole)
		r := counted(t, dir)
		if g := use(r.Total.Kinds, "grep"); g.Calls != 1 || g.Left != est(lines) || r.Files != 1 {
			t.Errorf("%+v of %d files", g, r.Files)
		}
		s := r.Skipped
		long := int64(0)
		if big > 16<<20 {
			long = 1
		}
		if s.Broken != 4 || s.Long != long || s.Lines != 16 {
			t.Errorf("%d lines, %d broken, %d long", s.Lines, s.Broken, s.Long)
		}
		if d := cmp.Diff([]map[string]int64{{"thought": 2}, {"mood": 1}, {"hologram": 1, "block": 1, "message": 1, "content": 1, "tool_result smell": 1}},
			[]map[string]int64{s.Types, s.Fields, s.Blocks}); d != "" {
			t.Errorf("skipped (-want +got):\n%s", d)
		}
	}
}

// TestWhich: sessions are chosen by when they were written to and by the
// folder that they were started in.
func TestWhich(t *testing.T) {
	dir := t.TempDir()
	for i, folder := range []string{"/p", "/p/sub", "/pq", "/old"} {
		w := &book{folder: folder, version: "2.1.230"}
		w.prompt("a")
		w.call("m"+folder, "c"+folder, "Glob", `{"pattern":"x"}`)
		put(t, dir, fmt.Sprintf("-x/%d.jsonl", i), w.b.String())
	}
	old := time.Now().Add(-90 * 24 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "-x", "3.jsonl"), old, old); err != nil {
		t.Fatal(err)
	}
	since := time.Now().Add(-30 * 24 * time.Hour)
	for _, tc := range []struct {
		q        request
		sessions int
		more     int
	}{
		{request{}, 4, 4}, {request{since: since, sessions: 2}, 3, 1}, {request{since: since, project: "/p", sessions: 9}, 2, 0}, {request{project: "/old"}, 1, 1},
	} {
		tc.q.folder = dir
		r, err := Count(context.Background(), tc.q)
		if err != nil || r.Total.Sessions != tc.sessions || r.More != tc.more || len(r.Sessions) != tc.sessions-tc.more {
			t.Errorf("%+v: %d sessions, %d listed, %v", tc.q, r.Total.Sessions, len(r.Sessions), err)
		}
	}
	_, err := Count(context.Background(), request{folder: dir, since: since, project: "/none"})
	if kb.CodeOf(err) != kb.NotFound || !strings.Contains(err.Error(), "in /none") || !strings.Contains(err.Error(), "4 files below "+dir) {
		t.Error(err)
	}
	_, err = Count(context.Background(), request{folder: filepath.Join(dir, "nowhere")})
	if kb.CodeOf(err) != kb.NotFound || !strings.Contains(err.Error(), filepath.Join(dir, "nowhere")) || !strings.Contains(kb.HintOf(err), "CLAUDE_CONFIG_DIR") {
		t.Error(err, kb.HintOf(err))
	}
}

// TestRun: the folder is that of the client, and times are written as people do.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"CLAUDE_CONFIG_DIR": dir}
	a, err := app.New(app.Config{DataDir: t.TempDir(), Dir: "/p", Project: "sub", Env: func(k string) string { return env[k] }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	w := &book{folder: filepath.Join(string(filepath.Separator), "p", "sub", "deep"), version: "2.1.230"}
	w.prompt("a")
	put(t, dir, "projects/-p-sub/1.jsonl", w.b.String())
	if r, err := run(context.Background(), a, gainIn{Since: "30d"}); err != nil || r.Total.Sessions != 1 {
		t.Error(r, err)
	}
	for _, since := range []string{"", "soon", "0d", "-3d", "5", "1y", "99999999999999d", "2026-13-01"} {
		if _, err := run(context.Background(), a, gainIn{Since: since}); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("since %q: %v", since, err)
		}
	}
	delete(env, "CLAUDE_CONFIG_DIR")
	if _, err := run(context.Background(), a, gainIn{Since: "30d"}); kb.CodeOf(err) != kb.Invalid {
		t.Error(err)
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{"30d": "2026-10-21T12:00:00Z", "12h": "2026-11-20T00:00:00Z", "2w": "2026-11-06T12:00:00Z", "2026-11-01": "2026-11-01T00:00:00Z"} {
		if got, err := sinceOf(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

// TestPrint: what is printed shows the figures and how they come about, and no
// word of a session.
func TestPrint(t *testing.T) {
	w := &book{folder: "/home/me/app", version: "2.1.230"}
	w.prompt("a secret prompt")
	w.call("m1", "c1", "mcp__knowledge__search", `{"query":"a secret query"}`)
	w.reply("c1", quoted("a secret reply "+hits), false)
	w.call("m2", "c2", "Bash", `{"command":"rg -n secret ."}`)
	w.reply("c2", quoted("secret\n"+places), false)
	w.says("m3", "a secret answer")
	w.line("hint", `"x":1`)
	dir := t.TempDir()
	put(t, dir, "-home-me-app/s1.jsonl", w.b.String())
	r := counted(t, dir)
	for _, terminal := range []bool{true, false} {
		var out, errs bytes.Buffer
		p := &printer.Printer{Out: visible.Writer{W: &out}, Aside: &printer.Printer{Out: visible.Writer{W: &errs}}, Terminal: terminal, Words: func(s string) string { return s }}
		printReport(p, r)
		all := out.String() + errs.String()
		wanted := []string{"/home/me/app", "Bash rg", "1 lines are of a sort that this program does not know (hint)"}
		if terminal {
			wanted = append(wanted, "a reply: out / calls with a reply: search ", "left: what was still in the windows of 1 session at their end: search ",
				"after 1 search of the product", "no savings", "written by Claude Code 2.1.230, read in "+dir)
		}
		for _, want := range wanted {
			if !strings.Contains(all, want) {
				t.Errorf("terminal %v: no %q in\n%s", terminal, want, all)
			}
		}
		if strings.Contains(all, "secret") || strings.Contains(printer.JSON(r), "secret") {
			t.Errorf("words of the session are shown:\n%s", all)
		}
		for l := range strings.Lines(out.String()) {
			if !terminal && strings.Count(l, "\t") != 8 {
				t.Errorf("%d fields in a pipe: %q", strings.Count(l, "\t")+1, l)
			}
		}
	}
}
