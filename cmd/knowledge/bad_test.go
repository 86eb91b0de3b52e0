package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// server is `knowledge serve` on ports of its own.
type server struct {
	t                    testing.TB
	url, token           string
	evidence, enterprise string // addresses of the two servers beside
}

func (w *world) serve(project string) *server {
	w.t.Helper()
	cmd := w.command(w.root, "serve", "--addr", "127.0.0.1:0", "--evidence-port", "0", "--enterprise-port", "0", "--project", project)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if cmd.Process.Signal(interrupt) != nil {
			cmd.Process.Kill()
		}
		late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		err := cmd.Wait()
		if !late.Stop() || interruptible && err != nil || defect.Match(said.Bytes()) {
			w.t.Errorf("serve does not end well: %v: %s", err, said.String())
		}
	})
	s := &server{t: w.t}
	lines := bufio.NewReader(out)
	for _, what := range []string{"", "evidence: ", "enterprise: "} {
		line, err := lines.ReadString('\n')
		if err != nil {
			w.t.Fatalf("serve says nothing: %v: %s", err, said.String())
		}
		line, ok := strings.CutPrefix(strings.TrimSpace(line), what)
		switch what {
		case "":
			s.url, s.token, ok = strings.Cut(line, "/#token=")
		case "evidence: ":
			s.evidence = line
		default:
			s.enterprise = line
		}
		if !ok {
			w.t.Fatalf("serve says %q", line)
		}
	}
	return s
}

// post runs a command and returns the status and the body.
func (s *server) post(name string, body []byte) (int, []byte) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.url+"/api/commands/"+name, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, b
}

// run runs a command that must succeed.
func (s *server) run(v any, name string, args obj) {
	s.t.Helper()
	body, _ := json.Marshal(args)
	status, b := s.post(name, body)
	if status != http.StatusOK {
		s.t.Fatalf("%s %v: %d %s", name, args, status, b)
	}
	if err := json.Unmarshal(b, v); err != nil {
		s.t.Fatal(err)
	}
}

// httpStatus is what an error's code becomes over HTTP.
var httpStatus = map[kb.Code]int{
	kb.Invalid: 400, kb.NotFound: 404, kb.Exists: 409, kb.Denied: 403, kb.TooLarge: 413, kb.Unsupported: 501, kb.Away: 503, kb.Full: 507,
}

// failed checks a failure in each face: the status and two plain sentences.
func failedCLI(t testing.TB, name string, r result, code kb.Code) {
	t.Helper()
	if want := command.ExitStatus(kb.Errorf(code, "x")); r.status != want || r.out != "" {
		t.Errorf("%s: status %d, want %d; output %.200q, error %.500q", name, r.status, want, r.out, r.err)
	}
	said := lines(r.err)
	message, ok := strings.CutPrefix(said[0], "knowledge: ")
	hint, indented := strings.CutPrefix(said[len(said)-1], "  ")
	if len(said) != 2 || !ok || !indented {
		t.Errorf("%s: not a line of cause and one of hint: %.500q", name, r.err)
		return
	}
	plainParts(t, name, message, hint)
}

func failedMCP(t testing.TB, name string, c call) {
	t.Helper()
	if !c.isError {
		t.Errorf("%s: no error but %.300q", name, c.text)
		return
	}
	plainly(t, name, c.text)
}

func failedHTTP(t testing.TB, name string, status int, body []byte, code kb.Code) {
	t.Helper()
	var f struct {
		Error struct {
			Code          kb.Code
			Message, Hint string
		}
	}
	if err := json.Unmarshal(body, &f); err != nil || f.Error.Code != code || status != httpStatus[code] {
		t.Errorf("%s: status %d, want %d and code %s: %.500s", name, status, httpStatus[code], code, body)
	}
	plainParts(t, name, f.Error.Message, f.Error.Hint)
}

