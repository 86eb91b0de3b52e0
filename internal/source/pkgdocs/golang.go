package pkgdocs

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	modzip "golang.org/x/mod/zip"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const goDefault = "https://proxy.golang.org,direct"

// goSettings reads the user's settings of the go command: variables before the
// file that go env -w writes.
func goSettings(c *Config) settings {
	s := settings{values: map[string]string{}}
	file := c.Env("GOENV")
	if file == "" {
		if dir := goConfigDir(c); dir != "" {
			file = filepath.Join(dir, "go", "env")
		}
	}
	if file != "" && file != "off" {
		text, err := readSmall(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.err = kb.Errorf(kb.Denied, "the settings of go in %q cannot be read: %w", file, err).
				WithHint("check its permissions")
			return s
		}
		for line := range strings.Lines(text) {
			if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(k, "#") {
				s.values[k] = v
			}
		}
	}
	for _, k := range []string{"GOPROXY", "GOPRIVATE", "GONOPROXY"} {
		if v := c.Env(k); v != "" {
			s.values[k] = v
		}
	}
	s.values["GOPROXY"] = cmp.Or(s.values["GOPROXY"], goDefault)
	s.values["GONOPROXY"] = cmp.Or(s.values["GONOPROXY"], s.values["GOPRIVATE"])
	for _, p := range proxies(s.values["GOPROXY"]) {
		if h := hostOf(p.address); h != "" {
			s.hosts = append(s.hosts, h)
		}
	}
	return s
}

// goConfigDir is os.UserConfigDir with the given environment.
func goConfigDir(c *Config) string {
	home := c.homeDir()
	switch runtime.GOOS {
	case "windows":
		return c.Env("AppData")
	case "darwin", "ios":
		if home != "" {
			return filepath.Join(home, "Library", "Application Support")
		}
	default:
		if d := c.Env("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
			return d
		}
		if home != "" {
			return filepath.Join(home, ".config")
		}
	}
	return ""
}

// goProxy is one entry of GOPROXY. The next one is asked when this one has
// no such module and, after "|", whatever went wrong.
type goProxy struct {
	address string
	always  bool
}

func proxies(list string) []goProxy {
	var out []goProxy
	for entry := range strings.SplitAfterSeq(strings.ReplaceAll(list, "|", "|,"), ",") {
		address, always := strings.CutSuffix(strings.TrimSuffix(entry, ","), "|")
		if address = strings.TrimSpace(address); address != "" {
			out = append(out, goProxy{address, always})
		}
	}
	return out
}

func fetchGo(ctx context.Context, s *session) (Result, error) {
	repo := func(format string, args ...any) error {
		return kb.Errorf(kb.Unsupported, format, args...).
			WithHint("make a store of its repository: store:create {\"source\":%q}", "https://"+repoPath(s.Name))
	}
	if module.MatchPrefixPatterns(s.values["GONOPROXY"], s.Name) {
		return Result{}, repo("your settings say that %s comes from its repository, not from a proxy", s.Name)
	}
	var first error
	for _, p := range proxies(s.values["GOPROXY"]) {
		switch p.address {
		case "off":
			if first == nil {
				first = kb.Errorf(kb.Denied, "your settings forbid to ask for modules (GOPROXY=off)").
					WithHint("change it with: go env -w GOPROXY=…")
			}
			return Result{}, first
		case "direct":
			if first == nil || kb.CodeOf(first) == kb.NotFound {
				return Result{}, join(first, repo("no proxy has %s%s, and repositories are not read here", s.Name, at(s.Version)))
			}
			return Result{}, first
		}
		res, err := s.fromProxy(ctx, strings.TrimRight(p.address, "/"))
		if err == nil || ctx.Err() != nil {
			return res, err
		}
		if first == nil || kb.CodeOf(first) == kb.NotFound {
			first = err
		}
		if kb.CodeOf(err) != kb.NotFound && !p.always {
			return Result{}, err
		}
	}
	if first == nil {
		first = kb.Errorf(kb.Denied, "your settings name no proxy for modules").WithHint("see: go env GOPROXY")
	}
	return Result{}, first
}

