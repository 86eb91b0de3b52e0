package reach

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Test is one test: a function, or a whole file of a language whose tests are no
// declarations.
type Test struct {
	Path   string
	Symbol string // qualified name; "" for a whole file
	Name   string
	Line   int // of the name
	Start  int
	End    int
	Body   string // its lines, as far as they are read
}

// TestsIn returns the tests of a document in order of line.
func (s Source) TestsIn(ctx context.Context, name string) ([]Test, error) {
	d, err := s.Index.Document(ctx, name)
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		return nil, nil // it went since it was linked
	}
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(d.Body, "\n")
	var out []Test
	for _, c := range d.Chunks {
		for i := range c.Symbols {
			y := &c.Symbols[i]
			t := Test{Path: name, Symbol: y.Qualified(), Name: y.Name, Line: max(y.Line, y.Start), Start: y.Start, End: y.End}
			if !isTest(d.Language, y, head(lines, t)) || slices.ContainsFunc(out, func(o Test) bool { return o.Start <= t.Start && t.End <= o.End }) {
				continue
			}
			t.Body = strings.Join(lines[min(t.Start-1, len(lines)):min(t.End, len(lines))], "")
			out = append(out, t)
		}
	}
	if len(out) == 0 && fileIsTest(d.Language) {
		out = append(out, Test{Path: name, Line: 1, Start: 1, End: len(lines), Body: d.Body})
	}
	slices.SortStableFunc(out, func(a, b Test) int { return a.Start - b.Start })
	return out, nil
}

// head is what stands before the body of a test: attributes and its name.
func head(lines []string, t Test) string {
	from := max(0, t.Start-1-mostAttributes)
	return strings.Join(lines[min(from, len(lines)):min(t.Line, len(lines))], "")
}

// mostAttributes is how many lines above a declaration may mark it.
const mostAttributes = 3

// isTest reports whether a declaration is a test by the customs of its language.
func isTest(language string, y *kb.Symbol, head string) bool {
	if y.Kind != "function" && y.Kind != "method" {
		return false
	}
	switch language {
	case "go":
		for _, p := range []string{"Test", "Fuzz", "Example"} {
			if rest, ok := strings.CutPrefix(y.Name, p); ok && len(y.Path) == 0 {
				first, _ := utf8.DecodeRuneInString(rest)
				return y.Name != "TestMain" && !unicode.IsLower(first)
			}
		}
		return false
	case "python":
		return strings.HasPrefix(y.Name, "test")
	case "ruby", "php":
		return strings.HasPrefix(y.Name, "test") || strings.Contains(head, "@test") || strings.Contains(head, "#[Test")
	case "rust":
		return strings.Contains(head, "test]") || strings.Contains(head, "#[test")
	case "java", "kotlin", "scala", "groovy":
		return strings.Contains(head, "@Test") || strings.Contains(head, "@ParameterizedTest") || strings.Contains(head, "@Property")
	case "csharp":
		return strings.Contains(head, "[Test") || strings.Contains(head, "[Fact") || strings.Contains(head, "[Theory")
	case "swift":
		return strings.HasPrefix(y.Name, "test") || strings.Contains(head, "@Test")
	}
	return strings.HasPrefix(strings.ToLower(y.Name), "test")
}

// fileIsTest reports whether a file of tests counts as one where it declares
// none: in these languages a test is a call.
func fileIsTest(language string) bool {
	switch language {
	case "javascript", "typescript", "tsx", "jsx", "ruby", "lua", "elixir", "vue", "bash":
		return true
	}
	return false
}

// stem is the name of a file without what marks it as a test.
func stem(p string) string {
	s := path.Base(p)
	if i := strings.IndexByte(s, '.'); i > 0 {
		s = s[:i]
	}
	s = strings.ToLower(s)
	for _, mark := range []string{"test_", "spec_"} {
		s = strings.TrimPrefix(s, mark)
	}
	for _, mark := range []string{"_test", "_spec", "tests", "test"} {
		if len(s) > len(mark) {
			s = strings.TrimSuffix(s, mark)
		}
	}
	return strings.Trim(s, "_")
}
