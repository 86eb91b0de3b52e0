package webdoc

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// head is what a page says of itself outside its text.
type head struct {
	title, ogTitle, site string
	description          string
	canonical            string
	base                 string
	language             string
	version              string
	modified             time.Time
	noIndex, noFollow    bool
	breadcrumbs          []string
}

// versionMetas are the names of meta elements that hold a version.
var versionMetas = kb.WordsOf(`docsearch:version docusaurus_version doc:version version doc-version product-version`)

// modifiedMetas are the names of meta elements that hold the time of the last
// change, and modifiedClass the classes of elements that show it.
var (
	modifiedMetas = kb.WordsOf(`article:modified_time og:updated_time last-modified last_modified modified dcterms.modified dc.date.modified
		date.modified revised lastmod git-revision-date`)
	modifiedClass = kb.WordsOf(`last-updated lastupdated theme-last-updated last-modified page-last-modified git-revision-date-localized-plugin
		vplastupdated`)
)

func readHead(doc *html.Node, c *cleaned) head {
	var h head
	walk(doc, func(n *html.Node) bool {
		if n.Type != html.ElementNode {
			return true
		}
		switch n.DataAtom {
		case atom.Html:
			h.language = cmp.Or(attr(n, "lang"), attr(n, "xml:lang"))
		case atom.Title:
			if h.title == "" {
				h.title = textOf(n, 300)
			}
			return false
		case atom.Base:
			if h.base == "" {
				h.base = attr(n, "href")
			}
		case atom.Link:
			if h.canonical == "" && strings.EqualFold(attr(n, "rel"), "canonical") {
				h.canonical = attr(n, "href")
			}
		case atom.Meta:
			h.meta(n)
		case atom.Time:
			// <time datetime> counts only where it is said to be that of the last change.
			if h.modified.IsZero() && (attr(n, "itemprop") == "dateModified" || n.Parent != nil && near(n, modifiedClass)) {
				h.modified = parseTime(attr(n, "datetime"))
			}
		}
		return true
	})
	for _, raw := range c.jsonLD {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			h.ld(v, 0)
		}
	}
	if len(h.breadcrumbs) == 0 {
		h.breadcrumbs = readBreadcrumbs(doc)
	}
	h.language = strings.ReplaceAll(kb.Cut(strings.TrimSpace(h.language), 35), "_", "-")
	return h
}

// near reports whether one of the three elements around n has one of the classes.
func near(n *html.Node, classes map[string]bool) bool {
	for i := 0; i < 4 && n != nil; i, n = i+1, n.Parent {
		if hasClass(n, classes) {
			return true
		}
	}
	return false
}

func (h *head) meta(n *html.Node) {
	name := strings.ToLower(cmp.Or(attr(n, "name"), attr(n, "property")))
	content := strings.TrimSpace(attr(n, "content"))
	if content == "" {
		return
	}
	switch {
	case name == "description" || name == "og:description" && h.description == "":
		h.description = oneLine(content, 500)
	case name == "og:title":
		h.ogTitle = oneLine(content, 300)
	case name == "og:site_name" || name == "application-name" && h.site == "":
		h.site = kb.Cut(content, 100)
	case name == "robots":
		for w := range strings.FieldsFuncSeq(strings.ToLower(content), func(r rune) bool { return r == ',' || r == ' ' }) {
			h.noIndex = h.noIndex || w == "noindex" || w == "none"
			h.noFollow = h.noFollow || w == "nofollow" || w == "none"
		}
	case versionMetas[name]:
		if h.version == "" && len(content) <= 30 && content != "current" {
			h.version = content
		}
	case modifiedMetas[name]:
		if t := parseTime(content); h.modified.IsZero() {
			h.modified = t
		}
	case strings.EqualFold(attr(n, "http-equiv"), "last-modified"):
		h.modified = parseTime(content)
	case attr(n, "itemprop") == "dateModified" && h.modified.IsZero():
		h.modified = parseTime(content)
	}
}

// parseTime reads the forms in which pages write times; the zero time when it
// is none of them.
func parseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02",
		time.RFC1123, time.RFC1123Z, "January 2, 2006", "Jan 2, 2006", "2 January 2006"} {
		if t, err := time.Parse(form, s); err == nil && t.Year() > 1990 && t.Year() < 2200 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// ld takes breadcrumbs and the time of the last change from structured data
// (schema.org).
func (h *head) ld(v any, depth int) {
	if depth > 6 {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			h.ld(e, depth+1)
		}
	case map[string]any:
		if s, ok := v["dateModified"].(string); ok && h.modified.IsZero() {
			h.modified = parseTime(s)
		}
		if items, ok := v["itemListElement"].([]any); ok && v["@type"] == "BreadcrumbList" && len(h.breadcrumbs) == 0 {
			for _, e := range items {
				e, _ := e.(map[string]any)
				name, _ := e["name"].(string)
				if item, ok := e["item"].(map[string]any); ok && name == "" {
					name, _ = item["name"].(string)
				}
				if name = oneLine(name, 100); name != "" && len(h.breadcrumbs) < 12 {
					h.breadcrumbs = append(h.breadcrumbs, name)
				}
			}
		}
		for _, k := range []string{"@graph", "mainEntity", "breadcrumb"} {
			h.ld(v[k], depth+1)
		}
	}
}

