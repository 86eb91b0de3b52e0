package main

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	render "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// site is a documentation folder rendered the way a generator would.
type site struct {
	name  string
	style string
	pages map[string]*sitePage // by path below the folder, without the ending
	order []string

	mu    sync.Mutex
	asked []string // paths of pages in the order they were first asked for
	seen  map[string]bool
}

type sitePage struct {
	title    string
	body     string
	sections map[string]string // heading as the source has it → anchor
	toc      []heading
	html     []byte
}

type heading struct {
	level    int
	text, id string
}

var (
	frontMatter = regexp.MustCompile(`(?s)\A---\r?\n(.*?)\r?\n---\r?\n`)
	frontTitle  = regexp.MustCompile(`(?m)^title: *["']?(.*?)["']? *$`)
	box         = regexp.MustCompile(`(?m)^[ \t]*:::+ *(\w[\w-]*)[ \t]*(.*)$`)
	boxEnd      = regexp.MustCompile(`(?m)^[ \t]*:::+[ \t]*$`)
	templates   = regexp.MustCompile(`(?s)\{%.*?%\}|\{\{.*?\}\}`)
	mdxImport   = regexp.MustCompile(`(?m)^import .* from .*$`)
	inlineTag   = regexp.MustCompile(`<a [^>]*>|</a>|<[A-Z][^>]*/>|<[A-Z][^>]*>.*?</[A-Z]\w*>`)
	linkMark    = regexp.MustCompile(`\[([^\]]*)\]\((?:<[^>]*>|[^)]*)\)`)
)

// readSite renders the Markdown below a folder.
func readSite(name, style, dir string) (*site, error) {
	s := &site{name: name, style: style, pages: map[string]*sitePage{}, seen: map[string]bool{}}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		ext := filepath.Ext(p)
		if ext != ".md" && ext != ".mdx" {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, strings.TrimSuffix(p, ext))
		rel = filepath.ToSlash(rel)
		page, err := renderPage(string(src), style)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if page.title == "" {
			page.title = path.Base(rel)
		}
		s.pages[rel] = page
		s.order = append(s.order, rel)
		return nil
	})
	slices.Sort(s.order)
	for _, p := range s.order {
		s.pages[p].html = s.frame(p)
	}
	return s, err
}

// renderPage renders one page; the marks of the generator become what it makes
// of them, as far as text and anchors go.
func renderPage(src, style string) (*sitePage, error) {
	p := &sitePage{sections: map[string]string{}}
	if m := frontMatter.FindStringSubmatch(src); m != nil {
		if t := frontTitle.FindStringSubmatch(m[1]); t != nil {
			p.title = t[1]
		}
		src = src[len(m[0]):]
	}
	src = templates.ReplaceAllString(src, "")
	src = mdxImport.ReplaceAllString(src, "")
	src = box.ReplaceAllStringFunc(src, func(s string) string {
		m := box.FindStringSubmatch(s)
		title := m[2]
		if title == "" {
			title = strings.ToUpper(m[1])
		}
		if style == "docusaurus" {
			return "\n<div class=\"theme-admonition theme-admonition-" + m[1] + " alert\"><div class=\"admonitionHeading admonition-heading\">" + html.EscapeString(title) + "</div><div class=\"admonitionContent\">\n"
		}
		return "\n<div class=\"" + m[1] + " custom-block\"><p class=\"custom-block-title\">" + html.EscapeString(title) + "</p>\n"
	})
	src = boxEnd.ReplaceAllStringFunc(src, func(string) string {
		if style == "docusaurus" {
			return "\n</div></div>\n"
		}
		return "\n</div>\n"
	})
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.DefinitionList),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithAttribute()), goldmark.WithRendererOptions(render.WithUnsafe()))
	source := []byte(src)
	ctx := parser.NewContext(parser.WithIDs(&slugs{used: map[string]bool{}}))
	doc := md.Parser().Parse(text.NewReader(source), parser.WithContext(ctx))
	err := ast.Walk(doc, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			raw := string(n.Lines().Value(source))
			plain := headingText(raw)
			id := ""
			if v, ok := n.AttributeString("id"); ok {
				id = string(v.([]byte))
			}
			if n.Level == 1 && p.title == "" {
				p.title = plain
			}
			if _, ok := p.sections[plain]; !ok {
				p.sections[plain] = id
			}
			p.toc = append(p.toc, heading{n.Level, plain, id})
		case *ast.Link:
			dest := string(n.Destination)
			if !strings.Contains(dest, "://") {
				dest = regexp.MustCompile(`\.mdx?(#|$)`).ReplaceAllString(dest, ".html$1")
				n.Destination = []byte(dest)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, source, doc); err != nil {
		return nil, err
	}
	p.body = out.String()
	if len(p.toc) == 0 || p.toc[0].level != 1 {
		p.body = "<h1>" + html.EscapeString(p.title) + "</h1>\n" + p.body
		p.sections[p.title] = ""
	}
	return p, nil
}

