package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/platform/shell"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

const (
	often    = 3        // greps, or whole files, before the hint
	bigBytes = 32 << 10 // a file that is better not read whole
)

// The things that are counted.
const (
	aGrep byte = 'g' // for words, or for several things at once
	aRead byte = 'r' // of a whole big file
)

// notice returns the hint that a tool's use calls for, at most one per session.
func notice(ctx context.Context, a *app.App, ev event, tool func(string) string, now time.Time) string {
	thing, dependencies := look(ev)
	if thing == 0 && len(dependencies) == 0 {
		return ""
	}
	dir, err := a.DataDir()
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "knowledge.db")); err != nil {
		return "" // nothing was ever indexed here: leave no trace
	}
	s := sessionOf(dir, ev.Session, now)
	if s.said() {
		return ""
	}
	if len(dependencies) > 0 {
		if g, err := a.Glance(ctx); err == nil {
			if st, ok := storeOf(g, dependencies); ok && s.say() {
				return held(st, tool("search"))
			}
		}
	}
	if thing == 0 || s.count(thing) < often {
		return ""
	}
	g, err := a.Glance(ctx)
	if err != nil || g.Own == nil || g.Own.Head == nil || g.Own.Head.Partial || !s.say() {
		return ""
	}
	if thing == aRead {
		return fmt.Sprintf("This folder is indexed: %s {\"query\":…} finds lines, %s {\"resultId\":\"PATH:LINE\"} reads what is there", tool("search"), tool("get_full_context"))
	}
	return fmt.Sprintf("This folder is indexed: one %s {\"query\":\"what the code does\"} ranks the places that several greps for words look for; grep stays better for exact names", tool("search"))
}

// held says that a store holds the dependency in whose folder is grepped.
func held(st app.GlanceStore, search string) string {
	line := fmt.Sprintf("knowledge has %s indexed: %s {\"query\":…,\"stores\":[%q]} finds by meaning what this grep looks for", name(st.Store), search, st.Label())
	if tokens.Estimate(line) > maxTokens { // of a name as long as names may be
		line = fmt.Sprintf("knowledge has this dependency indexed: %s {\"query\":…} finds by meaning what this grep looks for", search)
	}
	return line
}

// look reads what a tool is about to do: what to count, if anything, and the
// dependencies in whose folders it greps.
func look(ev event) (thing byte, dependencies []string) {
	var in struct {
		Pattern  string `json:"pattern"`
		Path     string `json:"path"`
		FilePath string `json:"file_path"`
		Command  string `json:"command"`
		Offset   any    `json:"offset"`
		Limit    any    `json:"limit"`
	}
	if json.Unmarshal(ev.Input, &in) != nil {
		return 0, nil
	}
	switch ev.Tool {
	case "Grep":
		if wordy(in.Pattern) {
			thing = aGrep
		}
		return thing, packages(in.Path)
	case "Read":
		if info, err := os.Stat(in.FilePath); in.Offset == nil && in.Limit == nil && err == nil && info.Mode().IsRegular() && info.Size() > bigBytes {
			thing = aRead
		}
	case "Bash":
		for _, g := range greps(in.Command) {
			if wordy(g.pattern) {
				thing = aGrep
			}
			for _, p := range g.paths {
				dependencies = append(dependencies, packages(p)...)
			}
		}
	}
	return thing, dependencies
}

// declaring are words that begin the definition of a name: a grep for one is
// a grep for an exact string.
var declaring = []string{"func", "function", "def", "class", "type", "struct", "interface", "enum", "trait", "impl", "fn", "const", "var", "let", "import", "from", "package", "return", "use"}