// TestBadInput: whatever is asked in whichever face, the answer to what makes
// no sense is one plain sentence and a hint, and nothing is lost.
func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("tree"), w.dir("project")
	goSources(t, "sort").and(oddities()).write(t, dir)
	a := w.agent(project)
	a.index("store:create", obj{"name": "tree", "source": dir})
	s := w.serve(project)
	file := dir + "/odd/one.sh"

	type face string
	const (
		cli  face = "cli"
		mcp  face = "mcp"
		http face = "http"
	)
	for _, x := range []struct {
		name    string
		command string
		args    obj
		words   []string // the same as a command line; nil has none
		code    kb.Code
		in      map[face]kb.Code // where another code is right
	}{
		{"unknown command", "serch", obj{"query": "x"}, []string{"serch", "x"}, kb.NotFound, map[face]kb.Code{cli: kb.Invalid}},
		{"unknown group", "store:destroy", obj{}, []string{"store", "destroy"}, kb.NotFound, map[face]kb.Code{cli: kb.Invalid}},
		{"misspelt argument", "search", obj{"query": "sort", "limt": 3}, []string{"search", "sort", "--limt", "3"}, kb.Invalid, nil},
		{"misspelt argument of files", "files", obj{"store": "tree", "golb": "*"}, []string{"files", "tree", "--golb", "*"}, kb.Invalid, nil},
		{"wrong type", "search", obj{"query": "sort", "limit": "many"}, []string{"search", "sort", "--limit", "many"}, kb.Invalid, nil},
		{"list for a number", "search", obj{"query": "sort", "limit": []int{1}}, nil, kb.Invalid, nil},
		{"object for a word", "search", obj{"query": obj{"a": 1}}, nil, kb.Invalid, nil},
		{"number for a list", "search", obj{"query": "sort", "stores": 7}, nil, kb.Invalid, nil},
		{"fraction", "search", obj{"query": "sort", "limit": 1.5}, []string{"search", "sort", "--limit", "1.5"}, kb.Invalid, nil},
		{"limit too large", "search", obj{"query": "sort", "limit": 1000}, []string{"search", "sort", "--limit", "1000"}, kb.Invalid, nil},
		{"threshold", "search", obj{"query": "sort", "threshold": 7}, []string{"search", "sort", "--threshold", "7"}, kb.Invalid, nil},
		{"unknown mode", "search", obj{"query": "sort", "mode": "hybird"}, []string{"search", "sort", "--mode", "hybird"}, kb.Invalid, nil},
		{"missing store", "search", obj{"query": "sort", "stores": []string{"tere"}}, []string{"search", "sort", "--stores", "tere"}, kb.NotFound, nil},
		{"missing store of files", "files", obj{"store": "tere"}, []string{"files", "tere"}, kb.NotFound, nil},
		{"missing store of delete", "store:delete", obj{"store": "tere"}, []string{"store:delete", "tere"}, kb.NotFound, nil},
		{"missing document", "read", obj{"store": "tree", "path": "sort/sotr.go"}, []string{"read", "tree", "sort/sotr.go"}, kb.NotFound, nil},
		{"path that leads out", "read", obj{"store": "tree", "path": "../home/x"}, []string{"read", "tree", "../home/x"}, kb.NotFound, nil},
		{"lines beyond the end", "read", obj{"store": "tree", "path": "odd/one.sh", "lines": "900-"}, []string{"read", "tree", "odd/one.sh", "--lines", "900-"}, kb.Invalid, nil},
		{"no lines", "read", obj{"store": "tree", "path": "odd/one.sh", "lines": "x"}, []string{"read", "tree", "odd/one.sh", "--lines", "x"}, kb.Invalid, nil},
		{"missing argument", "read", obj{"store": "tree"}, []string{"read"}, kb.Invalid, nil},
		{"empty query", "search", obj{"query": ""}, []string{"search", ""}, kb.Invalid, nil},
		{"blank query", "search", obj{"query": " \n\t"}, []string{"search", "  "}, kb.Invalid, nil},
		{"query of signs", "search", obj{"query": "?!"}, []string{"search", "?!"}, kb.Invalid, nil},
		{"no result id", "get_full_context", obj{"resultId": "hello"}, []string{"show", "hello"}, kb.Invalid, nil},
		{"unknown result id", "get_full_context", obj{"resultId": "aaaaaaaaaaa"}, []string{"show", "aaaaaaaaaaa"}, kb.NotFound, nil},
		{"broken pattern", "grep", obj{"store": "tree", "pattern": "(a"}, []string{"grep", "tree", "(a"}, kb.Invalid, nil},
		{"broken glob", "files", obj{"store": "tree", "glob": "[a"}, []string{"files", "tree", "--glob", "[a"}, kb.Invalid, nil},
		{"missing job", "job:status", obj{"jobId": "zzzzzzzz"}, []string{"job:status", "zzzzzzzz"}, kb.NotFound, nil},
		{"cancel of a missing job", "job:cancel", obj{"jobId": "zzzzzzzz"}, []string{"job:cancel", "zzzzzzzz"}, kb.NotFound, nil},
		{"missing folder", "store:create", obj{"name": "n", "source": dir + "/nowhere"}, []string{"store:create", "n", dir + "/nowhere"}, kb.NotFound, nil},
		{"file for a folder", "store:create", obj{"name": "n", "source": file}, []string{"store:create", "n", file}, kb.Invalid, nil},
		{"folder for a repository", "store:create", obj{"name": "n", "type": "repo", "source": dir}, []string{"store:create", "n", dir, "--type", "repo"}, kb.NotFound, nil},
		{"name that is none", "store:create", obj{"name": "a b/c", "source": dir}, []string{"store:create", "a b/c", dir}, kb.Invalid, nil},
		{"branch of a folder", "store:create", obj{"name": "n", "source": dir, "branch": "main"}, []string{"store:create", "n", dir, "--branch", "main"}, kb.Invalid, nil},
		{"branch and tag", "store:create", obj{"name": "n", "source": "https://example.org/x", "branch": "a", "tag": "b"}, []string{"store:create", "n", "https://example.org/x", "--branch", "a", "--tag", "b"}, kb.Invalid, nil},
		{"transport", "store:create", obj{"name": "n", "source": "ext::sh -c id"}, []string{"store:create", "n", "ext::sh -c id"}, kb.Invalid, nil},
		{"plain http", "store:create", obj{"name": "n", "source": "http://example.org/x"}, []string{"store:create", "n", "http://example.org/x"}, kb.Invalid, nil},
		{"password", "store:create", obj{"name": "n", "source": "https://me:hush@example.org/x"}, []string{"store:create", "n", "https://me:hush@example.org/x"}, kb.Invalid, nil},
		{"web page of this machine", "store:create", obj{"name": "n", "type": "web", "source": "http://127.0.0.1:8080/"}, []string{"store:create", "n", "http://127.0.0.1:8080/", "--type", "web"}, kb.Denied, nil},
		{"no web page", "store:create", obj{"name": "n", "type": "web", "source": "ftp://example.org/"}, []string{"store:create", "n", "ftp://example.org/", "--type", "web"}, kb.Invalid, nil},
		{"person's command", "trust", obj{"path": "x"}, nil, kb.Denied, nil},
		{"person's argument", "search", obj{"query": "sort", "yes": true}, nil, kb.Denied, nil},
	} {
		code := func(f face) kb.Code {
			if c, ok := x.in[f]; ok {
				return c
			}
			return x.code
		}
		if x.words != nil {
			failedCLI(t, x.name+", command line", w.run(project, append([]string{"--project", project}, x.words...)...), code(cli))
		}
		tool, arg := "execute", obj{"command": x.command, "args": x.args}
		if x.command == "search" || x.command == "get_full_context" {
			tool, arg = x.command, x.args
		}
		failedMCP(t, x.name+", MCP", a.tool(tool, arg))
		body, _ := json.Marshal(x.args)
		status, b := s.post(x.command, body)
		failedHTTP(t, x.name+", HTTP", status, b, code(http))
		if strings.Contains(string(b), "hush") {
			t.Errorf("%s: the password is repeated: %s", x.name, b)
		}
	}
	// What is no request at all.
	for name, body := range map[string]string{"no JSON": "{", "a list": "[1]", "a word": `"sort"`} {
		status, b := s.post("search", []byte(body))
		failedHTTP(t, name, status, b, kb.Invalid)
	}
	status, b := s.post("search", []byte(`{"query":"`+strings.Repeat("x", 2<<20)+`"}`))
	failedHTTP(t, "2 MB body", status, b, kb.TooLarge)
	// A long query is cut, on every face.
	long := strings.Repeat("sort ", 100_000)
	if c := a.tool("search", obj{"query": long}); c.isError || !strings.Contains(c.text, "64 KiB") {
		t.Errorf("long query, MCP: %.300q", c.text)
	}
	if status, b := s.post("search", []byte(`{"query":"`+long+`"}`)); status != 200 {
		t.Errorf("long query, HTTP: %d %.300q", status, b)
	}
	failedMCP(t, "arguments that are a list", a.tool("search", []string{"sort"}))
	failedMCP(t, "no arguments", a.tool("search", nil))

	// Everything is as it was.
	var list app.StoreList
	s.run(&list, "stores", obj{})
	for _, st := range list.Stores {
		if st.Status != "ready" || st.Scope != "own" && st.Name != "tree" {
			t.Errorf("stores: %+v", list)
		}
	}
	for name, n := range map[string]int{
		"mcp": len(a.search(obj{"query": "quokka sleeps"}).Hits),
		"http": func() int {
			var r find.SearchReply
			s.run(&r, "search", obj{"query": "quokka sleeps"})
			return len(r.Hits)
		}(),
		"cli": strings.Count(w.must(project, "--project", project, "--format", "plain", "search", "quokka", "sleeps", "--stores", "tree"), "\n"),
	} {
		if n == 0 {
			t.Errorf("%s finds nothing any more", name)
		}
	}
}