// headingText strips the marks of a heading in the source.
func headingText(raw string) string {
	raw = regexp.MustCompile(`\s*\{#[^}]*\}\s*$`).ReplaceAllString(raw, "")
	raw = linkMark.ReplaceAllString(raw, "$1")
	raw = inlineTag.ReplaceAllString(raw, "")
	return strings.TrimSpace(strings.NewReplacer("`", "", `\`, "").Replace(raw))
}

// slugs makes ids as GitHub does.
type slugs struct{ used map[string]bool }

func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(headingText(string(value))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	id := b.String()
	for i := 1; s.used[id]; i++ {
		id = fmt.Sprintf("%s-%d", b.String(), i)
	}
	s.used[id] = true
	return []byte(id)
}

func (s *slugs) Put(value []byte) { s.used[string(value)] = true }

var _ parser.IDs = (*slugs)(nil)

var (
	headingTag = regexp.MustCompile(`(?s)<h([1-6]) id="([^"]*)">(.*?)</h[1-6]>`)
	codeTag    = regexp.MustCompile(`(?s)<pre><code(?: class="language-([^"]*)")?>(.*?)</code></pre>`)
)

// frame puts a page into the template of its style: what stands around the
// text, and how headings and code are marked, is as its generator writes it.
func (s *site) frame(at string) []byte {
	p := s.pages[at]
	body := headingTag.ReplaceAllStringFunc(p.body, func(h string) string {
		m := headingTag.FindStringSubmatch(h)
		l, id, inner := m[1], m[2], m[3]
		switch s.style {
		case "docusaurus":
			return fmt.Sprintf(`<h%s class="anchor anchorWithStickyNavbar" id="%s">%s<a href="#%s" class="hash-link" aria-label="Direct link"></a></h%s>`, l, id, inner, id, l)
		case "vitepress":
			return fmt.Sprintf(`<h%s id="%s" tabindex="-1">%s <a class="header-anchor" href="#%s">&#8203;</a></h%s>`, l, id, inner, id, l)
		case "sphinx":
			return fmt.Sprintf(`<span id="%s"></span><h%s>%s<a class="headerlink" href="#%s" title="Link to this heading">¶</a></h%s>`, id, l, inner, id, l)
		case "mkdocs":
			return fmt.Sprintf(`<h%s id="%s">%s<a class="headerlink" href="#%s" title="Permanent link">&para;</a></h%s>`, l, id, inner, id, l)
		default:
			return fmt.Sprintf(`<a name="%s"></a><h%s>%s</h%s>`, id, l, inner, l)
		}
	})
	body = codeTag.ReplaceAllStringFunc(body, func(c string) string {
		m := codeTag.FindStringSubmatch(c)
		lang, code := m[1], m[2]
		lines := strings.Split(strings.TrimRight(code, "\n"), "\n")
		switch s.style {
		case "docusaurus":
			for i, l := range lines {
				lines[i] = `<span class="token-line"><span class="token plain">` + l + `</span><br></span>`
			}
			return `<div class="language-` + lang + ` codeBlockContainer"><div class="codeBlockContent"><pre tabindex="0" class="prism-code language-` + lang + `"><code class="codeBlockLines">` + strings.Join(lines, "") + `</code></pre><div class="buttonGroup"><button type="button" class="clean-btn">Copy</button></div></div></div>`
		case "vitepress":
			numbers := ""
			for i, l := range lines {
				lines[i] = `<span class="line"><span>` + l + `</span></span>`
				numbers += fmt.Sprintf(`<span class="line-number">%d</span><br>`, i+1)
			}
			return `<div class="language-` + lang + ` line-numbers-mode"><button title="Copy Code" class="copy"></button><span class="lang">` + lang + `</span><pre class="shiki vp-code"><code>` + strings.Join(lines, "\n") + `</code></pre><div class="line-numbers-wrapper" aria-hidden="true">` + numbers + `</div></div>`
		case "sphinx":
			return `<div class="highlight-` + lang + ` notranslate"><div class="highlight"><pre><span></span>` + code + `</pre></div></div>`
		case "mkdocs":
			numbers := ""
			for i := range lines {
				numbers += fmt.Sprintf("<span class=\"normal\">%d</span>\n", i+1)
			}
			return `<div class="language-` + lang + ` highlight"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>` + numbers + `</pre></div></td><td class="code"><div><pre><span></span><code>` + code + `</code></pre></div></td></tr></table></div>`
		}
		return c
	})
	up := strings.Repeat("../", strings.Count(at, "/"))
	var nav, crumbs, toc strings.Builder
	for _, o := range s.order {
		fmt.Fprintf(&nav, `<li><a href="%s%s.html">%s</a></li>`, up, o, html.EscapeString(s.pages[o].title))
	}
	for _, dir := range strings.Split(path.Dir(at), "/") {
		if dir != "." {
			fmt.Fprintf(&crumbs, `<li><a href="%sindex.html">%s</a></li>`, up, html.EscapeString(dir))
		}
	}
	fmt.Fprintf(&crumbs, `<li>%s</li>`, html.EscapeString(p.title))
	for _, h := range p.toc {
		if h.level > 1 {
			fmt.Fprintf(&toc, `<li><a href="#%s">%s</a></li>`, h.id, html.EscapeString(h.text))
		}
	}
	f := frames[s.style]
	r := strings.NewReplacer("{TITLE}", html.EscapeString(p.title), "{SITE}", s.name, "{NAV}", nav.String(), "{CRUMBS}", crumbs.String(), "{TOC}", toc.String(), "{BODY}", body)
	return []byte(r.Replace(f))
}

