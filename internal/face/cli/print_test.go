package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// show prints a result as a session would.
func show(t *testing.T, terminal, json bool, result any) (stdout, stderr string) {
	t.Helper()
	return showIn(t, colourless, terminal, json, result)
}

func showIn(t *testing.T, env func(string) string, terminal, json bool, result any) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	s := newSession(Faces{}, Env{Stdout: &out, Stderr: &errs, Terminal: terminal, Getenv: env})
	s.json = json
	if err := s.print(result); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String()
}

// colourless is an environment in which nothing is coloured.
func colourless(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }

var reply = find.SearchReply{
	Hits: []find.Hit{
		{ID: "abcdefgh123", Store: "go@1234567", At: "net/http/server.go:L98-L100", Symbol: "Server.Serve", Score: 0.8712,
			Line: 98, Code: "func (s *Server) Serve() {\n\tfor {\n", Note: "changed since indexing",
			Explain: map[string]float64{"bm25": .5, "symbol": .37}},
		{ID: "bbcdefgh123", Store: "notes", At: "a\tb.md:L1-L2", Score: 0.1, Line: 1, Code: "\x1b[2Jtitle"},
	},
	Count: 2, Confidence: "high", Ms: 3.2, Notes: []string{"store \"x\" is being indexed"},
}

