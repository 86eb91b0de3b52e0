package source

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// maxSource bounds what a user may write as a source, in bytes.
const maxSource = 4096

// Canonical turns what a user wrote into the kind and source of a kb.Spec.
// Relative paths start at dir, "~/" at the home directory. An empty kind is
// guessed, see Guess. canonicalWeb says how sources of kind web are written.
//
// A folder, or an archive, becomes an absolute path without links. A repository is one of
//
//	https://host/path        host in lower case; user, default port, ".git" and "/" at the end dropped
//	http://127.0.0.1/path    loopback hosts only, for mirrors on this machine
//	ssh://user@host/path
//	user@host:path           as scp writes it
//	a path                   the root of the work tree or bare repository that holds it; read in place
//
// A URL with a password is refused, as are all other transports: some of them
// (ext::) run commands.
func Canonical(ctx context.Context, kind kb.Kind, raw, dir string) (kb.Kind, string, error) {
	raw = strings.TrimSpace(raw)
	switch {
	case raw == "":
		return kind, "", kb.Errorf(kb.Invalid, "no source is named").WithHint("give a folder, or the URL of a repository")
	case len(raw) > maxSource:
		return kind, "", kb.Errorf(kb.TooLarge, "the source is longer than %d bytes", maxSource).WithHint("give a folder, or the URL of a repository")
	case strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return kind, "", kb.Errorf(kb.Invalid, "the source %q holds control characters", raw).WithHint("give a folder, or the URL of a repository")
	}
	if kind == "" {
		kind = Guess(raw, dir, false)
	}
	k, err := lookup(kind)
	if err != nil {
		return kind, "", err
	}
	src, err := k.canonical(ctx, raw, dir)
	return k.kind, src, err
}

// LocalPath returns the absolute path that raw names, as Canonical takes it,
// whether or not something is there; "" when it names no place on this machine.
func LocalPath(kind kb.Kind, raw, dir string) string {
	raw = strings.TrimSpace(raw)
	if kind == "" {
		kind = Guess(raw, dir, false)
	}
	k, err := lookup(kind)
	switch {
	case err == nil && k.path != nil:
		return k.path(raw, dir)
	case err == nil && k.traits.Gathered:
		return ""
	}
	p := absolute(raw, dir)
	if !isDir(p) && (isPackage(raw) || remoteShape(raw)) {
		return ""
	}
	return p
}

// Guess returns the kind of a source whose kind is not given. ref says that
// a branch, tag or commit was named with it. What looks like a URL is a
// repository, as is a path with a ref, and a bare repository, whose files hold
// nothing to find. npm: and go: are packages of kind web. zip: and a path that
// ends in .zip are archives, every other path is a folder.
func Guess(raw, dir string, ref bool) kb.Kind {
	raw = strings.TrimSpace(raw)
	switch p := absolute(raw, dir); {
	case isDir(p):
		if ref || isGitDir(p) {
			return kb.KindRepo
		}
		return kb.KindFolder
	case isPackage(raw):
		return kb.KindWeb
	case strings.HasPrefix(raw, zipPrefix):
		return kb.KindZip
	case ref, remoteShape(raw):
		return kb.KindRepo
	case strings.EqualFold(filepath.Ext(raw), ".zip"):
		return kb.KindZip
	}
	return kb.KindFolder
}

