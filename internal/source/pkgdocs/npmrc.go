package pkgdocs

import (
	"cmp"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

const npmDefault = "https://registry.npmjs.org/"

// npmSettings reads the user's settings of npm: variables npm_config_…, in any case,
// before the user's file, before the machine's. Keys are npm's:
// "registry", "@scope:registry", "//host/path/:_authToken".
func npmSettings(c *Config) settings {
	s := settings{values: map[string]string{}}
	env := func(name string) string {
		return cmp.Or(c.Env("npm_config_"+name), c.Env("NPM_CONFIG_"+strings.ToUpper(name)))
	}
	files := []string{env("globalconfig"), env("userconfig")}
	if files[1] == "" {
		if home := c.homeDir(); home != "" {
			files[1] = filepath.Join(home, ".npmrc")
		}
	}
	for _, f := range files {
		if f != "" {
			if s.err = s.npmrc(f, c.Env); s.err != nil {
				return s
			}
		}
	}
	for _, k := range []string{"registry", "proxy", "https-proxy"} {
		if v := env(strings.ReplaceAll(k, "-", "_")); v != "" {
			s.values[k] = v
		}
	}
	s.values["registry"] = cmp.Or(s.values["registry"], npmDefault)
	for k, v := range s.values {
		if k == "registry" || strings.HasSuffix(k, ":registry") {
			if h := hostOf(v); h != "" && !slices.Contains(s.hosts, h) {
				s.hosts = append(s.hosts, h)
			}
		}
	}
	s.proxy = cmp.Or(s.values["https-proxy"], s.values["proxy"])
	if s.proxy == "null" || s.proxy == "false" {
		s.proxy = ""
	}
	return s
}

func (c *Config) homeDir() string {
	profile := ""
	if runtime.GOOS == "windows" {
		profile = c.Env("USERPROFILE")
	}
	return cmp.Or(c.home, c.Env("HOME"), profile)
}

var npmVariable = lazyregexp.New(`\$\{([^}?]+)\??\}`)

// npmrc reads one file; there need be none.
func (s *settings) npmrc(path string, env func(string) string) error {
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return kb.Errorf(kb.Denied, "the settings of npm in %q cannot be read: %w", path, err).
			WithHint("check its permissions")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == ';' || line[0] == '#' || line[0] == '[' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"'`)
		value = npmVariable.ReplaceAllStringFunc(value, func(m string) string {
			name := npmVariable.FindStringSubmatch(m)[1]
			v := env(name)
			if v != "" && strings.HasPrefix(key, "//") && !slices.Contains(s.needs, name) {
				s.needs = append(s.needs, name)
			}
			return v
		})
		s.values[key] = value
	}
	return nil
}

// readSmall reads a file of settings, at most 1 MiB.
func readSmall(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return "", errors.New("it is no small file")
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

// registry returns the registry of an npm package, with "/" at its end.
func (s *settings) registry(name string) string {
	own := ""
	if scope, _, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(name, "@") {
		own = s.values[scope+":registry"]
	}
	return strings.TrimRight(cmp.Or(own, s.values["registry"]), "/") + "/"
}

// auth returns the header that logs in at an address: the setting for its longest
// prefix, as npm does.
func (s *settings) auth(address string) http.Header {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	dir := "//" + strings.ToLower(u.Host) + u.EscapedPath()
	for i := strings.LastIndexByte(dir, '/'); i >= 2; i = strings.LastIndexByte(dir, '/') {
		dir = dir[:i]
		for _, at := range []string{dir + "/:", dir + ":"} {
			if t := s.values[at+"_authToken"]; t != "" {
				return http.Header{"Authorization": {"Bearer " + t}}
			}
			if t := s.values[at+"_auth"]; t != "" {
				return http.Header{"Authorization": {"Basic " + t}}
			}
			if user, pass := s.values[at+"username"], s.values[at+"_password"]; user != "" && pass != "" {
				if b, err := base64.StdEncoding.DecodeString(pass); err == nil {
					return http.Header{"Authorization": {basic(user, string(b))}}
				}
			}
		}
	}
	return nil
}