func TestPrint(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	stores := app.StoreList{Stores: []app.StoreRow{
		{Name: "react", ID: "id1", Kind: kb.KindRepo, Source: "https://example.org/react", Ref: "tag:v1", Commit: "0123456789abcdef",
			Status: "ready", Documents: 12, Chunks: 340, Scope: "project", Indexed: at},
		{Name: "n", ID: "id2", Kind: kb.KindFolder, Source: "/n", Status: "empty", Scope: "user"},
	}}
	jobs := app.JobList{Jobs: []kb.Job{{ID: "j1", Type: "index", Store: "id1", State: kb.JobFailed, Message: "no\nsuch host",
		Progress: kb.Progress{Phase: "clone", Done: 3, Total: 10}, Updated: at}}}
	for _, tc := range []struct {
		name           string
		terminal       bool
		result         any
		stdout, stderr string
	}{
		{"hits in a pipe", false, reply,
			"abcdefgh123\tnet/http/server.go:L98-L100\t0.871\tServer.Serve\tgo@1234567\tchanged since indexing\n" +
				"bbcdefgh123\t\"a\\tb.md:L1-L2\"\t0.100\t\tnotes\t\n",
			"note: store \"x\" is being indexed\n"},
		{"hits on a terminal", true, reply,
			"net/http/server.go:98-100  Server.Serve  0.87  go@1234567  abcdefgh123\n" +
				"    note: changed since indexing\n" +
				"     98  func (s *Server) Serve() {\n" +
				"     99  \tfor {\n" +
				"    100\n" +
				"    score: bm25 +0.500, symbol +0.370\n" +
				"\n" +
				"\"a\\tb.md:1-2\"  0.10  notes  bbcdefgh123\n" +
				"    1  \\u001b[2Jtitle\n" +
				"\n" +
				"2 hits, confidence high, 3 ms; the whole place: knowledge show ID\n" +
				"note: store \"x\" is being indexed\n", ""},
		{"no hits in a pipe", false, find.SearchReply{Notes: []string{"n"}}, "", "note: n\n"},
		{"no hits on a terminal", true, find.SearchReply{Notes: []string{"n"}}, "nothing found\nnote: n\n", ""},
		{"place", true, find.Context{ID: "abcdefgh123", Store: "go", Commit: "0123456789", At: "a.go:L9-L10", Path: "a.go", Start: 9, End: 10,
			Symbol: "F", Kind: "function", Code: "func F() {\n}", Next: "abcdefgh123.2",
			Related: []find.Related{{ID: "x", At: "b.go:L1-L2", Symbol: "G", Why: "same file"}}},
			"a.go:9-10  F  function  go@0123456  abcdefgh123\n\n" +
				" 9  func F() {\n10  }\n\nsee b.go:1-2  G  x  (same file)\n\ngoes on: knowledge show abcdefgh123.2\n", ""},
		{"stores in a pipe", false, stores,
			"react\trepo\t12\t340\tready\tproject\t0123456\thttps://example.org/react (tag:v1)\tid1\n" +
				"n\tfolder\t0\t0\tempty\tuser\t\t/n\tid2\n", ""},
		{"stores on a terminal", true, stores,
			"NAME   TYPE    DOCUMENTS  CHUNKS  STATUS  SCOPE    COMMIT   SOURCE                              ID\n" +
				"react  repo    12         340     ready   project  0123456  https://example.org/react (tag:v1)  id1\n" +
				"n      folder  0          0       empty   user              /n                                  id2\n", ""},
		{"no stores", true, app.StoreList{Note: "none yet"}, "note: none yet\n", ""},
		{"jobs in a pipe", false, jobs, "j1\tindex\tid1\tfailed\t3/10\t2026-01-02T03:04:05Z\tno such host\n", ""},
		{"job", false, jobs.Jobs[0],
			"job\tj1\ntype\tindex\nstore\tid1\nstatus\tfailed\nphase\tclone\nprogress\t3/10\nmessage\tno such host\nupdated\t2026-01-02T03:04:05Z\n", ""},
		{"store", false, app.StoreInfo{StoreRow: stores.Stores[0], TextBytes: 20 << 20, IndexBytes: 11 << 10, Segments: 2, Generation: 3,
			Languages: map[string]int{"go": 9, "markdown": 3}, Notes: []string{"fell back to git"}},
			"name\treact\nid\tid1\ntype\trepo\nsource\thttps://example.org/react\nref\ttag:v1\ncommit\t0123456789abcdef\nscope\tproject\n" +
				"status\tready\ndocuments\t12\nchunks\t340\ntext\t20 MiB\nindex\t11 KiB\non disk\t0 B\nsegments\t2\ngeneration\t3\n" +
				"indexed\t2026-01-02T03:04:05Z\nlanguages\tgo 9, markdown 3\n", "note: fell back to git\n"},
		{"started on a terminal", true, app.Started{Store: "react", ID: "id1", Job: "j1", Status: "completed", Note: "12 documents"},
			"react: completed. 12 documents\n", ""},
		{"started in a pipe", false, app.Started{Store: "react", ID: "id1", Job: "j1", Status: "completed"}, "react\tid1\tj1\tcompleted\n", ""},
		{"deleted", false, app.Deleted{Store: "react", UsedBy: []string{"/p", "/q"}},
			"store\treact\nindex\tkept: others use it\nused by\t/p, /q\n", ""},
		{"text in a pipe", false, find.FileText{Path: "a", Start: 2, End: 3, Lines: 9, Text: "two\tcells\nthree"}, "two\tcells\nthree\n", ""},
		{"text on a terminal", true, find.FileText{Path: "a", Start: 9, End: 10, Lines: 10, Text: "nine\nten\n"}, " 9  nine\n10  ten\n", ""},
		{"empty text", false, find.FileText{}, "", ""},
		{"files", false, find.FileList{Files: []string{"a.go", "b.go"}, Total: 5, Note: "the first 2 of 5"}, "a.go\nb.go\n", "note: the first 2 of 5\n"},
		{"grep in a pipe", false, find.GrepReply{Matches: []find.GrepMatch{{Path: "a", Line: 3, Text: "x\ty\r"}}, Total: 1}, "a\t3\tx\ty\n", ""},
		{"grep on a terminal", true, find.GrepReply{Matches: []find.GrepMatch{{Path: "a", Line: 3, Text: "x"}}, Total: 1}, "a:3: x\n", ""},
		{"message", false, command.Message{Message: "trusted"}, "trusted\n", ""},
		{"anything else", false, map[string]int{"a<b": 1}, "{\"a<b\":1}\n", ""},
		{"anything else on a terminal", true, struct {
			Total    int                 `json:"totalCount"`
			Good     bool                `json:"good"`
			Kinds    map[string]int      `json:"kinds"`
			None     []string            `json:"gaps"`
			Rows     []map[string]any    `json:"rows"`
			Warnings []string            `json:"warnings"`
			Deep     map[string][]kb.Job `json:"deep,omitempty"`
		}{3, true, map[string]int{"adr": 1, "rule": 2}, []string{}, []map[string]any{{"a": 1, "sourceUrl": "x"}, {"a": "two\x1b"}}, []string{"careful"}, nil},
			"total count  3\ngood         yes\nkinds        adr 1, rule 2\ngaps         none\nrows\n  A          SOURCE URL\n  1          x\n  two\\u001b\nnote: careful\n", ""},
		{"one list on a terminal", true, struct {
			Entries []struct{ ID int } `json:"entries"`
			Count   int                `json:"count"`
		}{[]struct{ ID int }{{1}, {2}}, 2}, "ID\n1\n2\n", ""},
		{"an empty list on a terminal", true, struct {
			Entries []string `json:"entries"`
			Count   int      `json:"count"`
		}{[]string{}, 0}, "no entries\n", ""},
		{"no schedules on a terminal", true, follow.ScheduleList{}, "no schedules; make one: knowledge store:schedule STORE @daily\n", ""},
		{"a note for agents", true, find.FileText{Note: "the rest: read {\"store\":\"web\",\"path\":\"a b\"}"}, "note: the rest: knowledge read web 'a b'\n", ""},
	} {
		stdout, stderr := show(t, tc.terminal, false, tc.result)
		if d := cmp.Diff(tc.stdout, stdout); d != "" {
			t.Errorf("%s: stdout (-want +got):\n%s", tc.name, d)
		}
		if d := cmp.Diff(tc.stderr, stderr); d != "" {
			t.Errorf("%s: stderr (-want +got):\n%s", tc.name, d)
		}
		if got, errs := show(t, tc.terminal, true, tc.result); got != printer.JSON(tc.result)+"\n" || errs != "" {
			t.Errorf("%s as JSON: %s%s", tc.name, got, errs)
		}
	}
}

