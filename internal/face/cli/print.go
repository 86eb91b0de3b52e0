package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// print shows a result: JSON when asked for, else what suits its kind. In a
// pipe standard output holds the answer alone; remarks go to standard error.
func (s *session) print(result any) error {
	if s.json {
		return s.printJSON(result)
	}
	if s.specs(result) || s.verdict(result) {
		return nil
	}
	switch r := result.(type) {
	case app.SearchReply:
		s.hits(r)
	case app.Context:
		s.place(r)
	case app.Answer:
		r.Notes = slices.Clone(r.Notes)
		for i, n := range r.Notes {
			r.Notes[i] = s.forTerminal(n)
		}
		s.out.WriteString(clean(r.Text()))
	case app.CodeReply:
		s.codeReply(r)
	case app.OutlineReply:
		s.outline(r)
	case app.FileText:
		s.text(r)
	case app.FileList:
		for _, f := range r.Files {
			s.line(string(name(f)))
		}
		s.nothing(len(r.Files), r.Note, "no document matches")
		s.remark(r.Note)
	case app.GrepReply:
		for _, m := range r.Matches {
			if s.env.Terminal {
				s.line(fmt.Sprintf("%s:%d: %s", name(m.Path), m.Line, strings.TrimRight(m.Text, "\r")))
			} else { // the text is the last field and stands as it is
				s.out.WriteString(field(name(m.Path)) + "\t" + fmt.Sprint(m.Line) + "\t" + strings.TrimRight(m.Text, "\r\n") + "\n")
			}
		}
		s.nothing(len(r.Matches), r.Note, "no line matches")
		s.remark(r.Note)
	case app.StoreList:
		t := s.table("name", "type", "documents", "chunks", "status", "scope", "commit", "source", "id")
		for _, row := range r.Stores {
			t.row(row.Name, row.Kind, row.Documents, row.Chunks, row.Status, row.Scope, short(row.Commit), name(source(row)), row.ID)
		}
		t.flush()
		s.remark(r.Note)
	case app.StoreInfo:
		s.store(r)
	case app.Started:
		if s.env.Terminal {
			s.line(strings.TrimSuffix(fmt.Sprintf("%s: %s. %s", r.Store, r.Status, s.forTerminal(r.Note)), ". "))
			break
		}
		t := s.table("store", "id", "job", "status")
		t.row(r.Store, r.ID, r.Job, r.Status)
		t.flush()
		s.remark(r.Note)
	case app.Deleted:
		s.facts(
			"store", r.Store,
			"index", map[bool]string{true: "removed", false: "kept: others use it"}[r.Removed],
			"used by", strings.Join(r.UsedBy, ", "))
		s.remark(r.Note)
	case app.Synced:
		s.synced(r)
	case app.Suggested:
		s.suggested(r)
	case app.Defaults:
		s.defaults(r)
	case app.ScheduleList:
		t := s.table("store", "schedule", "next", "last", "status", "note", "id").none("no schedules; make one: knowledge store:schedule STORE @daily")
		for _, row := range r.Schedules {
			t.row(row.Store, row.Cron, at(row.Next), at(row.Last), row.Status, row.Note, row.ID)
		}
		t.flush()
		s.remark(r.Note)
	case app.ScheduleRow:
		s.facts("store", r.Store, "schedule", r.Cron, "next", at(r.Next))
		s.remark(r.Note)
	case app.Diagnosis:
		t := s.table("status", "what", "found")
		for _, f := range r.Findings {
			t.row(f.Status, f.What, f.Text)
		}
		t.flush()
		for _, f := range r.Findings {
			if f.Hint != "" {
				s.remark(f.What + ": " + f.Hint)
			}
		}
	case app.PageList:
		s.pages(r)
	case app.ClientList:
		s.clients(r, false)
	case app.JobList:
		t := s.table("job", "type", "store", "status", "progress", "updated", "message").none("no jobs")
		for _, j := range r.Jobs {
			t.row(j.ID, j.Type, cmp.Or(j.Name, string(j.Store)), j.State, soFar(j), when(j.Updated), j.Message)
		}
		t.flush()
		s.remark(r.Note)
	case kb.Job:
		s.job(r)
	case app.APIHelp:
		s.apiHelp(r)
	default:
		s.other(result)
	}
	return nil
}