// frames are the templates: header, navigation, way from the root, list of
// contents, links to edit and to the next page, footer.
var frames = map[string]string{
	"docusaurus": `<!doctype html><html lang="en"><head><meta charset="UTF-8"><title>{TITLE} | {SITE}</title><script src="/assets/main.js" defer></script></head><body><div id="__docusaurus"><nav class="navbar"><a href="/">{SITE}</a></nav><div class="main-wrapper"><aside class="theme-doc-sidebar-container"><nav aria-label="Docs sidebar"><ul>{NAV}</ul></nav></aside><main><article><nav class="theme-doc-breadcrumbs" aria-label="Breadcrumbs"><ul class="breadcrumbs">{CRUMBS}</ul></nav><div class="theme-doc-markdown markdown">{BODY}</div><footer class="theme-doc-footer"><a href="https://github.com/" class="theme-edit-this-page">Edit this page</a></footer></article><div class="theme-doc-toc-desktop"><ul class="table-of-contents">{TOC}</ul></div></main></div><footer class="footer">Copyright, built with a generator</footer></div></body></html>`,
	"vitepress":  `<!DOCTYPE html><html lang="en-US"><head><meta charset="utf-8"><title>{TITLE} | {SITE}</title></head><body><div id="app"><div class="Layout"><a href="#VPContent" class="VPSkipLink visually-hidden">Skip to content</a><header class="VPNav"><a href="/">{SITE}</a></header><aside class="VPSidebar"><nav><ul>{NAV}</ul></nav></aside><div class="VPContent" id="VPContent"><div class="VPDoc"><div class="aside"><nav class="VPDocAsideOutline"><ul>{TOC}</ul></nav></div><main class="main"><div class="vp-doc"><div>{BODY}</div></div></main><footer class="VPDocFooter"><a href="https://github.com/">Edit this page</a><nav class="prev-next"><a href="/">Next page</a></nav></footer></div></div><footer class="VPFooter">MIT</footer></div></div><script>window.hashmap={}</script></body></html>`,
	"sphinx":     `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"/><title>{TITLE} &mdash; {SITE} documentation</title></head><body class="wy-body-for-nav"><div class="wy-grid-for-nav"><nav class="wy-nav-side"><ul>{NAV}</ul></nav><section class="wy-nav-content-wrap"><div class="rst-content"><div role="navigation" aria-label="Page navigation"><ul class="wy-breadcrumbs">{CRUMBS}<li class="wy-breadcrumbs-aside"><a href="https://github.com/">View page source</a></li></ul></div><div role="main" class="document"><div itemprop="articleBody"><nav class="contents local"><ul>{TOC}</ul></nav>{BODY}</div></div><footer><div class="rst-footer-buttons"><a href="/">Next</a></div><div role="contentinfo"><p>Copyright</p></div></footer></div></section></div></body></html>`,
	"mkdocs":     `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{TITLE} - {SITE}</title></head><body><header class="md-header"><nav><a href="/">{SITE}</a></nav></header><div class="md-container"><main class="md-main"><div class="md-sidebar md-sidebar--primary"><nav><ul>{NAV}</ul></nav></div><div class="md-sidebar md-sidebar--secondary"><nav aria-label="Table of contents"><ul>{TOC}</ul></nav></div><div class="md-content"><article class="md-content__inner md-typeset"><nav class="md-path"><ol>{CRUMBS}</ol></nav><a href="https://github.com/" class="md-content__button">Edit</a>{BODY}<aside class="md-source-file">Last update</aside></article></div></main><footer class="md-footer"><nav><a href="/">Previous</a></nav></footer></div></body></html>`,
	"plain":      `<html><head><title>{TITLE}</title></head><body><div class="header"><a href="/">{SITE}</a></div><table width="100%"><tr><td width="20%" valign="top"><div class="menu"><ul>{NAV}</ul></div></td><td valign="top"><div class="path"><ul class="breadcrumb">{CRUMBS}</ul></div><div class="toc"><ul>{TOC}</ul></div><div id="content">{BODY}</div></td></tr></table><div class="footer">Copyright. <a href="/">Home</a></div></body></html>`,
}

// ServeHTTP serves the pages and notes which were asked for.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/robots.txt":
		fmt.Fprintf(w, "User-agent: *\nAllow: /\n")
		return
	case "/sitemap.xml", "/llms.txt", "/llms-full.txt", "/favicon.ico":
		http.NotFound(w, r)
		return
	}
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".html")
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index"
	}
	p := s.pages[name]
	s.mu.Lock()
	if !s.seen[name] {
		s.seen[name] = true
		s.asked = append(s.asked, name)
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if p == nil {
		if name != "index" {
			http.NotFound(w, r)
			return
		}
		var list strings.Builder
		for _, o := range s.order {
			fmt.Fprintf(&list, `<li><a href="%s.html">%s</a></li>`, o, html.EscapeString(s.pages[o].title))
		}
		fmt.Fprintf(w, "<!doctype html><html><head><title>%s</title></head><body><main><h1>%s</h1><ul>%s</ul></main></body></html>", s.name, s.name, list.String())
		return
	}
	_, _ = w.Write(p.html)
}

// forget begins another account of what is asked for.
func (s *site) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.seen = nil, map[string]bool{}
}