// wordy reports whether a pattern looks for words rather than for a string:
// several alternatives, or several words with anything between.
func wordy(pattern string) bool {
	if len(pattern) > 1000 {
		return false
	}
	pattern = strings.ReplaceAll(pattern, `\|`, "|")
	alternatives := 0
	for part := range strings.SplitSeq(pattern, "|") {
		if len(words(part)) > 0 {
			alternatives++
		}
	}
	if alternatives > 1 {
		return true
	}
	for _, gap := range []string{`\s+`, `\s*`, ".*", ".+", ".?"} {
		pattern = strings.ReplaceAll(pattern, gap, " ")
	}
	if strings.ContainsAny(pattern, "(){}[]=;:\"'<>/\\.") {
		return false // code, letter by letter
	}
	w := words(pattern)
	return len(w) > 1 && !slices.Contains(declaring, w[0])
}

// words returns the runs of three letters and more.
func words(s string) []string {
	fields := strings.FieldsFunc(s, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r > 0x7f) })
	return slices.DeleteFunc(fields, func(w string) bool { return len(w) < 3 })
}

// grep is one use of a program that looks for a pattern in files.
type grep struct {
	pattern string
	paths   []string
}

// greps returns those of a shell command that look in files, not in what
// another program says.
func greps(line string) []grep {
	var all []grep
	for _, c := range shell.Commands(line) {
		name, w, piped := c.Program()
		if name == "git" && len(w) > 0 && w[0] == "grep" {
			name, w = w[0], w[1:]
		}
		if piped || !slices.Contains([]string{"grep", "egrep", "rg", "ag", "ack"}, name) {
			continue
		}
		var g grep
		given := false
		for i := 0; i < len(w); i++ {
			switch {
			case (w[i] == "-e" || w[i] == "--regexp") && i+1 < len(w):
				g.pattern, given = w[i+1], true
				i++
			case strings.HasPrefix(w[i], "-"):
			case !given:
				g.pattern, given = w[i], true
			default:
				g.paths = append(g.paths, w[i])
			}
		}
		all = append(all, g)
	}
	return all
}

// packages returns the names by which the package that a path lies in may be
// known, by where package managers unpack: node_modules/[@SCOPE/]NAME,
// site-packages/NAME, vendor/…, pkg/mod/MODULE@VERSION, registry/src/…/NAME-VERSION, gems/NAME-VERSION.
func packages(p string) []string {
	parts := strings.Split(strings.Trim(filepath.ToSlash(p), "/"), "/")
	var found []string
	for i, dir := range parts {
		rest := parts[i+1:]
		switch dir {
		case "node_modules":
			if len(rest) > 1 && strings.HasPrefix(rest[0], "@") {
				found = append(found, rest[0]+"/"+rest[1], rest[1])
			} else if len(rest) > 0 {
				found = append(found, rest[0])
			}
		case "site-packages", "dist-packages", "gems":
			if len(rest) > 0 {
				found = append(found, rest[0], bare(rest[0]))
			}
		case "vendor", "mod", "src":
			if dir == "mod" && (i == 0 || parts[i-1] != "pkg") || dir == "src" && (i == 0 || parts[i-1] != "registry") {
				continue
			}
			for _, r := range rest[:min(4, len(rest))] {
				module, _, _ := strings.Cut(r, "@")
				found = append(found, module, bare(r))
			}
		}
	}
	return found
}

// bare cuts "-1.2.3" from the name of a folder.
func bare(s string) string {
	if i := strings.LastIndexByte(s, '-'); i > 0 && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
		return s[:i]
	}
	return s
}

// storeOf returns a store that holds one of the packages and can be searched.
func storeOf(g app.Glance, packages []string) (app.GlanceStore, bool) {
	for _, st := range g.Stores {
		if st.Head == nil {
			continue
		}
		source := strings.TrimSuffix(path.Base(st.Spec.Source), ".git")
		source, _, _ = strings.Cut(source, "@")
		for _, p := range packages {
			if p != "" && (strings.EqualFold(p, st.Name) || strings.EqualFold(p, source)) {
				return st, true
			}
		}
	}
	return app.GlanceStore{}, false
}
