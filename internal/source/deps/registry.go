package deps

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// Registry asks package registries where packages come from, each at the
// address in the user's own settings. It keeps the answers in a file, so that
// each question is sent once. It is safe for concurrent use.
type Registry struct {
	policy outbound.Policy // less the hosts of the bases, which the user names
	bases  map[string]string
	path   string

	once      sync.Once
	client    *outbound.Client
	clientErr error

	mu      sync.Mutex
	answers map[string]string // "npm:react" → repository, "" when the registry knows none
	changed bool
}

// maxAnswer bounds an answer in bytes: those of npm hold every version.
const maxAnswer = 32 << 20

// NewRegistry returns a registry whose answers are kept at path. Settings come
// from the user's environment and ~/.npmrc, never from a project's files. The
// policy limits redirects to other hosts; the hosts of the settings are allowed.
func NewRegistry(env func(string) string, path string, policy outbound.Policy) *Registry {
	policy.MaxBytes, policy.Timeout = maxAnswer, 20*time.Second
	r := &Registry{policy: policy, path: path, answers: map[string]string{}, bases: map[string]string{}}
	for eco, reg := range registries {
		r.bases[eco] = reg.base
	}
	set := func(eco, base string) {
		u, err := url.Parse(strings.TrimSpace(base))
		if err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
			r.bases[eco] = strings.TrimSuffix(u.String(), "/")
		}
	}
	if home := env("HOME"); home != "" {
		if data, err := os.ReadFile(filepath.Join(home, ".npmrc")); err == nil {
			lines(data, func(line string) {
				if k, v, ok := strings.Cut(line, "="); ok && strings.TrimSpace(k) == "registry" {
					set("npm", v)
				}
			})
		}
	}
	set("npm", env("npm_config_registry"))
	for _, v := range []string{"PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX"} {
		set("pypi", strings.TrimSuffix(strings.TrimSuffix(env(v), "/"), "/simple"))
	}
	proxy, _, _ := strings.Cut(strings.ReplaceAll(env("GOPROXY"), "|", ","), ",")
	switch proxy {
	case "off", "direct":
		delete(r.bases, "go")
	default:
		set("go", proxy)
	}
	if data, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(data, &r.answers) // a cache that is damaged is none
		if r.answers == nil {
			r.answers = map[string]string{}
		}
	}
	return r
}

// Save writes down what was learned.
func (r *Registry) Save() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.changed {
		return nil
	}
	data, err := json.Marshal(r.answers)
	if err != nil {
		return kb.Errorf(kb.Internal, "encode answers of registries: %w", err)
	}
	r.changed = false
	return atomicfile.Write(r.path, data)
}

// Repository returns the repository of a package that its registry names, or "".
func (r *Registry) Repository(ctx context.Context, d Dependency) (string, error) {
	id := d.ID()
	r.mu.Lock()
	repo, known := r.answers[id]
	r.mu.Unlock()
	if known {
		return repo, nil
	}
	base := r.bases[d.Ecosystem]
	if base == "" {
		return "", nil
	}
	at := address(base, d)
	if at == "" {
		return "", nil
	}
	data, err := r.get(ctx, at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		repo = ""
	case err != nil:
		return "", err
	default:
		repo = CleanURL(registries[d.Ecosystem].repo(d, data))
		if !strings.HasPrefix(repo, "https://") {
			repo = ""
		}
	}
	r.mu.Lock()
	r.answers[id], r.changed = repo, true
	r.mu.Unlock()
	return repo, nil
}

func (r *Registry) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "%q is no address of a registry", address).
			WithHint("check the setting of your package manager")
	}
	if u := req.URL.User; u != nil { // of the user's own setting
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
		req.URL.User = nil
	}
	req.Header.Set("User-Agent", "knowledge (https://github.com/seed-4f2d999b/knowledge)")
	req.Header.Set("Accept", "application/json, application/xml;q=0.9, */*;q=0.5")
	r.once.Do(func() {
		p := r.policy
		for _, base := range r.bases {
			if u, err := url.Parse(base); err == nil && u.Host != "" {
				p.Allow = append(slices.Clip(p.Allow), u.Host)
			}
		}
		if p.Proxy == "" && p.ProxyFor == nil {
			p.ProxyFor = outbound.EnvironmentProxy
		}
		r.client, r.clientErr = outbound.New(p)
	})
	if r.clientErr != nil {
		return nil, r.clientErr
	}
	resp, err := r.client.Do(ctx, req)
	if kb.CodeOf(err) == kb.Denied {
		return nil, err
	}
	if err != nil {
		return nil, kb.Errorf(kb.Away, "the registry at %s does not answer: %w", req.URL.Host, err).
			WithHint("try again later, or leave registry out")
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return nil, fs.ErrNotExist
	case resp.StatusCode != http.StatusOK:
		return nil, kb.Errorf(kb.Away, "the registry at %s answers with status %d", req.URL.Host, resp.StatusCode).
			WithHint("try again later, or leave registry out")
	}
	return io.ReadAll(resp.Body)
}

