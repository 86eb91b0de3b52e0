package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
)

// governed makes a project with a repository and evidence about it.
func (w *world) governed(name string) string {
	w.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		w.t.Skip("no git installed")
	}
	dir := w.dir(name)
	raw, err := os.ReadFile("../../internal/governance/evidence/testdata/golden.json")
	if err != nil {
		w.t.Fatal(err)
	}
	w.git(dir, "init", "-q", "-b", "feature/x")
	write(w.t, dir, "README.md", []byte("# demo\n"))
	write(w.t, dir, "apps/backend/src/a.ts", []byte("export function parseAmount(x: any): number {\n  return Number(x)\n}\n"))
	write(w.t, dir, ".ai_evidence.json", raw)
	w.git(dir, "add", "README.md")
	w.git(dir, "commit", "-qm", "first")
	w.git(dir, "branch", "old/merged")
	write(w.t, dir, "README.md", []byte("# demo, changed\n"))
	return dir
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"), "HOME=" + w.home, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v %s", args, err, out)
	}
	return string(out)
}

// get asks one of the two servers.
func (s *server) get(address string) (int, string) {
	s.t.Helper()
	res, err := http.Get(address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// envelope is what the enterprise server answers for a tool.
type envelope struct {
	Tool                      string
	DryRun, Executed, Success bool
	Warnings                  []string
	Result                    json.RawMessage
}

func (s *server) tool(body string) (int, envelope, map[string]json.RawMessage) {
	s.t.Helper()
	res, err := http.Post(s.enterprise+"/tool", "text/plain", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var e envelope
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(b, &keys); err != nil {
		s.t.Fatalf("%s: %v %s", body, err, b)
	}
	_ = json.Unmarshal(b, &e) // an error has other members
	return res.StatusCode, e, keys
}

// settled drops what the clock changes between two questions.
func settled(t *testing.T, text string) string {
	t.Helper()
	text = regexp.MustCompile(`"age_seconds":\d+|is stale \(\d+s`).ReplaceAllString(text, `"age_seconds":0`)
	var v any
	if err := json.Unmarshal([]byte(regexp.MustCompile(`Evidence "age_seconds":0`).ReplaceAllString(text, "Evidence ")), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEnvelopes: a capability answers the same through every envelope.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t).with("PUMUKI_SDD_BYPASS=1") // lets plans through the guard of the enterprise server
	dir := w.governed("project")
	s := w.serve(dir)
	agents := map[string]*agent{"legacy": w.agentOf(false, dir), "modern": w.agentOf(true, dir)}
	for _, tc := range []struct {
		command, args, evidence, tool, resource string
		words                                   []string
	}{
		{"evidence:status", `{}`, "/../status", "", "evidence://status", nil},
		{"evidence:summary", `{}`, "/summary", "", "evidence://summary", nil},
		{"evidence:snapshot", `{}`, "/snapshot", "", "evidence://snapshot", nil},
		{"evidence:findings", `{"severity":"ERROR","limit":1}`, "/findings?severity=error&limit=1", "", "", []string{"--severity", "ERROR", "--limit", "1"}},
		{"evidence:findings", `{"platform":"ios","limit":5,"offset":1}`, "/findings?platform=iOS&limit=5&offset=1", "", "", []string{"--platform", "ios", "--limit", "5", "--offset", "1"}},
		{"evidence:rulesets", `{"bundle":"ios","limit":2}`, "/rulesets?bundle=ios&limit=2", "", "", []string{"--bundle", "ios", "--limit", "2"}},
		{"evidence:platforms", `{"all":true,"limit":9}`, "/platforms?detectedOnly=no&limit=9", "", "", []string{"--all", "--limit", "9"}},
		{"evidence:ledger", `{"lastSeenAfter":"2026-01-01","limit":9}`, "/ledger?lastSeenAfter=2026-01-01&limit=9", "", "", []string{"--lastSeenAfter", "2026-01-01", "--limit", "9"}},
		{"gate:check", `{"stage":"PRE_WRITE"}`, "", `{"name":"ai_gate_check","args":{"stage":"PRE_WRITE"}}`, "", []string{"PRE_WRITE"}},
		{"gate:check", `{}`, "", `{"name":"ai_gate_check","dryRun":false}`, "", nil},
		{"ai_gate_check", `{"stage":"CI"}`, "", `{"name":"ai_gate_check","args":{"stage":"CI"}}`, "", []string{"--stage", "CI"}},
		{"sdd:status", `{"stage":"CI"}`, "", `{"name":"check_sdd_status","args":{"stage":"CI"}}`, "", []string{"CI"}},
		{"repo:validate", `{"stage":"PRE_PUSH"}`, "", `{"name":"validate_and_fix","args":{"stage":"PRE_PUSH"}}`, "", []string{"PRE_PUSH"}},
		{"repo:sync-plan", `{}`, "", `{"name":"sync_branches"}`, "", nil},
		{"repo:cleanup-plan", `{}`, "", `{"name":"cleanup_stale_branches"}`, "", nil},
		{"repo:state", `{}`, "", "", "gitflow://state", nil},
		{"repo:context", `{}`, "", "", "context://active", nil},
	} {
		got := map[string]string{}
		var raw json.RawMessage
		agents["legacy"].execute(&raw, tc.command, json.RawMessage(tc.args))
		got["execute"] = string(raw)
		status, body := s.post(tc.command, []byte(tc.args))
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", tc.command, status, body)
		}
		got["route"] = string(body)
		r := w.run(w.root, append(append([]string{tc.command, "--project", dir}, tc.words...), "--json")...)
		got["command line"] = r.out
		if blocked := strings.Contains(r.out, `"status":"BLOCKED"`); (r.status == 1) != blocked || r.status > 1 {
			t.Errorf("%s ends with status %d: %s", tc.command, r.status, r.err)
		}
		if tc.evidence != "" {
			status, body := s.get(strings.Replace(s.evidence+tc.evidence, "/ai-evidence/..", "", 1))
			if status != http.StatusOK {
				t.Fatalf("%s: %d %s", tc.evidence, status, body)
			}
			got["evidence server"] = body
		}
		if tc.tool != "" {
			status, e, _ := s.tool(tc.tool)
			if status != http.StatusOK || !e.DryRun {
				t.Fatalf("%s: %d %+v", tc.tool, status, e)
			}
			got["enterprise server"] = string(e.Result)
		}
		if tc.resource != "" {
			got["resource:read"] = w.must(w.root, "resource:read", tc.resource, "--project", dir, "--json")
			for era, a := range agents {
				var read struct {
					Contents []struct{ URI, MimeType, Text string }
				}
				a.request(&read, "resources/read", obj{"uri": tc.resource})
				if len(read.Contents) != 1 || read.Contents[0].URI != tc.resource {
					t.Fatalf("%s: %+v", tc.resource, read)
				}
				got["resource, "+era] = read.Contents[0].Text
			}
			if !strings.HasPrefix(tc.resource, "evidence://s") || tc.resource == "evidence://status" {
				_, body := s.get(s.enterprise + "/resource?uri=" + url.QueryEscape(tc.resource))
				var payload struct{ Payload json.RawMessage }
				if err := json.Unmarshal([]byte(body), &payload); err != nil {
					t.Fatal(err)
				}
				got["enterprise resource"] = string(payload.Payload)
			}
		}
		want := settled(t, got["execute"])
		for envelope, text := range got {
			if d := cmp.Diff(want, settled(t, text)); d != "" {
				t.Errorf("%s %s through %s (-execute +it)\n%s", tc.command, tc.args, envelope, d)
			}
		}
	}
}

// TestEvidenceInAnswers: open findings are counted in hits and shown in full.
func TestEvidenceInAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.governed("project")
	a := w.agent(dir)
	a.search(obj{"query": "parseAmount"}) // answers from what is ready after some seconds
	w.waitIdle()
	type found struct {
		Hits []struct {
			ID       string
			Findings int
		}
	}
	type place struct {
		Findings []struct {
			Rule     string `json:"ruleId"`
			Severity string
			Lines    []int
		}
	}
	ask := func() (r found, c place) {
		t.Helper()
		a.ask(&r, "search", obj{"query": "parseAmount"})
		if len(r.Hits) == 0 {
			t.Fatal("no hits")
		}
		a.ask(&c, "get_full_context", obj{"resultId": r.Hits[0].ID})
		return r, c
	}
	r, c := ask()
	if r.Hits[0].Findings != 1 {
		t.Fatalf("%+v", r)
	}
	if len(c.Findings) != 1 || c.Findings[0].Rule != "backend.avoid-explicit-any" || c.Findings[0].Severity != "ERROR" || len(c.Findings[0].Lines) != 1 {
		t.Errorf("%+v", c.Findings)
	}
	if err := os.Remove(filepath.Join(dir, ".ai_evidence.json")); err != nil {
		t.Fatal(err)
	}
	if r, c = ask(); r.Hits[0].Findings != 0 || len(c.Findings) != 0 {
		t.Errorf("no evidence: %+v %+v", r, c)
	}
	// A store of another folder with such a file has no findings here.
	if r := w.run(dir, "evidence:findings"); r.status != 3 || !strings.Contains(r.err, "no evidence file") {
		t.Errorf("%+v", r)
	}
}

// fingerprint hashes everything in a repository, git's own files included.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %s\n", p, info.Mode())
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%d %s %x\n", info.Size(), info.ModTime(), sha256.Sum256(raw))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// TestNothingIsChanged sends the enterprise server requests at random, most of
// them for tools that the original calls mutating and not as a dry run: refs,
// index, HEAD, configuration and work tree stay as they were to the byte.
func TestNothingIsChanged(t *testing.T) {
	t.Parallel()
	for _, bypass := range []string{"0", "1"} {
		w := newWorld(t).with("PUMUKI_SDD_BYPASS=" + bypass)
		dir := w.governed("project")
		upstream := w.dir("upstream")
		w.git(upstream, "init", "-q", "--bare")
		w.git(dir, "remote", "add", "origin", upstream)
		w.git(dir, "push", "-q", "-u", "origin", "feature/x")
		w.git(dir, "stash", "-q")
		w.git(dir, "commit", "-q", "--allow-empty", "-m", "second")
		before := fingerprint(t, dir) + fingerprint(t, upstream)
		s := w.serve(dir)
		r := rand.New(rand.NewSource(7))
		pick := func(list ...string) string { return list[r.Intn(len(list))] }
		for i := range 120 {
			name := pick("validate_and_fix", "sync_branches", "cleanup_stale_branches", "sync_branches", "cleanup_stale_branches", "ai_gate_check", "check_sdd_status", "nothing", "")
			args := pick(`{}`, `null`, `[]`, `{"stage":"CI"}`, `{"stage":"PRE_WRITE"}`, `{"stage":5}`, `{"stage":"nope"}`, `{"force":true,"branch":"main","execute":true}`, `"x"`)
			body := fmt.Sprintf(`{"name":%q,"dryRun":%s,"args":%s}`, name, pick("false", "true", "null", `"no"`, "0", "{}"), args)
			allowed := bypass == "1" && !strings.Contains(args, "5") && !strings.Contains(args, "nope") // no stage allows nothing
			if i%11 == 0 {
				body = pick("", "[]", "{}", "5", "null", `"x"`, "{bad", "true")
			}
			status, e, keys := s.tool(body)
			switch {
			case status == http.StatusOK:
				if len(keys) != 6 || e.Tool != name || !e.DryRun || e.Warnings == nil || len(e.Result) == 0 || keys["executed"] == nil || keys["success"] == nil {
					t.Errorf("%s: %s", body, keys)
				}
				if mutating := !strings.Contains(name, "check"); mutating && (e.Executed || e.Success != allowed) {
					t.Errorf("%s: %+v", body, e)
				}
			case status == http.StatusNotFound && keys["requestedTool"] != nil, status == http.StatusBadRequest:
			default:
				t.Errorf("%s: %d %s", body, status, keys)
			}
		}
		for _, path := range []string{"/status", "/resources", "/tools", "/resource?uri=context://active", "/resource?uri=gitflow://state"} {
			if status, body := s.get(s.enterprise + path); status != http.StatusOK {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
		for _, args := range [][]string{{"repo:sync-plan"}, {"repo:cleanup-plan"}, {"repo:validate"}, {"sdd:status"}, {"sdd:close"}, {"gate:check"}} {
			w.run(dir, args...)
		}
		if after := fingerprint(t, dir) + fingerprint(t, upstream); after != before {
			t.Errorf("something changed: %s", w.git(dir, "status", "--short", "--branch"))
		}
		if bypass == "1" {
			if _, e, _ := s.tool(`{"name":"sync_branches"}`); !bytes.Contains(e.Result, []byte("git push")) {
				t.Errorf("the plan: %s", e.Result)
			}
		}
	}
}

// TestGateInAHook: the exit status says it all, and a busy port stops nobody.
func TestGateInAHook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.governed("project")
	r := w.run(dir, "gate", "--stage", "PRE_COMMIT")
	if r.status != 1 || !strings.HasPrefix(r.out, "BLOCKED") || !strings.Contains(r.out, "EVIDENCE_STALE") || r.err != "" {
		t.Errorf("%+v", r)
	}
	if r := w.run(dir, "gate:check", "NEVER"); r.status != 2 {
		t.Errorf("%+v", r)
	}
	s := w.serve(dir)
	u, err := url.Parse(s.evidence)
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.with("KNOWLEDGE_EVIDENCE_PORT="+u.Port(), "PUMUKI_EVIDENCE_PORT=1").command(dir, "serve", "--addr", "127.0.0.1:0", "--no-enterprise")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	said := make([]byte, 4096)
	n := 0
	for !strings.Contains(string(said[:n]), "evidence:") || said[n-1] != '\n' {
		m, err := out.Read(said[n:])
		if err != nil {
			t.Fatalf("%v: %s", err, said[:n])
		}
		n += m
	}
	if text := string(said[:n]); !strings.Contains(text, "not served") || !strings.Contains(text, u.Host) || !strings.Contains(text, filepath.Base(dir)) || !strings.Contains(text, "--evidence-port") {
		t.Errorf("a busy port: %s", text)
	}
}

// TestTrustedOpenSpec: a program that came with the repository is run when a
// person has vouched for it, and until it changes.
func TestTrustedOpenSpec(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	w := newWorld(t)
	dir := w.governed("project")
	mark := filepath.Join(w.root, "ran")
	own := filepath.Join(dir, "node_modules", "openspec", "bin", "openspec.js")
	text := "#!/bin/sh\necho x >> '" + mark + "'\n[ \"$1\" = --version ] && { echo 1.2.0; exit; }\necho '{\"items\":[{\"id\":\"add-login\",\"valid\":true}]}'\n"
	put := func(text string) {
		t.Helper()
		write(t, dir, "node_modules/openspec/bin/openspec.js", []byte(text))
		if err := os.Chmod(own, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(text)
	w.dir("project/node_modules/.bin")
	w.dir("project/openspec/changes/add-login")
	if err := os.Symlink("../openspec/bin/openspec.js", filepath.Join(dir, "node_modules", ".bin", "openspec")); err != nil {
		t.Fatal(err)
	}
	a := w.agent(dir)
	decide := func(stage string) string {
		t.Helper()
		var e gate.Evaluation
		a.execute(&e, "sdd:status", obj{"stage": stage})
		return e.Decision.Code
	}
	if got := decide("CI"); got != gate.OpenSpecMissing {
		t.Errorf("nobody vouched: %s", got)
	}
	a.search(obj{"query": "parseAmount"})
	w.run(dir, "repo:context")
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("it was run")
	}
	w.vouch(dir, "node_modules/.bin/openspec")
	if got := decide("CI"); got != gate.SessionMissing {
		t.Errorf("a person vouched: %s", got)
	}
	var s gate.SessionStatus
	a.execute(&s, "sdd:open", obj{"change": "add-login"})
	if got := decide("CI"); got != gate.Allowed || !s.Valid {
		t.Errorf("open: %s %+v", got, s)
	}
	if got := strings.TrimSpace(w.git(dir, "config", "--local", "pumuki.sdd.session.change")); got != "add-login" {
		t.Errorf("git reads the change as %q", got)
	}
	put(text + "# more\n")
	if got := decide("PRE_WRITE"); got != gate.OpenSpecMissing {
		t.Errorf("it changed: %s", got)
	}
}