// other prints a result that has no layout here: what it says of itself, or
// what its JSON holds; in a pipe that JSON, which a program reads.
func (s *session) other(result any) {
	text := command.Render(result)
	if s.env.Terminal && (json.Valid([]byte(text)) || text == "") {
		s.readable(result)
		return
	}
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		s.line(l)
	}
}

// nothing says on a terminal that a list is empty, unless a note does.
func (s *session) nothing(n int, note, text string) {
	if n == 0 && note == "" && s.env.Terminal {
		s.line(text)
	}
}

// hits prints what a search found: on a terminal each hit with its lines, in
// a pipe one line of fields each.
func (s *session) hits(r app.SearchReply) {
	if !s.env.Terminal {
		t := s.table("id", "at", "score", "symbol", "store", "note")
		for _, h := range r.Hits {
			t.row(h.ID, name(h.At), fmt.Sprintf("%.3f", h.Score), h.Symbol, h.Store, h.Note)
		}
		t.flush()
	} else {
		for i, h := range r.Hits {
			if i > 0 {
				s.line("")
			}
			s.hit(h)
		}
		if len(r.Hits) == 0 {
			s.line("nothing found")
		} else {
			s.line("")
			s.line(fmt.Sprintf("%s, confidence %s, %.0f ms; the whole place: knowledge show ID", plural(len(r.Hits), "hit"), cmp.Or(r.Confidence, "unknown"), r.Ms))
		}
	}
	for _, n := range r.Notes {
		s.remark(n)
	}
}

func (s *session) hit(h app.Hit) {
	head := []string{string(name(h.At))}
	if h.Symbol != "" {
		head = append(head, field(h.Symbol))
	}
	s.head("", append(head, fmt.Sprintf("%.2f", h.Score), h.Store), h.ID)
	if h.Note != "" {
		s.line("    note: " + s.forTerminal(h.Note))
	}
	if h.Findings > 0 {
		s.line("    " + plural(h.Findings, "open finding") + " in its file")
	}
	if h.Signature != "" {
		s.line("    " + h.Signature)
	}
	if h.Doc != "" {
		s.line("    " + h.Doc)
	}
	if h.Code != "" {
		s.code(h.Code, max(h.Line, 1), "    ")
	}
	if len(h.Why) > 0 {
		s.line("    because: " + strings.Join(h.Why, ", "))
	}
	if len(h.Imports) > 0 {
		s.line("    imports: " + strings.Join(h.Imports, ", "))
	}
	if len(h.CalledBy) > 0 {
		s.line("    called by: " + strings.Join(h.CalledBy, ", "))
	}
	if len(h.Calls) > 0 {
		s.line("    calls: " + strings.Join(h.Calls, ", "))
	}
	s.related(h.Related, "    ")
	if len(h.Explain) > 0 {
		names := slices.SortedFunc(maps.Keys(h.Explain), func(a, b string) int {
			return cmp.Or(cmp.Compare(h.Explain[b], h.Explain[a]), strings.Compare(a, b))
		})
		for i, n := range names {
			names[i] = fmt.Sprintf("%s %+.3f", n, h.Explain[n])
		}
		s.line("    score: " + strings.Join(names, ", "))
	}
}

// place prints what get_full_context returned, with true line numbers.
func (s *session) place(c app.Context) {
	store := c.Store
	if c.Commit != "" && !strings.Contains(store, "@") {
		store += "@" + short(c.Commit)
	}
	head := []string{string(name(c.At))}
	if c.Symbol != "" {
		head = append(head, field(c.Symbol))
	}
	if c.Kind != "" {
		head = append(head, c.Kind)
	}
	s.head("", append(head, store), c.ID)
	s.page(c)
	if c.Note != "" {
		s.line("note: " + s.forTerminal(c.Note))
	}
	s.line("")
	if c.Code != "" {
		s.code(c.Code, c.Start, "")
	}
	s.usage(c)
	if len(c.Related) > 0 {
		s.line("")
		s.related(c.Related, "")
	}
	s.aboutSpecs(c)
	s.openFindings(c)
	if c.Next != "" {
		s.line("")
		s.line("goes on: knowledge show " + c.Next)
	}
	for _, o := range c.Others {
		s.line("")
		s.place(o)
	}
}

