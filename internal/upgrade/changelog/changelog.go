// Package changelog finds what a package says of its own changes: in changelogs,
// release notes and guides of migration, the sections about the versions behind
// one up to another, and the lines in them that name given declarations.
package changelog

import (
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

const (
	maxFile  = 2 << 20
	maxFiles = 40
)

// Section is a part of such a file.
type Section struct {
	Path       string
	From, To   int    // lines, counted from 1
	Heading    string // of the section
	Version    string // that it is about, "" in a guide
	Names      []string
	Lines      []string // that name something, the first ones
	Guide      bool
	breaking   bool
	linesNamed int
}

var (
	versionRE  = lazyregexp.New(`(?:^|[^0-9A-Za-z.])v?([0-9]+\.[0-9]+(?:\.[0-9]+)?(?:-[0-9A-Za-z.]+)?)`)
	majorRE    = lazyregexp.New(`(?i)(?:^|[^0-9a-z.])(?:v|version )([0-9]+)(?:\.x)?(?:[^0-9.]|$)`)
	breakingRE = lazyregexp.New(`(?i)breaking|removed|deprecat|migrat|renam|no longer|incompatib`)
	fileRE     = lazyregexp.New(`(?i)^(changelog|changes|history|releases?|release[-_]?notes|news|upgrad(e|ing)|migrat(e|ion|ing)|breaking)`)
	guideRE    = lazyregexp.New(`(?i)(upgrad(e|ing)|migrat(e|ion|ing)|breaking)`)
)

// files lists those that may say what changed, those at the root first.
func files(f fs.FS) []string {
	var out []string
	_ = fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read is not there
		}
		name := d.Name()
		if d.IsDir() {
			if p != "." && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "vendor" || name == "testdata" || strings.Count(p, "/") > 3) {
				return fs.SkipDir
			}
			return nil
		}
		switch strings.ToLower(path.Ext(name)) {
		case ".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", "":
			if fileRE.MatchString(name) || guideRE.MatchString(name) {
				out = append(out, p)
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return out[:min(len(out), maxFiles)]
}

// Find returns the sections about versions behind from up to to that name one of
// names or speak of what breaks, those that name most first; names are spelt as
// in the source ("Client.Do"), and found by their last part when it is long
// enough to mean something.
func Find(f fs.FS, from, to string, names []string) []Section {
	match := matcher(names)
	var out []Section
	for _, p := range files(f) {
		text, err := fs.ReadFile(f, p)
		if err != nil || len(text) > maxFile {
			continue
		}
		guide := guideRE.MatchString(path.Base(p))
		for _, s := range sections(string(text)) {
			s.Path, s.Guide = p, guide
			if s.Version != "" && !within(s.Version, from, to) || s.Version == "" && !guide {
				continue
			}
			s.read(strings.Split(string(text), "\n")[s.From-1:s.To], match)
			if len(s.Names) > 0 || s.breaking {
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Section) int { return cmp.Or(len(b.Names)-len(a.Names), b.linesNamed-a.linesNamed) })
	return out
}

// sections cuts a text at its headings. A section without a version in its heading
// is of the version of the one that it is in.
func sections(text string) []Section {
	type level struct {
		level   int
		version string
	}
	var out []Section
	var stack []level
	last := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	close := func(line int) {
		if n := len(out); n > 0 && out[n-1].To == 0 {
			out[n-1].To = line
		}
	}
	markdown.Read(text, func(b markdown.Block) {
		if b.Kind != markdown.Heading {
			return
		}
		close(b.First)
		for len(stack) > 0 && stack[len(stack)-1].level >= b.Level {
			stack = stack[:len(stack)-1]
		}
		version := versionIn(b.Text)
		if version == "" && len(stack) > 0 {
			version = stack[len(stack)-1].version
		}
		stack = append(stack, level{b.Level, version})
		out = append(out, Section{From: b.First + 1, Heading: kb.Clip(markdown.Plain(b.Text), 80), Version: version})
	})
	close(last)
	return slices.DeleteFunc(out, func(s Section) bool { return s.To < s.From })
}

// versionIn returns the version that a heading names: the last one of "Migrating
// from 1.x to 2.x".
func versionIn(heading string) string {
	for _, re := range []lazyregexp.Regexp{versionRE, majorRE} {
		if all := re.Regexp().FindAllStringSubmatch(heading, -1); all != nil {
			return all[len(all)-1][1]
		}
	}
	return ""
}

// within reports whether a version lies behind from and not behind to; one of which
// only the beginning is given is that of the first release.
func within(version, from, to string) bool {
	v, a, b := canonical(version), canonical(from), canonical(to)
	if v == "" || a == "" || b == "" {
		return false
	}
	if semver.Compare(v, b) > 0 {
		return false
	}
	return semver.Compare(v, a) > 0
}

func canonical(v string) string {
	return semver.Canonical("v" + strings.TrimPrefix(strings.TrimSuffix(v, "+incompatible"), "v"))
}

// matcher returns the expression of names, and which name each of its words means.
func matcher(names []string) func(line string) []string {
	means := map[string]string{}
	var words []string
	for _, n := range names {
		last := n[strings.LastIndexByte(n, '.')+1:]
		if len(last) < 4 || means[last] != "" {
			continue
		}
		means[last] = n
		words = append(words, regexp.QuoteMeta(last))
	}
	if len(words) == 0 {
		return func(string) []string { return nil }
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	re := regexp.MustCompile(`\b(?:` + strings.Join(words[:min(len(words), 2000)], "|") + `)\b`)
	return func(line string) []string {
		var out []string
		for _, m := range re.FindAllStringIndex(line, -1) {
			word := line[m[0]:m[1]]
			// A word of plain English means a declaration only where it is written as code.
			if strings.ToLower(word[1:]) == word[1:] && !quoted(line, m[0], m[1]) {
				continue
			}
			if n := means[word]; !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
		return out
	}
}

// quoted reports whether a word stands between marks of code, or as part of a
// name with dots or brackets.
func quoted(line string, from, to int) bool {
	before, after := "", ""
	if from > 0 {
		before = line[from-1 : from]
	}
	if to < len(line) {
		after = line[to : to+1]
	}
	return strings.Count(line[:from], "`")%2 == 1 || before == "." || after == "("
}

const maxLines = 4

func (s *Section) read(lines []string, match func(string) []string) {
	for i, l := range lines {
		if i == 0 {
			s.breaking = breakingRE.MatchString(s.Heading)
			continue
		}
		found := match(l)
		if len(found) == 0 {
			s.breaking = s.breaking || strings.Contains(strings.ToLower(l), "breaking")
			continue
		}
		s.linesNamed++
		for _, n := range found {
			if !slices.Contains(s.Names, n) {
				s.Names = append(s.Names, n)
			}
		}
		if len(s.Lines) < maxLines {
			s.Lines = append(s.Lines, kb.Clip(strings.Join(strings.Fields(markdown.Plain(l)), " "), 160))
		}
	}
}
