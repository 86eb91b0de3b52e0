package deps

import (
	"cmp"
	_ "embed"
	"net/url"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

type refType = kb.RefType

const (
	refTag    = kb.RefTag
	refCommit = kb.RefCommit
)

// locate fills in the repository and how it calls the version, from what lies
// on this machine.
func (p *collector) locate(d *Dependency) {
	eco := ecosystemNamed(d.Ecosystem)
	k, known := lookupKnown(d.Ecosystem, d.Name)
	switch {
	case d.Repository != "":
		d.Repository, d.From = CleanURL(d.Repository), cmp.Or(d.From, "lockfile")
	case d.Ecosystem == golang.name:
		repo, sub := goRepository(d.Name)
		if repo == "" {
			return
		}
		d.Repository, d.From = repo, "module path"
		if typ, name := goRef(sub, d.Version); typ == refCommit {
			d.Commit = name
		} else {
			d.Tag = name
		}
		return
	case known:
		d.Repository, d.From = k.repo, "table"
	case eco.installed != nil:
		if u := CleanURL(eco.installed(p, d)); u != "" {
			d.Repository, d.From = u, "installed package"
		}
	}
	d.retag(eco, k, known)
}

// retag spells the tag of the version.
func (d *Dependency) retag(eco *ecosystem, k knownPackage, known bool) {
	if d.Tag != "" || d.Version == "" || d.Repository == "" {
		return
	}
	pattern := eco.tag
	if known && k.tag != "" && CleanURL(k.repo) == d.Repository {
		pattern = k.tag
	}
	d.Tag = spell(pattern, d.Version)
}

// Place sets where a dependency comes from, as a registry tells it.
func (d *Dependency) Place(repository, from string) {
	if repository = CleanURL(repository); repository == "" {
		return
	}
	d.Repository, d.From = repository, from
	if d.Ecosystem == golang.name {
		if typ, name := goRef("", d.Version); typ == refCommit {
			d.Commit = name
		} else {
			d.Tag = name
		}
		return
	}
	d.retag(ecosystemNamed(d.Ecosystem), knownPackage{}, false)
}

// spell writes a version as a tag: {v} is the version, {_} the same with
// underscores, {-} with dashes for dots, {~} without what follows a dash,
// {2} without its first number ("3.25.5" is "25.5").
func spell(pattern, version string) string {
	version = strings.TrimPrefix(version, "v")
	base, _, _ := strings.Cut(version, "-")
	_, minor, _ := strings.Cut(version, ".")
	return strings.NewReplacer("{v}", version, "{_}", strings.ReplaceAll(version, ".", "_"), "{-}", strings.ReplaceAll(version, ".", "-"), "{~}", base, "{2}", minor).Replace(pattern)
}

// TagCandidates returns how repositories spell the tag of a version, likeliest first.
func (d Dependency) TagCandidates() []string {
	version := strings.TrimPrefix(d.Version, "v")
	if version == "" {
		return nil
	}
	name := d.Name[strings.LastIndexAny(d.Name, "/:")+1:]
	var out []string
	seen := map[string]bool{"": true}
	for _, t := range []string{
		d.Tag, "v" + version, version, d.Name + "@" + version, name + "@" + version, name + "-" + version, name + "-v" + version,
		name + "/v" + version, "release-" + version, "rel/" + version, "r" + version, "rel_" + strings.ReplaceAll(version, ".", "_"), spell("v{~}", version), spell("{~}", version),
	} {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

var hostedRE = lazyregexp.New(`^(github|gitlab|bitbucket|gist):(.+)$`)

// CleanURL returns the https URL of a git repository as manifests and
// registries write it in many ways; "" when it names none.
func CleanURL(raw string) string {
	raw = strings.TrimSpace(raw)
	raw = strings.TrimPrefix(raw, "scm:")
	raw = strings.TrimPrefix(raw, "git+")
	if strings.HasPrefix(raw, "git:") && !strings.HasPrefix(raw, "git://") { // as maven writes it
		raw = strings.TrimPrefix(raw, "git:")
	}
	if m := hostedRE.FindStringSubmatch(raw); m != nil {
		host := map[string]string{"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org", "gist": "gist.github.com"}[m[1]]
		raw = "https://" + host + "/" + m[2]
	}
	if rest, ok := strings.CutPrefix(raw, "git@"); ok && !strings.Contains(raw, "://") {
		raw = "https://" + strings.Replace(rest, ":", "/", 1)
	}
	if owner, name, ok := strings.Cut(raw, "/"); ok && owner != "" && name != "" && !strings.ContainsAny(owner, ".~") && !strings.ContainsAny(raw, ":@ ") && !strings.Contains(name, "/") {
		raw = "https://github.com/" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	switch u.Scheme {
	case "git", "http", "https", "ssh":
	default:
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if u.Port() != "" && u.Scheme != "ssh" {
		host = strings.ToLower(u.Host)
	}
	host = strings.TrimPrefix(host, "www.")
	p := strings.Trim(u.Path, "/")
	words := strings.Split(p, "/")
	switch host {
	case "github.com", "bitbucket.org", "codeberg.org":
		if len(words) < 2 {
			return ""
		}
		p = words[0] + "/" + words[1]
	case "gitlab.com":
		p, _, _ = strings.Cut(p, "/-/")
		if len(words) < 2 {
			return ""
		}
	}
	if !strings.HasSuffix(p, "/.git") {
		p = strings.TrimSuffix(p, ".git")
	}
	if p == "" {
		return ""
	}
	scheme := "https"
	if u.Scheme == "http" && (host == "localhost" || strings.HasPrefix(host, "127.") || strings.HasPrefix(host, "localhost:")) {
		scheme = "http"
	}
	return scheme + "://" + host + "/" + p
}

// known.txt says of well-known packages which repository they come from, one a
// line: ecosystem, name (a * at its end stands for anything), owner/repository
// on GitHub or a URL ({name} in it is the last element of the name), and how tags are spelt where it is not as usual; see spell.
//
//go:embed known.txt
var knownText string

type knownPackage struct{ repo, tag string }

type knownTable struct {
	exact    map[string]knownPackage
	prefixes []struct {
		prefix string
		knownPackage
	}
}

var knownPackages = sync.OnceValue(func() knownTable {
	t := knownTable{exact: map[string]knownPackage{}}
	for line := range strings.Lines(knownText) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0][0] == '#' {
			continue
		}
		k := knownPackage{repo: f[2]}
		if !strings.Contains(k.repo, "://") {
			k.repo = "https://github.com/" + k.repo
		}
		if len(f) > 3 {
			k.tag = f[3]
		}
		id := f[0] + ":" + strings.ToLower(f[1])
		if prefix, ok := strings.CutSuffix(id, "*"); ok {
			t.prefixes = append(t.prefixes, struct {
				prefix string
				knownPackage
			}{prefix, k})
			continue
		}
		t.exact[id] = k
	}
	return t
})

// lookupKnown finds a package in the table: by its name, else by the longest
// beginning that is there.
func lookupKnown(eco, name string) (knownPackage, bool) {
	t := knownPackages()
	id := eco + ":" + strings.ToLower(name)
	if k, ok := t.exact[id]; ok {
		return k, true
	}
	var best knownPackage
	most := 0
	for _, p := range t.prefixes {
		if len(p.prefix) > most && strings.HasPrefix(id, p.prefix) {
			best, most = p.knownPackage, len(p.prefix)
		}
	}
	best.repo = strings.ReplaceAll(best.repo, "{name}", name[strings.LastIndexByte(name, '/')+1:])
	return best, most > 0
}