func (s *session) related(list []app.Related, indent string) {
	for _, r := range list {
		parts := []string{"see " + string(name(r.At))}
		if r.Symbol != "" {
			parts = append(parts, r.Symbol)
		}
		s.line(indent + strings.Join(append(parts, r.ID, "("+r.Why+")"), "  "))
	}
}

// text prints a document's lines: numbered on a terminal, as they are in a pipe.
func (s *session) text(r app.FileText) {
	if !s.env.Terminal {
		s.content(r.Text)
	} else if r.Text != "" {
		s.code(strings.TrimSuffix(r.Text, "\n"), max(r.Start, 1), "")
	}
	s.remark(r.Note)
}

// code prints lines with their numbers, the first being start.
func (s *session) code(code string, start int, indent string) {
	lines := strings.Split(code, "\n")
	width := len(fmt.Sprint(start + len(lines) - 1))
	for i, l := range lines {
		s.content(strings.TrimRight(fmt.Sprintf("%s%*d  %s", indent, width, start+i, strings.TrimSuffix(l, "\r")), " "))
	}
}

func (s *session) store(r app.StoreInfo) {
	masked := ""
	if r.Masked > 0 {
		masked = fmt.Sprintf("secrets in %s", plural(r.Masked, "document"))
	}
	s.facts(
		"name", r.Name, "id", r.ID, "type", r.Kind, "source", r.Source, "ref", r.Ref, "commit", r.Commit, "path", r.Path,
		"description", r.Description, "tags", strings.Join(r.Tags, ", "), "scope", r.Scope, "status", r.Status,
		"documents", r.Documents, "chunks", r.Chunks, "text", size(r.TextBytes), "index", size(r.IndexBytes), "on disk", size(r.DiskBytes), "follows", r.Follows, "pages", narrowed(r.Web),
		"segments", r.Segments, "generation", r.Generation, "embedder", r.Embedder, "engine", r.Engine, "indexed", when(r.Indexed),
		"languages", counts(r.Languages), "skipped", counts(r.Skipped), "masked", masked, "last error", r.LastError)
	if r.Job != nil {
		s.facts("job", r.Job.ID, "job status", r.Job.State, "progress", percent(r.Job.Progress))
	}
	for _, n := range r.Notes {
		s.remark(n)
	}
}

func (s *session) job(j kb.Job) {
	rate, eta := "", ""
	if !j.State.Ended() && j.Progress.Rate > 0 {
		rate = fmt.Sprintf("%.0f/s", j.Progress.Rate)
	}
	if !j.State.Ended() && j.Progress.ETA >= 1 {
		eta = (time.Duration(j.Progress.ETA) * time.Second).String()
	}
	s.facts(
		"job", j.ID, "type", j.Type, "store", cmp.Or(j.Name, string(j.Store)), "status", j.State, "phase", j.Progress.Phase,
		"progress", soFar(j), "rate", rate, "left", eta, "message", j.Message, "hint", s.forTerminal(j.Hint),
		"created", when(j.Created), "updated", when(j.Updated))
}

func source(r app.StoreRow) string {
	if r.Ref == "" || r.Ref == string(kb.RefDefault) {
		return r.Source
	}
	return r.Source + " (" + r.Ref + ")"
}

func short(commit string) string { return kb.ShortCommit(commit) }

func percent(p kb.Progress) string {
	switch {
	case p.Total > 0:
		return fmt.Sprintf("%d/%d", p.Done, p.Total)
	case p.Done > 0:
		return fmt.Sprint(p.Done)
	default:
		return ""
	}
}

// soFar is how far a job has come. One that is done has done all of it,
// whatever it reported last.
func soFar(j kb.Job) string {
	if j.State == kb.JobCompleted && j.Progress.Total > 0 {
		j.Progress.Done = j.Progress.Total
	}
	return percent(j.Progress)
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

func size(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d B", n)
	}
}

// counts prints the largest first: "go 12, markdown 3".
func counts(m map[string]int) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(m[b]-m[a], strings.Compare(a, b)) })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, m[n])
	}
	return strings.Join(names, ", ")
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