// TestBadContent: files that are no text are indexed as what they may be or
// counted, and keep no other from being found.
func TestBadContent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.dir("tree")
	write(t, dir, "latin.md", []byte("# Stra\xdfe\n\nder K\xe4se und die zanzibar Br\xfccke\n"))
	write(t, dir, "broken.txt", []byte("zanzibar \xff\xfe\xfa\x81 broken\n"))
	write(t, dir, "utf16.txt", []byte("\xff\xfez\x00a\x00n\x00z\x00i\x00b\x00a\x00r\x00\n\x00"))
	write(t, dir, "nul.txt", []byte("zanzibar \x00 binary\n"))
	write(t, dir, "bom.md", []byte("\xef\xbb\xbf# Zanzibar\n\nwith a byte order mark\n"))
	write(t, dir, "good.md", []byte("# Zanzibar\n\ngood\n"))
	a := w.agent(w.dir("project"))
	_, j := a.index("store:create", obj{"name": "tree", "source": dir})
	var info app.StoreInfo
	a.execute(&info, "store:info", obj{"store": "tree"})
	skipped := 0
	for _, n := range info.Skipped {
		skipped += n
	}
	if info.Documents+skipped != 6 || info.Documents < 4 || j.State != kb.JobCompleted {
		t.Errorf("%d documents and %v of 6 files", info.Documents, info.Skipped)
	}
	r := a.search(obj{"query": "zanzibar Brücke"})
	if len(r.Hits) == 0 || !strings.HasPrefix(r.Hits[0].At, "latin.md:") {
		t.Errorf("%+v", r.Hits)
	} else if c := a.show(r.Hits[0].ID); !strings.Contains(c.Code, "der Käse und die zanzibar Brücke") {
		t.Errorf("windows-1252 is shown as %q", c.Code)
	}
	if r := a.search(obj{"query": "zanzibar", "mode": "fts"}); len(r.Hits) != info.Documents {
		t.Errorf("%d of %d documents are found: %+v", len(r.Hits), info.Documents, r.Hits)
	}
}

