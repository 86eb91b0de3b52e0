package source

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/module"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// Package is a package of a registry whose documentation is a store.
type Package struct {
	Registry string // "npm" or "go"
	Name     string // "@scope/name", "golang.org/x/sync"
	// Version is as it was asked for: "1.2.3", "5", "latest", "v1"; "" is the latest.
	Version string
}

// registries says which sources are packages, and what their names look like.
var registries = []struct {
	prefix string
	valid  func(name string) bool
	hint   string
}{
	{"npm", npmName.MatchString, "write npm:NAME or npm:NAME@VERSION, as in npm:left-pad@1.3.0 or npm:@types/node@22"},
	{"go", func(name string) bool { return module.CheckPath(name) == nil }, "write go:MODULE or go:MODULE@VERSION, as in go:golang.org/x/sync@v0.7.0"},
}

var (
	npmName = lazyregexp.New(`^(?:@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]{0,213}$`)
	// Versions, ranges that are one comparison, and tags: "1.2.3", "^1.2", "v1", "next".
	versionRE = lazyregexp.New(`^[~^]?[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$`)
)

// PackageOf reads a canonical source that is a package of a registry.
func PackageOf(source string) (Package, bool) {
	for _, r := range registries {
		rest, ok := strings.CutPrefix(source, r.prefix+":")
		if !ok {
			continue
		}
		p := Package{Registry: r.prefix, Name: rest}
		if i := strings.LastIndexByte(rest, '@'); i > 0 {
			p.Name, p.Version = rest[:i], rest[i+1:]
		}
		return p, true
	}
	return Package{}, false
}

// isPackage reports whether what a user wrote means a package.
func isPackage(raw string) bool {
	p, ok := PackageOf(raw)
	return ok && !strings.HasPrefix(p.Name, "//")
}