func TestFill(t *testing.T) {
	for _, tc := range []struct {
		command string
		flags   map[string]any
		args    string
		want    map[string]any // nil when refused
	}{
		{"search", nil, "retry with backoff", map[string]any{"query": "retry with backoff"}},
		{"store:create", nil, "notes ./docs", map[string]any{"name": "notes", "source": "./docs"}},
		{"store:create", nil, "./docs", map[string]any{"source": "./docs"}},
		{"store:create", map[string]any{"source": "./docs"}, "notes", map[string]any{"name": "notes", "source": "./docs"}},
		{"store:create", map[string]any{"name": "notes"}, "./docs", map[string]any{"name": "notes", "source": "./docs"}},
		{"store:create", nil, "", map[string]any{}},
		{"store:create", nil, "a b c", nil},
		{"read", nil, "s p", map[string]any{"store": "s", "path": "p"}},
		{"read", map[string]any{"store": "s"}, "p", map[string]any{"store": "s", "path": "p"}},
		{"stores", nil, "x", nil},
	} {
		c, err := product.Commands().Find(tc.command)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]any{}
		for k, v := range tc.flags {
			values[k] = v
		}
		err = fill(c, values, strings.Fields(tc.args))
		switch {
		case tc.want == nil && kb.CodeOf(err) == kb.Invalid:
		case err != nil || tc.want == nil:
			t.Errorf("%s %s: %v", tc.command, tc.args, err)
		default:
			if d := cmp.Diff(tc.want, values); d != "" {
				t.Errorf("%s %s (-want +got):\n%s", tc.command, tc.args, d)
			}
		}
	}
}

