package source

import (
	"bufio"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// Place is how a reader opens a document of a store.
type Place struct {
	// URL opens the document: "file:///abs/path" where it lies on disk,
	// "https://host/org/repo/blob/COMMIT/path" at a forge, the page's own
	// address; "doc://STORE/path" where there is none of these. It has no fragment.
	URL string
	// Forge is set when URL is a forge's, which numbers anchors in its own way.
	Forge bool
}

// Cite returns how a reader opens a document. A local repository's document
// counts as on disk when its work tree has a file of that path.
func Cite(st kb.Store, path string) Place {
	commit := ""
	if st.Head != nil {
		commit = st.Head.Commit
	}
	switch st.Spec.Kind {
	case kb.KindFolder:
		return Place{URL: fileURL(filepath.Join(st.Spec.Source, filepath.FromSlash(path)))}
	case kb.KindWeb:
		if u := pageURL(st.Spec.Source, path); u != "" {
			return Place{URL: u}
		}
	case kb.KindRepo:
		remote := st.Spec.Source
		if !isRemote(remote) {
			file := filepath.Join(remote, filepath.FromSlash(path))
			if fi, err := os.Stat(file); err == nil && fi.Mode().IsRegular() {
				return Place{URL: fileURL(file)}
			}
			remote = originOf(remote)
		}
		if commit == "" {
			commit = st.Spec.Ref.Name
		}
		if u := blobURL(remote, commit, path); u != "" {
			return Place{URL: u, Forge: true}
		}
	}
	return Place{URL: "doc://" + url.PathEscape(st.Label()) + escapePath("/"+path)}
}

// Cited returns the paths of a store that an address may mean, as Cite or a
// reader writes it: any ref counts as the store's own. Whether there is such
// a document, the caller looks up. The address has no fragment.
func Cited(st kb.Store, address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	switch u.Scheme {
	case "file":
		return below(st.Spec.Source, localPath(u))
	case "doc":
		if name, err := url.PathUnescape(u.Host); err == nil && name == st.Label() {
			return []string{strings.TrimPrefix(u.Path, "/")}
		}
	case "http", "https":
		if st.Spec.Kind == kb.KindWeb {
			return pagePaths(st.Spec.Source, u)
		}
		remote := st.Spec.Source
		if !isRemote(remote) {
			remote = originOf(remote)
		}
		base := forgeOf(remote)
		own, ok := strings.CutPrefix(strings.ToLower(u.Host+u.Path), strings.ToLower(strings.TrimPrefix(base, "https://"))+"/")
		if base == "" || !ok {
			return nil
		}
		rest := u.Path[len(u.Path)-len(own):]
		m := refMark.FindString(rest)
		if m == "" {
			return nil
		}
		// Names of branches may hold slashes.
		var out []string
		for rest = rest[len(m):]; ; {
			_, after, ok := strings.Cut(rest, "/")
			if !ok {
				return out
			}
			out, rest = append(out, after), after
		}
	}
	return nil
}

// refMark is what comes between a repository and the ref in a forge's address.
var refMark = lazyregexp.New(`^(?:-/)?(?:blob|src|raw|tree|blame)/(?:commit/|branch/|tag/)?`)

// below returns the path of file within a folder, none when it is outside.
func below(root, file string) []string {
	if file == "" || !filepath.IsAbs(root) {
		return nil
	}
	for _, f := range []string{filepath.Clean(file), project.RealPath(file)} {
		if rel, err := filepath.Rel(root, f); err == nil && filepath.IsLocal(rel) {
			return []string{filepath.ToSlash(rel)}
		}
	}
	return nil
}

// fileURL returns the address of a file, percent-encoded: RFC 8089, with a
// third slash before a Windows drive and the host of a share.
func fileURL(path string) string {
	p := filepath.ToSlash(path)
	host := ""
	switch {
	case strings.HasPrefix(p, "//"):
		host, p, _ = strings.Cut(p[2:], "/")
		p = "/" + p
	case !strings.HasPrefix(p, "/"):
		p = "/" + p
	}
	return "file://" + host + escapePath(p)
}

// localPath returns the file that an address names.
func localPath(u *url.URL) string {
	p := u.Path
	switch {
	case len(p) > 2 && p[0] == '/' && p[2] == ':': // a Windows drive
		p = p[1:]
	case u.Host != "" && u.Host != "localhost":
		p = "//" + u.Host + p
	}
	return filepath.FromSlash(p)
}

// escapePath percent-encodes what an address may not hold, "/" excepted.
func escapePath(p string) string {
	u := url.URL{Path: p}
	// Reserved, and allowed in a path, but cut off by programs that look for
	// addresses in text.
	return strings.NewReplacer("(", "%28", ")", "%29", "'", "%27").Replace(u.EscapedPath())
}

// forges that write the ref of a file in their own way; the others follow GitHub.
var forges = []struct{ host, mark string }{
	{"bitbucket.org", "/src/"},
	{"codeberg.org", "/src/commit/"},
	{"gitea.com", "/src/commit/"},
	{"gitlab.", "/-/blob/"},
}

func blobURL(remote, ref, path string) string {
	base := forgeOf(remote)
	if base == "" {
		return ""
	}
	if ref == "" {
		ref = "HEAD"
	}
	mark := "/blob/"
	host := strings.TrimPrefix(base, "https://")
	for _, f := range forges {
		if strings.HasPrefix(host, f.host) {
			mark = f.mark
		}
	}
	return base + mark + escapePath(ref) + escapePath("/"+path)
}

// forgeOf returns the page of a repository, "https://host/org/repo", by the
// address that it is cloned from; "" when it is not at a forge.
func forgeOf(remote string) string {
	remote = strings.TrimSpace(remote)
	if !schemeRE.MatchString(remote) {
		m := scpRE.FindStringSubmatch(remote)
		if m == nil {
			return ""
		}
		remote = "ssh://" + m[2] + "/" + strings.TrimPrefix(m[3], "/")
	}
	u, err := url.Parse(remote)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"https", "http", "ssh", "git"}, u.Scheme) {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if u.Scheme == "https" && u.Port() != "" && u.Port() != "443" {
		host += ":" + u.Port()
	}
	if host == "ssh.github.com" {
		host = "github.com"
	}
	p := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	if p == "" {
		return ""
	}
	return "https://" + host + escapePath("/"+p)
}