var (
	schemeRE = lazyregexp.New(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	helperRE = lazyregexp.New(`^[A-Za-z0-9_-]+::`)
	// user@host:path; of at least two characters before the colon, unlike a Windows drive.
	scpRE  = lazyregexp.New(`^(?:([A-Za-z0-9_.+-]+)@)?([A-Za-z0-9_.-]{2,}):(.+)$`)
	hostRE = lazyregexp.New(`^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$`)
)

func remoteShape(raw string) bool {
	return schemeRE.MatchString(raw) || helperRE.MatchString(raw) || scpRE.MatchString(raw)
}

func isDir(p string) bool {
	fi, err := os.Stat(p)
	return err == nil && fi.IsDir()
}

// absolute resolves raw against dir; it touches no file but for "~".
func absolute(raw, dir string) string {
	if rest, ok := strings.CutPrefix(raw, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(raw) || dir == "" {
		if abs, err := filepath.Abs(raw); err == nil {
			return abs
		}
		return filepath.Clean(raw)
	}
	return filepath.Join(dir, raw)
}

func canonicalFolder(_ context.Context, raw, dir string) (string, error) {
	p := absolute(raw, dir)
	if url := MeantURL(raw, dir); url != "" {
		return "", kb.Errorf(kb.NotFound, "there is no folder %q", raw).WithHint("if it is a repository elsewhere, write %s", url)
	}
	if remoteShape(raw) && !isDir(p) {
		return "", kb.Errorf(kb.Invalid, "%q is not a folder but a URL", redact(raw)).WithHint("use type repo, or type web to crawl a site")
	}
	return resolveDir(p)
}

// resolveDir returns the path of a directory that can be listed, without links.
func resolveDir(p string) (string, error) {
	if err := checkDir(p); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return "", dirError(p, err)
	}
	d, err := os.Open(real)
	if err != nil {
		return "", dirError(real, err)
	}
	defer d.Close()
	if _, err := d.ReadDir(1); err != nil && err.Error() != "EOF" {
		return "", dirError(real, err)
	}
	return filepath.Clean(real), nil
}

func canonicalRepo(_ context.Context, raw, dir string) (string, error) {
	if p := absolute(raw, dir); isDir(p) {
		real, err := resolveDir(p)
		if err != nil {
			return "", err
		}
		return repoRoot(real)
	}
	if remoteShape(raw) {
		return canonicalURL(raw)
	}
	e := kb.Errorf(kb.NotFound, "there is no repository at %q", raw)
	if url := MeantURL(raw, dir); url != "" {
		return "", e.WithHint("if it is a URL, write %s", url)
	}
	return "", e.WithHint("give an https or ssh URL, or the path of a local repository")
}

// transports says which schemes are accepted and their default ports; on what
// condition, the function says.
var transports = map[string]struct {
	port  string
	allow func(host string) bool
}{
	"https": {"443", func(string) bool { return true }},
	"ssh":   {"22", func(string) bool { return true }},
	"http":  {"80", loopback},
}

// canonicalURL normalises the URL of a remote repository.
func canonicalURL(raw string) (string, error) {
	refuse := func(why, hint string) (string, error) {
		return "", kb.Errorf(kb.Invalid, "%q %s", redact(raw), why).WithHint("%s", hint)
	}
	m := schemeRE.FindStringSubmatch(raw)
	if m == nil {
		if helperRE.MatchString(raw) {
			return refuse("names a transport that is not accepted", "use an https or ssh URL, or a local path")
		}
		if why, hint, ok := refuseOtherPackage(raw); ok {
			return refuse(why, hint)
		}
		s := scpRE.FindStringSubmatch(raw)
		host, p := strings.ToLower(s[2]), trimRepoPath(s[3])
		if !hostRE.MatchString(host) || strings.HasPrefix(s[1], "-") || p == "" || strings.HasPrefix(p, "-") {
			return refuse("is not a URL of a repository", "write user@host:path")
		}
		if s[1] != "" {
			host = s[1] + "@" + host
		}
		return host + ":" + p, nil
	}
	scheme := strings.ToLower(m[1])
	tr, ok := transports[scheme]
	if scheme == "file" {
		return refuse("is a file URL", "give the path itself: local repositories are read in place")
	}
	if !ok {
		return refuse("names a transport that is not accepted", "use an https or ssh URL, or a local path")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return refuse("is not a well-formed URL", "write https://host/path")
	}
	host := strings.ToLower(u.Hostname())
	if !hostRE.MatchString(host) && net.ParseIP(host) == nil {
		return refuse("names no valid host", "write https://host/path")
	}
	if !tr.allow(host) {
		return refuse("would be fetched without encryption", "use https; plain http is for loopback addresses only")
	}
	if _, has := u.User.Password(); has {
		return refuse("holds a password", "leave it out, and keep it in a git credential helper or ~/.netrc")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return refuse("has a query or fragment", "name branches, tags and commits with the parameters of that name; a site is crawled with type web")
	}
	p := trimRepoPath(u.EscapedPath())
	if p == "" || !strings.HasPrefix(p, "/") {
		return refuse("names a host but no repository", "write https://host/path, or give type web to crawl a site")
	}
	out := scheme + "://"
	if user := u.User.Username(); user != "" && scheme == "ssh" {
		if strings.HasPrefix(user, "-") {
			return refuse("names no valid user", "write ssh://user@host/path")
		}
		out += url.User(user).String() + "@"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	out += host
	if port := u.Port(); port != "" && port != tr.port {
		out += ":" + port
	}
	return out + p, nil
}

// trimRepoPath drops what makes two spellings of one repository differ.
func trimRepoPath(p string) string {
	for {
		q := strings.TrimSuffix(strings.TrimRight(p, "/"), ".git")
		if strings.HasSuffix(q, "/") || q == "" { // "/.git" is a name
			return strings.TrimRight(p, "/")
		}
		if q == p {
			return p
		}
		p = q
	}
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

// Inside returns the folder of the repository source that raw, a path as
// Canonical takes it, means; "" for the whole repository, and for URLs.
func Inside(source, raw, dir string) string {
	real, err := filepath.EvalSymlinks(absolute(strings.TrimSpace(raw), dir))
	if isRemote(source) || err != nil {
		return ""
	}
	rel, err := filepath.Rel(source, real)
	if err != nil || rel == "." || !filepath.IsLocal(rel) || strings.Split(filepath.ToSlash(rel), "/")[0] == ".git" {
		return ""
	}
	return filepath.ToSlash(rel)
}

var userinfoRE = lazyregexp.New(`//[^/@]*@`)

// redact hides what comes before the host of a URL, so that no password reaches a message.
func redact(raw string) string { return userinfoRE.ReplaceAllString(raw, "//…@") }

// isRemote reports whether a canonical source is a URL; a local path is absolute.
func isRemote(source string) bool { return !filepath.IsAbs(source) }

var commitRE = lazyregexp.New(`^[0-9a-f]{7,40}$`)

// CanonicalRef checks the name of a branch, tag or commit and returns the one
// form that a store's identity is made from.
func CanonicalRef(ref kb.Ref) (kb.Ref, error) {
	if ref.Type == "" || ref.Type == kb.RefDefault {
		return kb.Ref{}, nil
	}
	row, ok := refTypes[ref.Type]
	if !ok {
		return ref, kb.Errorf(kb.Invalid, "%q is not a way to name a state of a repository", string(ref.Type)).
			WithHint("give a branch, a tag or a commit")
	}
	ref.Name = strings.TrimSpace(ref.Name)
	ref.Name = strings.TrimPrefix(ref.Name, row.prefix)
	if ref.Type == kb.RefCommit {
		ref.Name = strings.ToLower(ref.Name)
		if !commitRE.MatchString(ref.Name) {
			return ref, kb.Errorf(kb.Invalid, "%q is not the hash of a commit", ref.Name).
				WithHint("give 7 to 40 hexadecimal digits")
		}
		return ref, nil
	}
	if !validRefName(ref.Name) {
		return ref, kb.Errorf(kb.Invalid, "%q is not a valid name of a %s", ref.Name, ref.Type).
			WithHint("list the names with: git ls-remote URL")
	}
	return ref, nil
}

// validRefName follows git check-ref-format, and refuses a leading dash.
func validRefName(n string) bool {
	if n == "" || len(n) > 512 || n == "@" || n[0] == '-' || strings.HasSuffix(n, ".") ||
		strings.Contains(n, "..") || strings.Contains(n, "@{") || strings.ContainsAny(n, " ~^:?*[\\\x7f") {
		return false
	}
	for i := 0; i < len(n); i++ {
		if n[i] < ' ' {
			return false
		}
	}
	for part := range strings.SplitSeq(n, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
