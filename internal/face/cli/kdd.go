package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// seedVerbs are what may follow --cli.
var seedVerbs = []string{"search", "related", "list", "impact", "context", "find", "section", "graph", "stats", "check"}

// seedFlags are the original engine's other spellings of flags.
var seedFlags = map[string]string{
	"-l": "--limit", "-k": "--kind", "-s": "--status", "-d": "--depth",
	"--type": "--chunk_types", "--chunk-type": "--chunk_types", "--tag": "--tags", "--edge-type": "--edge_types", "--threshold": "--score_threshold",
}

// seedForm understands how the original engine is asked without a client,
//
//	knowledge --cli search "how does auth work" --limit 3
//
// which is the command kdd:search, printed as indented JSON.
func (s *session) seedForm(args []string) ([]string, error) {
	at := slices.Index(args, "--cli")
	if end := slices.Index(args, "--"); at < 0 || end >= 0 && end < at {
		return args, nil
	}
	out := slices.Clone(args[:at])
	rest := args[at+1:]
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil, kb.Errorf(kb.Invalid, "--cli needs the name of a command after it").WithHint("there are %s; for example: knowledge --cli list", strings.Join(seedVerbs, ", "))
	}
	verb := strings.TrimPrefix(strings.TrimPrefix(rest[0], "kdd:"), "kdd_")
	if !slices.Contains(seedVerbs, verb) {
		e := kb.Errorf(kb.Invalid, "--cli knows no command %q", clip(rest[0]))
		if near := kb.Nearest(verb, seedVerbs); near != "" {
			return nil, e.WithHint("did you mean %s? see: knowledge kdd:%s --help", near, near)
		}
		return nil, e.WithHint("there are %s; see: knowledge help kdd", strings.Join(seedVerbs, ", "))
	}
	s.indent = true
	out = append(out, "--json", "kdd:"+verb)
	for i, a := range rest[1:] {
		if a == "--" {
			return append(out, rest[1+i:]...), nil
		}
		name, value, given := strings.Cut(a, "=")
		if name == "--domain" && verb == "search" {
			name = "--domains"
		} else if n := seedFlags[name]; n != "" && (verb == "search" || !strings.HasPrefix(n, "--chunk")) {
			name = n
		}
		if given {
			name += "=" + value
		}
		out = append(out, name)
	}
	return out, nil
}

// printJSON prints a result as JSON, indented where the original engine does.
func (s *session) printJSON(result any) error {
	text := command.JSON(result)
	if s.indent {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(text), "", "  "); err == nil {
			text = b.String()
		}
	}
	_, err := s.out.WriteString(text + "\n")
	return err
}

// specs prints what is known of specifications, and reports whether it was that.
func (s *session) specs(result any) bool {
	switch r := result.(type) {
	case app.SpecResults:
		t := s.table("score", "type", "title", "section", "domain", "url").none("nothing found")
		for _, x := range r.Results {
			t.row(fmt.Sprintf("%.2f", x.Score), x.Type, x.Title, x.Section, x.Domain, x.URL)
		}
		t.flush()
		s.remarks(r.Warnings)
	case app.SpecRelated:
		t := s.table("name", "type", "relation", "direction", "url")
		for _, x := range r.Related {
			t.row(x.Name, x.Type, x.Relation, x.Direction, x.SourceURL)
		}
		t.flush()
		s.remark(r.Message)
		s.remarks(suggested(len(r.Suggestions), func(i int) string { return r.Suggestions[i].Name }))
		s.remarks(r.Warnings)
	case app.SpecList:
		t := s.table("path", "title", "kind", "domain", "status", "lifecycle", "chunks", "entities", "store").none("no specifications")
		for _, d := range r.Documents {
			t.row(name(d.Path), d.Title, d.Kind, d.Domain, d.Status, d.KDDStatus, d.Chunks, d.Entities, d.Store)
		}
		t.flush()
		if r.Total > len(r.Documents) {
			s.remark(fmt.Sprintf("the first %d of %d; raise --limit for more", len(r.Documents), r.Total))
		}
		s.remarks(r.Warnings)
	case app.SpecMatches:
		t := s.table("name", "type", "kind", "title", "lifecycle", "id", "url").none("nothing found")
		for _, m := range r.Matches {
			t.row(m.Name, m.Type, m.Kind, m.Title, m.Status, m.ID, m.URL)
		}
		t.flush()
		s.remark(r.Message)
		s.remarks(suggested(len(r.Suggestions), func(i int) string { return r.Suggestions[i].Name }))
		s.remarks(r.Warnings)
	case app.SpecSection:
		s.content(r.Content)
		s.remark(r.Note)
	case app.SpecPicture:
		s.content(r.Text)
		s.remark(r.Message)
		s.remarks(suggested(len(r.Suggestions), func(i int) string { return r.Suggestions[i].Name }))
		s.remarks(r.Warnings)
	case app.SpecImpact, app.SpecContext, app.SpecStats, app.SpecCheck:
		if s.env.Terminal {
			s.readable(r)
			break
		}
		s.indent = true // deep
		_ = s.printJSON(r)
	default:
		return false
	}
	return true
}

func (s *session) remarks(list []string) {
	for _, l := range list {
		s.remark(l)
	}
}

// suggested says which names there are instead.
func suggested(n int, name func(int) string) []string {
	var names []string
	for i := range min(n, 5) {
		names = append(names, name(i))
	}
	if names == nil {
		return nil
	}
	return []string{"did you mean " + strings.Join(names, ", ") + "?"}
}

// aboutSpecs prints what specifications have to do with a place.
func (s *session) aboutSpecs(c app.Context) {
	if len(c.Specs)+len(c.MentionedBy) > 0 {
		s.line("")
	}
	for _, x := range c.Specs {
		title := x.Title
		if x.Status != "" {
			title += " (" + x.Status + ")"
		}
		s.line(fmt.Sprintf("specification %s  %s  (%s)", title, x.URL, x.Why))
	}
	for _, r := range c.MentionedBy {
		s.line(fmt.Sprintf("named by %s  %s  %s", name(r.At), r.Symbol, r.ID))
	}
}