// join prefers the error of a proxy that explains what was wrong.
func join(first, last error) error {
	if kb.CodeOf(first) == kb.NotFound && kb.HintOf(first) != "" && first != nil {
		return first
	}
	return last
}

func at(version string) string {
	if version == "" {
		return ""
	}
	return "@" + version
}

// repoPath is where the repository of a module most likely is.
func repoPath(name string) string {
	prefix, _, ok := module.SplitPathVersion(name)
	if !ok {
		prefix = name
	}
	hosts := "github.com gitlab.com bitbucket.org codeberg.org"
	if parts := strings.Split(prefix, "/"); len(parts) > 3 && strings.Contains(hosts, parts[0]) {
		return strings.Join(parts[:3], "/")
	}
	return prefix
}

// fromProxy speaks the protocol of module proxies (go help goproxy).
func (s *session) fromProxy(ctx context.Context, proxy string) (Result, error) {
	path, err := module.EscapePath(s.Name)
	if err != nil {
		return Result{}, kb.Errorf(kb.Invalid, "%q is no module path: %w", s.Name, err).
			WithHint("write go:MODULE@VERSION")
	}
	base := proxy + "/" + path
	version, err := s.resolveGo(ctx, base)
	if err != nil {
		return Result{}, err
	}
	res := Result{Version: version}
	if n, ok := s.same(version); ok {
		res.Documents, res.Unchanged = n, true
		return res, nil
	}
	escaped, err := module.EscapeVersion(version)
	if err != nil {
		return res, kb.Errorf(kb.Corrupt, "the proxy names a version %q that cannot be", version).
			WithHint("check GOPROXY")
	}
	what := fmt.Sprintf("the archive of %s@%s", s.Name, version)
	raw, err := s.ask(ctx, base+"/@v/"+escaped+".zip", what, maxArchive)
	if err != nil {
		return res, err
	}
	if s.whole != nil {
		return res, s.wholeGo(ctx, base, version, raw)
	}
	var b bundle
	if err := unpackGo(ctx, module.Version{Path: s.Name, Version: version}, raw, &b); err != nil {
		if ctx.Err() != nil {
			return res, ctx.Err()
		}
		return res, kb.Errorf(kb.Corrupt, "%s is no module zip: %w", what, err).
			WithHint("try again; if it stays so, check GOPROXY")
	}
	res.Notes, res.Documents = b.notes(), len(b.docs)
	return res, s.keep(version, b.docs)
}

// resolveGo returns the version that is meant, as the go command would choose.
func (s *session) resolveGo(ctx context.Context, base string) (string, error) {
	var info struct{ Version string }
	asked := s.Version
	if asked == "latest" {
		asked = ""
	}
	what := fmt.Sprintf("module %s%s", s.Name, at(asked))
	read := func(address string) (string, error) {
		raw, err := s.ask(ctx, address, what, maxMeta)
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(raw, &info); err != nil || info.Version == "" {
			return "", kb.Errorf(kb.Corrupt, "what %s tells of %s does not parse", hostOf(base), s.Name).
				WithHint("check GOPROXY")
		}
		return info.Version, nil
	}
	// "v1", "v1.2" and the like mean the newest such release.
	full := versionOf(asked)
	part := strings.ContainsAny(asked[:min(len(asked), 1)], "^~") || semver.IsValid(full) && semver.Canonical(full) != full
	if asked != "" && !part {
		v := asked
		if semver.IsValid("v" + asked) {
			v = "v" + asked
		}
		escaped, err := module.EscapeVersion(v)
		if err != nil {
			return "", kb.Errorf(kb.Invalid, "%q is no version of a module", asked).
				WithHint("write go:%s@v1.2.3, or leave the version out", s.Name)
		}
		return read(base + "/@v/" + escaped + ".info")
	}
	raw, err := s.ask(ctx, base+"/@v/list", what, maxMeta)
	if err != nil && kb.CodeOf(err) != kb.NotFound {
		return "", err
	}
	best := ""
	if err == nil {
		best = choose(asked, nil, slices.Values(strings.Fields(string(raw))))
	}
	switch {
	case best != "":
		return best, nil
	case asked == "":
		return read(base + "/@latest")
	case err != nil:
		return "", err
	}
	e := kb.Errorf(kb.NotFound, "there is no release %s of %s", asked, s.Name)
	major := semver.Major(versionOf(strings.TrimLeft(asked, "^~")))
	if major != "v0" && major != "v1" && !strings.Contains(s.Name, "/"+major) {
		return "", e.WithHint("from v2 on the path has the major version: go:%s/%s", s.Name, major)
	}
	return "", e.WithHint("leave the version out for the latest")
}

