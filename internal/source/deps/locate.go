package deps

import (
	"cmp"
	_ "embed"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// locate fills in the repository and its tag of the version, from this machine
// alone.
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
		d.refer(goRef(sub, d.Version))
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

func (d *Dependency) refer(ref kb.Ref) {
	if ref.Type == kb.RefCommit {
		d.Commit = ref.Name
	} else {
		d.Tag = ref.Name
	}
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

// Place sets the repository of a dependency and its source, a registry.
func (d *Dependency) Place(repository, from string) {
	if repository = CleanURL(repository); repository == "" {
		return
	}
	d.Repository, d.From = repository, from
	if d.Ecosystem == golang.name {
		d.refer(goRef("", d.Version))
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
	under, dashed := strings.ReplaceAll(version, ".", "_"), strings.ReplaceAll(version, ".", "-")
	return strings.NewReplacer("{v}", version, "{_}", under, "{-}", dashed, "{~}", base, "{2}", minor).Replace(pattern)
}

// TagCandidates returns the usual spellings of the version's tag, likeliest first.
func (d Dependency) TagCandidates() []string {
	version := strings.TrimPrefix(d.Version, "v")
	if version == "" {
		return nil
	}
	name := d.Name[strings.LastIndexAny(d.Name, "/:")+1:]
	out := []string{d.Tag}
	for _, pattern := range []string{
		"v{v}", "{v}", d.Name + "@{v}", name + "@{v}", name + "-{v}", name + "-v{v}", name + "/v{v}",
		"release-{v}", "rel/{v}", "r{v}", "rel_{_}", "v{~}", "{~}",
	} {
		if t := spell(pattern, version); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return slices.DeleteFunc(out, func(t string) bool { return t == "" })
}

var (
	hostedRE = lazyregexp.New(`^(github|gitlab|bitbucket|gist):(.+)$`)
	ownerRE  = lazyregexp.New(`^[^/.~:@ ]+/[^/:@ ]+$`) // owner/name on GitHub
	hosts    = map[string]string{
		"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org", "gist": "gist.github.com",
	}
)

// CleanURL returns the https URL of a git repository as manifests and
// registries write it in many ways; "" when it names none.
func CleanURL(raw string) string {
	raw = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(raw), "scm:"), "git+")
	if strings.HasPrefix(raw, "git:") && !strings.HasPrefix(raw, "git://") { // as maven writes it
		raw = strings.TrimPrefix(raw, "git:")
	}
	if m := hostedRE.FindStringSubmatch(raw); m != nil {
		raw = "https://" + hosts[m[1]] + "/" + m[2]
	}
	if rest, ok := strings.CutPrefix(raw, "git@"); ok && !strings.Contains(raw, "://") {
		raw = "https://" + strings.Replace(rest, ":", "/", 1)
	}
	if ownerRE.MatchString(raw) {
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

// knownText maps well-known packages to repositories, one a line: ecosystem, name
// (a * at its end matches anything), owner/repository on GitHub or a URL ({name}
// is the last element of the name), and the spelling of tags where it is not as
// usual; see spell.
//
//go:embed known.txt
var knownText string

type knownPackage struct{ repo, tag string }

// knownTable holds known.txt.
type knownTable struct {
	packages map[string]knownPackage // by "npm:name" or "npm:beginning*"
	golang   []struct{ prefix, repo string }
}

var knownPackages = sync.OnceValue(func() knownTable {
	t := knownTable{packages: map[string]knownPackage{}}
	for f := range rows(knownText) {
		k := knownPackage{repo: f[2]}
		if !strings.Contains(k.repo, "://") {
			k.repo = "https://github.com/" + k.repo
		}
		if len(f) > 3 {
			k.tag = f[3]
		}
		if f[0] == "go" {
			t.golang = append(t.golang, struct{ prefix, repo string }{strings.TrimSuffix(f[1], "*"), k.repo})
		}
		t.packages[f[0]+":"+strings.ToLower(f[1])] = k
	}
	return t
})

// lookupKnown finds a package in the table: by its name, else by its longest
// beginning there.
func lookupKnown(eco, name string) (knownPackage, bool) {
	packages := knownPackages().packages
	id := eco + ":" + strings.ToLower(name)
	if k, ok := packages[id]; ok {
		return k, true
	}
	for n := len(id); n > len(eco); n-- {
		if k, ok := packages[id[:n]+"*"]; ok {
			k.repo = strings.ReplaceAll(k.repo, "{name}", name[strings.LastIndexByte(name, '/')+1:])
			return k, true
		}
	}
	return knownPackage{}, false
}