// isBreadcrumbs reports whether an element shows the way from the root.
func isBreadcrumbs(n *html.Node) bool {
	if strings.Contains(strings.ToLower(attr(n, "aria-label")), "breadcrumb") || strings.HasSuffix(attr(n, "itemtype"), "BreadcrumbList") {
		return true
	}
	for c := range strings.FieldsSeq(strings.ToLower(attr(n, "class") + " " + attr(n, "id"))) {
		switch strings.Trim(c, "_") {
		case "breadcrumb", "breadcrumbs", "bread-crumb", "wy-breadcrumbs", "md-path", "bd-breadcrumbs", "theme-doc-breadcrumbs", "crumbs",
			"breadcrumb-container", "rustdoc-breadcrumbs", "sub-nav-breadcrumbs", "breadcrumbs-container":
			return true
		}
	}
	return false
}

// readBreadcrumbs reads the way from the root as the page shows it.
func readBreadcrumbs(doc *html.Node) []string {
	box := find(doc, isBreadcrumbs)
	if box == nil {
		return nil
	}
	var out []string
	items := func(is func(*html.Node) bool) {
		walk(box, func(n *html.Node) bool {
			if n.Type != html.ElementNode || n == box || !is(n) {
				return true
			}
			if hidden(n) || hasClass(n, droppedClass) {
				return false
			}
			if s := strings.Trim(textOf(n, 100), " /›»>«·|→"); s != "" && len(out) < 12 {
				out = append(out, s)
			}
			return false
		})
	}
	items(func(n *html.Node) bool { return n.DataAtom == atom.Li })
	if len(out) == 0 {
		items(func(n *html.Node) bool { return n.DataAtom == atom.A })
	}
	return out
}

// hidden reports whether a reader does not see an element. Panels of tabs are
// hidden until they are chosen; they are text like the first.
func hidden(n *html.Node) bool {
	if attr(n, "aria-hidden") == "true" && headingLevel(n) == 0 {
		return true
	}
	return hasAttr(n, "hidden") && attr(n, "hidden") != "until-found" && attr(n, "role") != "tabpanel"
}

// separators part the title of a page from the name of its site.
var separators = []string{" | ", " — ", " – ", " :: ", " · ", " » ", " • ", " - "}

// pageTitle returns the title of a page without that of its site. heading is
// the first heading of the main text.
func pageTitle(h head, heading string) string {
	title := cmp.Or(h.title, h.ogTitle, heading)
	if heading != "" && strings.Contains(strings.ToLower(title), strings.ToLower(heading)) {
		return heading // "Site: Heading"
	}
	if title == "" {
		return ""
	}
	for {
		cut := -1
		for _, sep := range separators {
			cut = max(cut, strings.LastIndex(title, sep))
		}
		if cut <= 0 {
			return title
		}
		rest := strings.TrimLeft(title[cut:], " |—–:·»•-")
		if h.site != "" && !strings.EqualFold(rest, h.site) && len(rest) > 30 {
			return title
		}
		title = strings.TrimSpace(title[:cut])
	}
}

var (
	versionSegment = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(v\d{1,4}([._]\d{1,4}|\.x){0,3}([.-]?(alpha|beta|rc|pre|dev)[.\d]*)?|\d{1,4}([._]\d{1,4}|\.x){1,3}([.-]?(alpha|beta|rc|pre|dev)[.\d]*)?|\d{1,3}\.x|stable|latest|current|main|master|dev|devel|develop|next|nightly|canary|edge|unstable|trunk|lts)$`)
	})
	smallNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{1,2}$`) })
	docsSegment = kb.WordsOf(`docs doc documentation manual guide guides reference api en latest javase jdk`)
)

// versionOf returns the version that a URL names by a segment of its path, or
// by its host ("v2.example.org"); "" when it names none. A bare number counts
// behind a segment such as "docs".
func versionOf(u *url.URL) string {
	before := ""
	for seg := range strings.SplitSeq(strings.Trim(u.EscapedPath(), "/"), "/") {
		low := strings.ToLower(seg)
		if i := strings.LastIndexByte(low, '@'); i >= 0 && versionSegment().MatchString(low[i+1:]) {
			return seg[i+1:]
		}
		if versionSegment().MatchString(low) || docsSegment[before] && smallNumber().MatchString(low) {
			return seg
		}
		before = low
	}
	first, rest, _ := strings.Cut(u.Hostname(), ".")
	if strings.Contains(rest, ".") && len(first) > 1 && first[0] == 'v' && versionSegment().MatchString(first) {
		return first
	}
	return ""
}
