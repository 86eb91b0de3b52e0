package lint

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// places are the links of a document to headings that are not there.
func (l *Linter) places(ctx context.Context, d *kdd.Doc, body string) ([]kdd.Problem, error) {
	if !strings.Contains(body, "](#") && !strings.Contains(body, ".md#") && !strings.Contains(body, ".mdx#") && !strings.Contains(body, ".markdown#") &&
		!strings.Contains(body, "](<") {
		return nil, nil
	}
	var out []kdd.Problem
	for _, x := range placeLinks(body) {
		to := d
		if x.path != "" {
			p := path.Join(path.Dir(d.Path), x.path)
			if strings.HasPrefix(x.path, "/") {
				p = strings.TrimPrefix(path.Clean(x.path), "/")
			}
			if to = l.Graph.Doc(d.Store, p); to == nil {
				continue // a matter of another rule
			}
		}
		if hasPlace(to, x.anchor) {
			continue
		}
		text := body
		if to != d {
			var err error
			if text, err = l.body(ctx, to); err != nil {
				return nil, err
			}
			l.bodies[to] = text
		}
		if marksPlace(text, x.anchor) {
			continue
		}
		where := "its own text"
		if to != d {
			where = to.Path
		}
		out = append(out, kdd.Problem{Rule: kdd.DanglingPlace, Doc: d, Line: x.line, Text: fmt.Sprintf("links to #%s, and %s has no such heading", x.anchor, where),
			Mend: "its headings: " + Headings(to)})
	}
	return out, nil
}

// hasPlace reports whether an anchor is that of a heading, in any of the
// spellings that programs give it.
func hasPlace(d *kdd.Doc, anchor string) bool {
	if d.Section(anchor, true) >= 0 {
		return true
	}
	// Some programs number equal headings behind an underscore.
	i := strings.LastIndexByte(anchor, '_')
	return i > 0 && d.Section(anchor[:i]+"-"+anchor[i+1:], true) >= 0
}

// marksPlace reports whether a text marks a place by itself: in HTML, or in
// the braces behind a heading.
func marksPlace(body, anchor string) bool {
	for _, mark := range []string{`id="%s"`, `id='%s'`, `name="%s"`, `name='%s'`, `id=%s>`, `{#%s`, `{ #%s`, `[%s]: `} {
		if strings.Contains(body, fmt.Sprintf(mark, anchor)) {
			return true
		}
	}
	return false
}

// placeLink is a link of Markdown to a heading, here or in another document.
type placeLink struct {
	path, anchor string
	line         int
}

// placeLinks returns the links to headings of a text, outside of code.
func placeLinks(body string) []placeLink {
	var out []placeLink
	kinds := markdown.Kinds(body)
	n := 0
	for l := range strings.Lines(body) {
		if n++; n > len(kinds) || kinds[n-1] != markdown.Text && kinds[n-1] != markdown.Heading || !strings.Contains(l, "](") {
			continue
		}
		for rest := withoutCode(l); ; {
			i := strings.Index(rest, "](")
			if i < 0 {
				break
			}
			rest = rest[i+2:]
			end := strings.IndexAny(rest, ") \t\n")
			if end < 0 {
				break
			}
			target, anchor, ok := strings.Cut(strings.Trim(rest[:end], "<>"), "#")
			rest = rest[end:]
			if ok && isPlace(target, anchor) {
				out = append(out, placeLink{target, unescaped(anchor), n})
			}
		}
	}
	return out
}

// isPlace reports whether a target and what stands behind its # name a heading
// of Markdown of the same store: no line of code, part of a text or top of a page.
func isPlace(target, anchor string) bool {
	if anchor == "" || anchor == "top" || strings.HasPrefix(anchor, ":~:") || strings.ContainsAny(anchor, "{}$=&") || strings.Contains(target, ":") {
		return false
	}
	if len(anchor) > 1 && anchor[0] == 'L' && anchor[1] >= '0' && anchor[1] <= '9' {
		return false
	}
	ext := strings.ToLower(path.Ext(target))
	return target == "" || ext == ".md" || ext == ".mdx" || ext == ".markdown"
}

// unescaped takes percent signs out of an anchor.
func unescaped(anchor string) string {
	if a, err := url.PathUnescape(anchor); err == nil {
		return a
	}
	return anchor
}

// withoutCode blanks the inline code of a line.
func withoutCode(l string) string {
	for {
		from := strings.IndexByte(l, '`')
		if from < 0 {
			return l
		}
		marks := len(l[from:]) - len(strings.TrimLeft(l[from:], "`"))
		end := strings.Index(l[from+marks:], l[from:from+marks])
		if end < 0 {
			return l[:from] + strings.Repeat(" ", marks) + l[from+marks:]
		}
		to := from + marks + end + marks
		l = l[:from] + strings.Repeat(" ", to-from) + l[to:]
	}
}

// Headings lists the anchors of a document.
func Headings(d *kdd.Doc) string {
	var out []string
	for i := range d.Sections {
		if a := d.Sections[i].Anchor; a != "" {
			if out = append(out, a); len(out) == 30 {
				out = append(out, "…")
				break
			}
		}
	}
	if len(out) == 0 {
		return "none; leave the anchor out for the whole document"
	}
	return strings.Join(out, ", ")
}
