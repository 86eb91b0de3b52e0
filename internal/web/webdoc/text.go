package webdoc

import (
	"bytes"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// Patterns are compiled when they are needed, so that a search waits for none.
var (
	markdownLink = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\[([^\[\]]*)\]\(<?([^()\s<>]+)>?(?:\s+"([^"]*)")?\)`)
	})
	autoLink = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<(https?://[^\s<>]+)>`) })
)

// isMarkdownPath reports whether a path names a file of Markdown.
func isMarkdownPath(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".markdown", ".mdx", ".mdown", ".mkd":
		return true
	}
	name := path.Base(p)
	return name == "llms.txt" || name == "llms-full.txt"
}

// readMarkdown reads a page that is Markdown already. Its headings carry no
// anchors but those it writes itself: the ones of a rendering are unknown.
func readMarkdown(body []byte, base *url.URL, o Options) Page {
	var p Page
	body = normal(body)
	if len(body) > o.MaxBytes {
		body, p.Truncated = append(bytes.ToValidUTF8(body[:o.MaxBytes-1], nil), '\n'), true
	}
	p.Markdown = body
	l := linker{base: base, max: o.MaxLinks, at: map[string]int{}}
	lines := strings.Split(string(body), "\n")
	for i, kind := range markdown.Kinds(string(body)) {
		switch kind {
		case markdown.Front:
			p.front(lines[i], base)
		case markdown.Text, markdown.Heading, markdown.Table, markdown.HTML:
			for _, m := range markdownLink().FindAllStringSubmatch(lines[i], 200) {
				l.add(m[2], kb.Cut(strings.Trim(m[1], "`*_ "), 200), m[3], "")
			}
			for _, m := range autoLink().FindAllStringSubmatch(lines[i], 200) {
				l.add(m[1], "", "", "")
			}
		}
	}
	markdown.Read(string(body), func(b markdown.Block) {
		if b.Kind == markdown.Heading && b.Level == 1 && p.Title == "" {
			p.Title = kb.Cut(strings.Trim(markdown.Plain(b.Text), "`*_# "), 300)
		}
	})
	p.Links = l.links
	p.Version = versionOf(base)
	return p
}

// front takes a line of front matter.
func (p *Page) front(line string, base *url.URL) {
	k, v, ok := strings.Cut(strings.TrimSpace(line), ":")
	if !ok {
		return
	}
	v = strings.Trim(strings.TrimSpace(v), `"'`)
	switch k {
	case "title":
		p.Title = kb.Cut(v, 300)
	case "description":
		p.Description = kb.Cut(v, 500)
	case "lastmod", "last_modified", "date", "updated", "last_update":
		p.Modified = parseTime(v)
	case "url", "canonical", "canonical_url":
		p.Canonical, _ = Split(resolve(base, v))
	}
}

// readText reads plain text. What Markdown would take for a heading is
// escaped.
func readText(body []byte, base *url.URL, o Options) Page {
	var p Page
	body = normal(body)
	var out []byte
	for line := range bytes.Lines(body) {
		if len(line) > 0 && (line[0] == '#' || bytes.HasPrefix(line, []byte("```"))) {
			out = append(out, '\\')
		}
		if t := bytes.TrimSpace(line); p.Title == "" && len(t) > 0 {
			p.Title = kb.Cut(string(t), 120)
		}
		if out = append(out, line...); len(out) > o.MaxBytes {
			out, p.Truncated = append(bytes.ToValidUTF8(out[:o.MaxBytes-1], nil), '\n'), true
			break
		}
	}
	p.Markdown = out
	p.Version = versionOf(base)
	return p
}

// normal ends lines by "\n" and the text by one.
func normal(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	body = bytes.Trim(bytes.ReplaceAll(body, []byte{0}, nil), "\n")
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	return append(bytes.Clone(body), '\n')
}