// canonicalWeb normalises the URL of a site, or the name of a package.
//
//	https://host/path?query  scheme and host in lower case; default port and fragment dropped, "/" for no path
//	http://host/path         the same
//	npm:NAME@VERSION         VERSION may be a version, a part of one, a tag, or missing
//	go:MODULE@VERSION        the same
func canonicalWeb(_ context.Context, raw, _ string) (string, error) {
	for _, r := range registries {
		p, ok := PackageOf(raw)
		if !ok || p.Registry != r.prefix {
			continue
		}
		name, version := strings.TrimSpace(p.Name), strings.TrimSpace(p.Version)
		if !r.valid(name) || strings.Contains(raw[len(r.prefix)+1:], "@") && version == "" && !strings.HasPrefix(name, "@") ||
			version != "" && !versionRE.MatchString(version) {
			return "", kb.Errorf(kb.Invalid, "%q names no package", raw).WithHint("%s", r.hint)
		}
		if version == "" || version == "latest" {
			return r.prefix + ":" + name, nil
		}
		return r.prefix + ":" + name + "@" + version, nil
	}
	refuse := func(why, hint string) (string, error) {
		return "", kb.Errorf(kb.Invalid, "%q %s", redact(raw), why).WithHint("%s", hint)
	}
	m := schemeRE.FindStringSubmatch(raw)
	if m == nil {
		if first, _, _ := strings.Cut(raw, "/"); strings.Contains(first, ".") && hostRE.MatchString(first) {
			return refuse("is no URL", "write https://"+raw)
		}
		return refuse("is no URL", "write https://host/path, npm:NAME@VERSION or go:MODULE@VERSION")
	}
	scheme := strings.ToLower(m[1])
	if scheme != "http" && scheme != "https" {
		return refuse("is not an address on the web", "a site is crawled over http or https")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return refuse("is not a well-formed URL", "write https://host/path")
	}
	if u.User != nil {
		return refuse("holds a user name or password", "leave it out, and name the variable that holds it with web.headers in the configuration")
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "" || strings.ContainsAny(host, " %") || !strings.Contains(host, ":") && !webHost.MatchString(host) {
		return refuse("names no valid host", "write https://host/path")
	}
	port := u.Port()
	if port == map[string]string{"http": "80", "https": "443"}[scheme] {
		port = ""
	}
	out := host
	switch {
	case port != "":
		out = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		out = "[" + host + "]"
	}
	p := u.EscapedPath()
	if p == "" {
		p = "/"
	}
	out = scheme + "://" + out + p
	if u.RawQuery != "" {
		out += "?" + u.RawQuery
	}
	return out, nil
}

// webHost is looser than hostRE: names may hold letters of any script.
var webHost = lazyregexp.New(`^[\p{L}\p{N}_]([\p{L}\p{N}\p{M}_.-]*[\p{L}\p{N}\p{M}_])?$`)

// canonicalSite brings what narrows the pages of a site into one form.
func canonicalSite(w kb.Web) (kb.Web, error) {
	clean := func(list []string, f func(string) string) []string {
		var out []string
		for _, s := range list {
			if s = f(strings.TrimSpace(s)); s != "" {
				out = append(out, s)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	same := func(s string) string { return s }
	w.Crawl, w.Extract = strings.TrimSpace(w.Crawl), strings.TrimSpace(w.Extract)
	w.Include, w.Exclude = clean(w.Include, same), clean(w.Exclude, same)
	w.Hosts = clean(w.Hosts, strings.ToLower)
	for _, h := range w.Hosts {
		name, port, err := net.SplitHostPort(h)
		if err != nil {
			name, port = h, "1"
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil || !webHost.MatchString(strings.TrimPrefix(name, "*.")) {
			return w, kb.Errorf(kb.Invalid, "%q is no host", h).WithHint("write the host alone, as in docs.example.org or *.example.org")
		}
	}
	if w.Headless == "auto" {
		w.Headless = ""
	}
	switch {
	case w.Headless != "" && w.Headless != "always" && w.Headless != "never":
		return w, kb.Errorf(kb.Invalid, "headless must be auto, always or never, not %q", w.Headless).WithHint("leave it out for auto")
	case w.Depth < 0 || w.Depth > 1000:
		return w, kb.Errorf(kb.Invalid, "depth must lie between 1 and 1000, not %d", w.Depth).WithHint("leave it out for 10; for one page alone set maxPages to 1")
	case w.MaxPages < 0 || w.MaxPages > MaxPages:
		return w, kb.Errorf(kb.Invalid, "maxPages must lie between 1 and %d, not %d", MaxPages, w.MaxPages).WithHint("leave it out for 1000")
	}
	for _, s := range []struct{ name, text string }{{"crawlInstructions", w.Crawl}, {"extractInstructions", w.Extract}} {
		if len(s.text) > 2000 {
			return w, kb.Errorf(kb.TooLarge, "%s has %d bytes", s.name, len(s.text)).WithHint("say in a sentence or two what is wanted")
		}
	}
	if len(w.Include)+len(w.Exclude)+len(w.Hosts) > 200 {
		return w, kb.Errorf(kb.TooLarge, "include, exclude and hosts name %d things", len(w.Include)+len(w.Exclude)+len(w.Hosts)).WithHint("use fewer, wider patterns")
	}
	return w, nil
}

// MaxPages is the most pages that one site may have.
const MaxPages = 100_000

// generic are last elements of URLs that name nothing.
var generic = kb.WordsOf(`docs doc documentation index.html index latest stable en en-us main current guide reference api home
	manual`)

// webName makes a name from the source of a web store: the package and its
// version, or the last telling element of the URL, else the host.
func webName(src string) string {
	if p, ok := PackageOf(src); ok {
		name := p.Name
		if p.Registry == "go" {
			name, _, _ = module.SplitPathVersion(name)
		}
		name = path.Base(name)
		if p.Version != "" {
			name += "-" + strings.TrimLeft(p.Version, "^~")
		}
		return name
	}
	u, err := url.Parse(src)
	if err != nil {
		return src
	}
	last := path.Base(strings.TrimRight(u.Path, "/"))
	if ext := path.Ext(last); ext == ".html" || ext == ".htm" || ext == ".md" {
		last = strings.TrimSuffix(last, ext)
	}
	host := strings.TrimPrefix(u.Hostname(), "www.")
	if last == "." || last == "/" || last == "" || generic[strings.ToLower(last)] {
		return host
	}
	return host + "-" + last
}

// PagesDir returns where the pages of a web store are kept; "" for other kinds.
func (o *Opener) PagesDir(spec kb.Spec) string {
	if !TraitsOf(spec.Kind).Gathered || o.WebDir == "" {
		return ""
	}
	return o.pagesDir(spec)
}

func (o *Opener) pagesDir(spec kb.Spec) string { return filepath.Join(o.WebDir, string(spec.ID())) }

// openWeb opens the pages that are kept of a site, or the documents of a
// package. It asks no server: gathering is a job's affair.
func openWeb(_ context.Context, o *Opener, spec kb.Spec) (kb.Snapshot, error) {
	set, err := pages.View(o.pagesDir(spec))
	if err != nil {
		if kb.CodeOf(err) == kb.NotFound {
			return nil, kb.Errorf(kb.NotFound, "no page of %q is kept", spec.Source).WithHint("run store:index")
		}
		return nil, err
	}
	w := &web{set: set, byPath: make(map[string]*pages.Kept, len(set.Pages))}
	for i := range set.Pages {
		w.byPath[set.Pages[i].Path] = &set.Pages[i]
	}
	if _, pkg := PackageOf(spec.Source); pkg {
		w.pkg = true
		if len(set.Pages) > 0 {
			w.version = set.Pages[0].Version
		}
	}
	if set.Damaged > 0 {
		w.note("%d kept pages are damaged and will be fetched anew", set.Damaged)
	}
	return w, nil
}

// web is a snapshot of kept pages.
type web struct {
	tally
	set     *pages.Set
	byPath  map[string]*pages.Kept
	pkg     bool
	version string
}

// Version returns the resolved version of a package, "" for a site.
func (w *web) Version() string { return w.version }

// Walk lists the pages. Those of a site are Markdown, whatever their URLs end in.
func (w *web) Walk(ctx context.Context, f func(kb.Entry) error) error {
	w.startWalk()
	for i := range w.set.Pages {
		if i%256 == 0 && ctx.Err() != nil {
			return canceled(ctx.Err())
		}
		p := &w.set.Pages[i]
		e := kb.Entry{Path: p.Path, Size: p.Size, Stamp: p.Hash}
		if !w.pkg {
			e.As = "page.md"
		}
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// Read returns the text of a page as it is kept.
func (w *web) Read(_ context.Context, e kb.Entry) ([]byte, error) {
	p := w.byPath[e.Path]
	if p == nil {
		return nil, kb.Errorf(kb.NotFound, "no page %q is kept", e.Path)
	}
	data, err := w.set.Read(*p)
	if err == nil && (w.pkg && secret.Name(e.Path) || secret.File(cmp.Or(e.As, e.Path), data)) {
		return nil, w.ruleOut(e.Path, reasonSecret, nil)
	}
	return data, err
}

// Close ends the reading.
func (w *web) Close() error { return w.set.Close() }