// TestDeadServer: a repository that does not answer fails its job soon and
// plainly, in every face.
func TestDeadServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("tree"), w.dir("project")
	oddities().write(t, dir)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	source := "http://" + ln.Addr().String() + "/team/repo"
	ln.Close()
	w.opens(source)
	a := w.agent(project)
	a.index("store:create", obj{"name": "tree", "source": dir})
	began := time.Now()
	failedCLI(t, "dead server, command line", w.run(project, "--project", project, "store:create", "dead", source), kb.Away)
	t.Logf("said after %v", time.Since(began))
	s := w.serve(project)
	for _, name := range []string{"MCP", "HTTP"} {
		var started app.Started
		if name == "MCP" {
			a.execute(&started, "store:create", obj{"name": "dead", "source": source})
		} else {
			s.run(&started, "store:create", obj{"name": "dead", "source": source})
		}
		j := a.wait(started.Job)
		if j.State != kb.JobFailed {
			t.Errorf("%s: %+v", name, j)
		}
		plainParts(t, "dead server, "+name, j.Message, j.Hint)
		s.run(&j, "job:status", obj{"jobId": started.Job})
		plainParts(t, "dead server, job over HTTP", j.Message, j.Hint)
	}
	failedMCP(t, "files of a store that never was indexed", a.tool("execute", obj{"command": "files", "args": obj{"store": "dead"}}))
	r := a.search(obj{"query": "quokka sleeps"})
	if len(r.Hits) == 0 || strings.Contains(strings.Join(r.Notes, " "), "dead") {
		t.Errorf("a store that failed hides the others, or is still told of: %+v", r)
	}
}
