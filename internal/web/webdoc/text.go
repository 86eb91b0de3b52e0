package webdoc

import (
	"bytes"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
)

// Patterns are compiled when they are needed: whoever starts the program to
// search waits for none.
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
// anchors but those it writes itself: which ones a rendering of it has, nobody
// says.
func readMarkdown(body []byte, base *url.URL, o Options) Page {
	var p Page
	body = normal(body)
	if len(body) > o.MaxBytes {
		body, p.Truncated = append(bytes.ToValidUTF8(body[:o.MaxBytes-1], nil), '\n'), true
	}
	p.Markdown = body
	l := linker{base: base, max: o.MaxLinks, at: map[string]int{}}
	fence := ""
	front := false
	for i, line := range strings.Split(string(body), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case i == 0 && trimmed == "---":
			front = true
			continue
		case front:
			if trimmed == "---" {
				front = false
			} else if k, v, ok := strings.Cut(trimmed, ":"); ok {
				v = strings.Trim(strings.TrimSpace(v), `"'`)
				switch k {
				case "title":
					p.Title = clip(v, 300)
				case "description":
					p.Description = clip(v, 500)
				case "lastmod", "last_modified", "date", "updated", "last_update":
					p.Modified = parseTime(v)
				case "url", "canonical", "canonical_url":
					p.Canonical, _ = Split(resolve(base, v))
				}
			}
			continue
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
			continue
		}
		if rest, ok := strings.CutPrefix(trimmed, "# "); ok && p.Title == "" {
			if at := strings.LastIndex(rest, " {#"); at > 0 {
				rest = rest[:at]
			}
			p.Title = clip(strings.Trim(strings.TrimSpace(rest), "`*_# "), 300)
		}
		for _, m := range markdownLink().FindAllStringSubmatch(line, 200) {
			l.add(m[2], clip(strings.Trim(m[1], "`*_ "), 200), m[3], "")
		}
		for _, m := range autoLink().FindAllStringSubmatch(line, 200) {
			l.add(m[1], "", "", "")
		}
	}
	p.Links = l.links
	p.Version = versionOf(base)
	return p
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
			p.Title = clip(string(t), 120)
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