// registries are their usual addresses, what follows them, and how an answer is
// read; see address.
var registries = map[string]struct {
	base, path string
	repo       func(d Dependency, answer []byte) string
}{
	"npm":   {"https://registry.npmjs.org", "{name}/{version}", jsonPath("repository.url", "repository")},
	"pypi":  {"https://pypi.org", "pypi/{name}/json", pypiURL},
	"cargo": {"https://crates.io", "api/v1/crates/{name}", jsonPath("crate.repository")},
	"gem": {"https://rubygems.org", "api/v1/gems/{name}.json",
		jsonPath("source_code_uri", "metadata.source_code_uri", "homepage_uri")},
	"composer": {"https://repo.packagist.org", "p2/{name}.json", jsonPath("packages.{name}.source.url")},
	"hex": {"https://hex.pm", "api/packages/{name}", jsonPath("meta.links.GitHub", "meta.links.Github",
		"meta.links.github", "meta.links.GitLab", "meta.links.Source", "meta.links.Repository")},
	"nuget": {"https://api.nuget.org/v3-flatcontainer", "{name}/{version}/{name}.nuspec", nuspecURL},
	"maven": {"https://repo1.maven.org/maven2", "{group}/{artifact}/{version}/{artifact}-{version}.pom", pomURL},
	"go":    {"https://proxy.golang.org", "{name}/@v/{version}.info", jsonPath("Origin.URL")},
}

// address returns the address of a registry's answer about a package, "" where
// it takes a version and none is known.
func address(base string, d Dependency) string {
	name, version := url.PathEscape(d.Name), url.PathEscape(strings.TrimPrefix(d.Version, "v"))
	switch d.Ecosystem {
	case "npm":
		version = cmp.Or(version, "latest")
	case "nuget":
		name, version = url.PathEscape(strings.ToLower(d.Name)), url.PathEscape(strings.ToLower(strings.TrimPrefix(d.Version, "v")))
	case "maven":
		version = strings.TrimPrefix(d.Version, "v")
	case "composer":
		name = d.Name
	case "go":
		name, version = goEscape(d.Name), d.Version
	}
	if version == "" && (d.Ecosystem == "nuget" || d.Ecosystem == "maven") {
		return ""
	}
	group, artifact, _ := strings.Cut(d.Name, ":")
	return base + "/" + strings.NewReplacer("{name}", name, "{version}", version,
		"{group}", strings.ReplaceAll(group, ".", "/"), "{artifact}", artifact).Replace(registries[d.Ecosystem].path)
}

func pypiURL(_ Dependency, data []byte) string {
	var m struct {
		Info struct {
			URLs map[string]string `json:"project_urls"`
			Home string            `json:"home_page"`
		}
	}
	if json.Unmarshal(data, &m) != nil {
		return ""
	}
	var b strings.Builder
	for k, v := range m.Info.URLs {
		fmt.Fprintf(&b, "Project-URL: %s, %s\n", k, v)
	}
	return metadataURL([]byte(b.String() + "Home-page: " + m.Info.Home + "\n"))
}

// goEscape writes a module path as proxies want it: "A" is "!a".
func goEscape(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('!')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// jsonPath returns a reader of the first text that a path leads to. Of a list,
// the first element is meant; {name} is the package's name.
func jsonPath(paths ...string) func(Dependency, []byte) string {
	return func(d Dependency, data []byte) string {
		var doc any
		if json.Unmarshal(data, &doc) != nil {
			return ""
		}
		for _, p := range paths {
			v := doc
			for k := range strings.SplitSeq(p, ".") {
				if list, ok := v.([]any); ok && len(list) > 0 {
					v = list[0]
				}
				m, _ := v.(map[string]any)
				v = m[strings.ReplaceAll(k, "{name}", d.Name)]
			}
			if s, ok := v.(string); ok && s != "" {
				return s
			}
		}
		return ""
	}
}

var (
	nuspecRE  = lazyregexp.New(`<repository\s[^>]*\burl="([^"]+)"`)
	projectRE = lazyregexp.New(`<projectUrl>\s*([^<]+?)\s*</projectUrl>`)
	scmRE     = lazyregexp.New(`(?s)<scm>.*?</scm>`)
	urlElRE   = lazyregexp.New(`<(?:url|connection)>\s*([^<]+?)\s*</`)
)

func nuspecURL(_ Dependency, data []byte) string {
	for _, re := range []lazyregexp.Regexp{nuspecRE, projectRE} {
		if m := re.FindSubmatch(data); m != nil && CleanURL(string(m[1])) != "" {
			return string(m[1])
		}
	}
	return ""
}

func pomURL(_ Dependency, data []byte) string {
	for _, m := range urlElRE.FindAllSubmatch(scmRE.Find(data), -1) {
		if u := CleanURL(string(m[1])); u != "" && !strings.Contains(u, "${") {
			return u
		}
	}
	if m := urlElRE.FindSubmatch(data); m != nil && hosted(CleanURL(string(m[1]))) {
		return string(m[1])
	}
	return ""
}