func versionOf(asked string) string {
	if asked == "" || asked[0] == 'v' {
		return asked
	}
	return "v" + asked
}

// ask gets a file of a proxy, which may be a folder of this machine.
func (s *session) ask(ctx context.Context, address, what string, most int64) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "GOPROXY names an address that is not well-formed").
			WithHint("see: go env GOPROXY")
	}
	if u.Scheme == "file" {
		b, err := os.ReadFile(filepath.FromSlash(u.Path))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, kb.Errorf(kb.NotFound, "%s has no %s", filepath.Dir(u.Path), what).
				WithHint("check the name and the version")
		}
		if err == nil && int64(len(b)) > most {
			return nil, kb.Errorf(kb.TooLarge, "%s is larger than %d MB", what, most>>20).
				WithHint("make a store of its repository instead")
		}
		return b, err
	}
	auth := http.Header{}
	if u.User != nil {
		p, _ := u.User.Password()
		auth.Set("Authorization", basic(u.User.Username(), p))
		u.User = nil
	} else if user, pass, ok := s.netrc(u.Hostname()); ok {
		auth.Set("Authorization", basic(user, pass))
	}
	return s.get(ctx, u.String(), what, "", auth, most)
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// netrc returns the login of a host, as the go command takes it for proxies.
func (s *session) netrc(host string) (user, password string, ok bool) {
	file := s.Env("NETRC")
	if file == "" {
		name := ".netrc"
		if runtime.GOOS == "windows" {
			name = "_netrc"
		}
		file = filepath.Join(s.homeDir(), name)
	}
	text, err := readSmall(file)
	if err != nil {
		return "", "", false
	}
	words := strings.Fields(text)
	login := map[string]string{} // of the host
	for i := 0; i+1 < len(words); i++ {
		switch word := words[i]; word {
		case "default", "machine":
			if ok {
				return login["login"], login["password"], login["password"] != ""
			}
			if word == "machine" {
				i++
				ok = words[i] == host
			}
		case "login", "password", "account":
			i++
			if ok {
				login[word] = words[i]
			}
		}
	}
	return login["login"], login["password"], ok && login["password"] != ""
}

// unpackGo adds the documents of a module zip.
func unpackGo(ctx context.Context, m module.Version, raw []byte, b *bundle) error {
	f, err := os.CreateTemp("", "knowledge-module-*.zip") // the rules are checked on a file
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(raw); err != nil {
		return err
	}
	checked, err := modzip.CheckZip(m, f.Name())
	if err != nil {
		return err
	}
	if err := checked.Err(); err != nil {
		return err
	}
	z, err := zip.NewReader(f, int64(len(raw)))
	if err != nil {
		return err
	}
	prefix := m.Path + "@" + m.Version + "/"
	for _, e := range z.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := safePath(strings.TrimPrefix(e.Name, prefix))
		reason := goReason(p)
		if p == "" || reason == "" || !e.Mode().IsRegular() {
			continue
		}
		err := b.add(p, reason, int64(min(e.UncompressedSize64, 1<<62)), func() ([]byte, error) {
			r, err := e.Open()
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return io.ReadAll(io.LimitReader(r, maxFile))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