// originOf returns where a local repository was cloned from, "" when it does not say.
func originOf(root string) string {
	dirs, ok := gitDirsAt(root)
	if !ok {
		return ""
	}
	f, err := os.Open(filepath.Join(dirs.common, "config"))
	if err != nil {
		return ""
	}
	defer f.Close()
	in := false
	for s := bufio.NewScanner(f); s.Scan(); {
		l := strings.TrimSpace(s.Text())
		if strings.HasPrefix(l, "[") {
			in = l == `[remote "origin"]`
			continue
		}
		if key, value, ok := strings.Cut(l, "="); ok && in && strings.EqualFold(strings.TrimSpace(key), "url") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// pageURL returns the address of a page of a site by its path in the store:
// the path is the page's address, whole or without its scheme, or follows the site's.
func pageURL(site, path string) string {
	base, err := url.Parse(site)
	if err != nil || base.Host == "" {
		return ""
	}
	switch host, _, _ := strings.Cut(path, "/"); {
	case strings.HasPrefix(path, "https://"), strings.HasPrefix(path, "http://"):
		return path
	case host == base.Host:
		return base.Scheme + "://" + base.Host + escapePath(strings.TrimPrefix(path, host))
	}
	return base.Scheme + "://" + base.Host + escapePath("/"+strings.TrimPrefix(path, "/"))
}

// pagePaths undoes pageURL.
func pagePaths(site string, u *url.URL) []string {
	base, err := url.Parse(site)
	if err != nil || !strings.EqualFold(base.Host, u.Host) {
		return nil
	}
	bare := *u
	bare.Fragment, bare.RawFragment = "", ""
	return []string{strings.TrimPrefix(u.Path, "/"), base.Host + u.Path, bare.String()}
}
