package webdoc

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// pre writes a block of code: whole, without line numbers and buttons, fenced,
// with its language where the page names one.
func (r *renderer) pre(n *html.Node) {
	text := codeText(n)
	if strings.TrimSpace(text) == "" {
		return
	}
	if r.oneLine > 0 {
		r.text(text)
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	r.block()
	nested := r.nest
	// Below three columns a fence is read as one whatever is around it, and
	// deeper ones would be read as text.
	if s := r.quotes(); len(nested) > 0 && nested[len(nested)-1].used && len(s) > 3 && strings.TrimSpace(s) == "" {
		r.nest = []nest{{first: "  ", rest: "  ", used: true}}
	}
	r.line(fence + language(n))
	for line := range strings.SplitSeq(text, "\n") {
		r.line(line)
		if len(r.out) > r.max {
			r.full = true
			break
		}
	}
	r.line(fence)
	r.nest = nested
	r.block()
	r.gap = len(r.out) > 0
}

var codeLine = kb.WordsOf(`line code-line token-line view-line ec-line cl code__line`)

// codeText returns the text of a block of code, its blank lines at both ends
// and trailing spaces cut.
func codeText(n *html.Node) string {
	var b strings.Builder
	fresh := func() { // begins a line unless one has just begun
		if s := b.String(); s != "" && s[len(s)-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	var down func(*html.Node)
	down = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case c.Type != html.ElementNode:
			case c.DataAtom == atom.Br:
				b.WriteByte('\n')
			case c.DataAtom == atom.Button || hasClass(c, lineNumberClass) || hidden(c) || permalink(c) ||
				hasClass(c, droppedClass) && c.DataAtom != atom.Code:
			case isBlock(c) && c.DataAtom != atom.Td || hasClass(c, codeLine):
				fresh()
				down(c)
				if isBlock(c) {
					fresh()
				}
			default:
				down(c)
			}
		}
	}
	down(n)
	s := strings.NewReplacer("\r\n", "\n", "\u00a0", " ", "\u200b", "").Replace(b.String())
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// noLanguage are the names that say that there is none.
var noLanguage = lists["no language"]

// bareLanguages are the languages that highlighters name by a class alone.
var bareLanguages = lists["bare languages"]

// languagePrefixes begin the classes that name a language.
var languagePrefixes = []string{"language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "src-",
	"brush:", "prism-language-", "code-"}

// language returns the language that a block of code is marked with: by an
// attribute or a class of its own, of the code element in it, or of the boxes
// around it.
func language(pre *html.Node) string {
	chain := make([]*html.Node, 0, 5)
	if code := find(pre, func(n *html.Node) bool { return n.DataAtom == atom.Code }); code != nil {
		chain = append(chain, code)
	}
around:
	for n, i := pre, 0; n != nil && i < 9; n, i = n.Parent, i+1 {
		switch n.DataAtom {
		case atom.Body, atom.Main, atom.Article, atom.Section, atom.Li, atom.Dd:
			break around
		}
		chain = append(chain, n)
	}
	for i, n := range chain {
		for _, key := range []string{"data-lang", "data-language", "data-code-lang"} {
			if l := languageOf(attr(n, key)); l != "" {
				return l
			}
		}
		classes := strings.Fields(strings.ToLower(attr(n, "class")))
		for j, c := range classes {
			for _, prefix := range languagePrefixes {
				rest, ok := strings.CutPrefix(c, prefix)
				if !ok || (prefix == "code-" || prefix == "src-") && !bareLanguages[rest] {
					continue
				}
				if rest == "" && j+1 < len(classes) {
					rest = classes[j+1]
				}
				if l := languageOf(strings.TrimRight(rest, ";")); l != "" {
					return l
				}
			}
		}
		if i < 3 {
			for _, c := range classes {
				if bareLanguages[c] {
					return c
				}
			}
		}
	}
	return ""
}

// languageOf returns s when it has the form of the name of a language, else "".
func languageOf(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "pycon3" || s == "python3" || s == "ipython3" || s == "ipython" {
		s = "python"
	}
	if s == "" || len(s) > 20 || s[0] < 'a' || s[0] > 'z' || noLanguage[s] ||
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+#._-") != "" {
		return ""
	}
	return s
}