func TestOutcome(t *testing.T) {
	started := app.Started{Store: "react", Job: "j1", Status: "queued"}
	got, err := outcome(started, kb.Job{ID: "j1", State: kb.JobCompleted, Message: "12 documents"})
	if err != nil || got.Status != "completed" || got.Note != "12 documents" {
		t.Errorf("%+v %v", got, err)
	}
	for _, tc := range []struct {
		job  kb.Job
		code kb.Code
		says string
	}{
		{kb.Job{ID: "j1", State: kb.JobCancelled}, kb.Canceled, "was cancelled"},
		{kb.Job{ID: "j1", State: kb.JobFailed, Message: "no such host", Code: kb.Away}, kb.Away, "no such host"},
		{kb.Job{ID: "j1", State: kb.JobFailed}, kb.Internal, "job j1 failed"},
	} {
		_, err := outcome(started, tc.job)
		if kb.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) || kb.HintOf(err) == "" {
			t.Errorf("%v: %s %v (%s)", tc.job, kb.CodeOf(err), err, kb.HintOf(err))
		}
	}
}

func TestProgressLines(t *testing.T) {
	var w bytes.Buffer
	now := time.Unix(1, 0)
	p := &progress{w: &w, now: func() time.Time { return now }}
	report := func(after time.Duration, at kb.Progress) { now = now.Add(after); p.report(at) }
	report(0, kb.Progress{})
	report(time.Second, kb.Progress{Phase: "clone", Done: 5})
	report(lineEvery, kb.Progress{Phase: "clone", Done: 6})
	report(0, kb.Progress{Phase: "index", Done: 1, Total: 10})
	report(time.Second, kb.Progress{Phase: "index", Done: 2, Total: 10})
	report(lineEvery, kb.Progress{Phase: "index", Done: 9, Total: 10, ETA: 9})
	p.stop()
	report(lineEvery, kb.Progress{Phase: "late"})
	want := "clone: 6\nindex: 9 of 10 (90%), 9s left\n"
	if d := cmp.Diff(want, w.String()); d != "" {
		t.Error(d)
	}
}

// TestProgressBar: one line is drawn, no oftener than can be read, with what
// the job says of itself, and is gone before the answer is printed.
func TestProgressBar(t *testing.T) {
	var w bytes.Buffer
	now := time.Unix(1, 0)
	p := &progress{w: &w, terminal: true, width: 40, now: func() time.Time { return now }}
	for i := range int64(1000) {
		now = now.Add(time.Millisecond)
		p.report(kb.Progress{Phase: "index", Done: i, Total: 1000, Rate: 39.7, ETA: 80})
	}
	if n := strings.Count(w.String(), "\r"); n > 11 {
		t.Errorf("%d lines in a second", n)
	}
	p.report(kb.Progress{Phase: "write\x1b[2J", Done: 1000, Total: 1000})
	p.stop()
	p.report(kb.Progress{Phase: "late"})
	p.stop()
	lines := strings.Split(w.String(), "\r")
	for _, l := range lines {
		text := strings.TrimSuffix(l, "\x1b[K")
		if printer.Width(text) > 39 || printer.Clean(text) != text || strings.Contains(text, "\n") {
			t.Errorf("%q", l)
		}
	}
	if last := lines[len(lines)-1]; last != "\x1b[K" {
		t.Errorf("the line stays: %q", last)
	}
	for _, tc := range []struct {
		at   kb.Progress
		want string
	}{
		{kb.Progress{Phase: "index", Done: 30, Total: 90, Rate: 39.7, ETA: 80}, "indexing ━━━━━━━━──────────────── 30 of 90, 40/s, 1 min 20 s left"},
		{kb.Progress{Phase: "walk", Done: 5}, "listing documents 5"},
		{kb.Progress{Phase: "clone"}, "cloning"},
		{kb.Progress{Phase: "index", Done: 95, Total: 90, Rate: 2.3, ETA: 7500}, "indexing ━━━━━━━━━━━━━━━━━━━━━━━━ 95 of 90, 2.3/s, 2 h 05 min left"},
	} {
		if got := printer.Doing(tc.at, barWidth); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
