package repostate

import (
	"cmp"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// settings are the parts of git's configuration that decide how a work tree compares.
type settings struct {
	filemode bool
	symlinks bool
	autocrlf string // "", "true", "input"
	eol      string // core.eol: "", "lf", "crlf", "native"
	excludes string // content of core.excludesFile
	attrs    string // content of core.attributesFile
}

// decode reads a file of git configuration; what does not parse is empty.
func decode(text string) *config.Config {
	c := config.New()
	if config.NewDecoder(strings.NewReader(text)).Decode(c) != nil {
		return config.New()
	}
	return c
}

// config is the configuration of the repository.
func (d dirs) config() *config.Config { return decode(small(filepath.Join(d.common, "config"))) }

// configs returns the repository's configuration and the user's own.
func (r *Reader) configs(d dirs) []*config.Config {
	all := []*config.Config{d.config()}
	if p := r.env("GIT_CONFIG_GLOBAL"); p != "" {
		return append(all, decode(small(p)))
	}
	if home := r.home(); home != "" {
		all = append(all, decode(small(filepath.Join(home, ".gitconfig"))))
	}
	if x := r.xdg(); x != "" {
		all = append(all, decode(small(filepath.Join(x, "git", "config"))))
	}
	return all
}

func (r *Reader) home() string { return cmp.Or(r.env("HOME"), r.env("USERPROFILE")) }

func (r *Reader) xdg() string {
	if x := r.env("XDG_CONFIG_HOME"); x != "" {
		return x
	}
	if h := r.home(); h != "" {
		return filepath.Join(h, ".config")
	}
	return ""
}

// settings reads the configuration, the repository's before the user's.
func (r *Reader) settings(d dirs) settings {
	all := r.configs(d)
	get := func(key string) string {
		for _, c := range all {
			if core := c.Section("core"); core.HasOption(key) {
				return cmp.Or(core.Option(key), "true") // a key without a value
			}
		}
		return ""
	}
	s := settings{filemode: truth(get("filemode"), runtime.GOOS != "windows"), symlinks: truth(get("symlinks"), true)}
	if v := strings.ToLower(get("autocrlf")); v == "input" {
		s.autocrlf = "input"
	} else if truth(v, false) {
		s.autocrlf = "true"
	}
	s.eol = strings.ToLower(get("eol"))
	excludes, attrs := get("excludesfile"), get("attributesfile")
	if x := r.xdg(); x != "" {
		excludes = cmp.Or(excludes, filepath.Join(x, "git", "ignore"))
		attrs = cmp.Or(attrs, filepath.Join(x, "git", "attributes"))
	}
	s.excludes, s.attrs = small(r.expand(d, excludes)), small(r.expand(d, attrs))
	return s
}

// expand returns a path of the configuration in full.
func (r *Reader) expand(d dirs, p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		return filepath.Join(r.home(), rest)
	}
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(d.root, p)
}

// truth reads a boolean of git's configuration.
func truth(v string, otherwise bool) bool {
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	}
	return otherwise
}

// ignoredSubmodules returns the value of submodule.NAME.ignore for the submodule
// at a path: "", none, untracked, dirty or all. The repository's configuration
// comes before .gitmodules.
func ignoredSubmodules(d dirs) func(path string) string {
	modules, local := decode(small(filepath.Join(d.root, ".gitmodules"))), d.config()
	all := local.Section("diff").Option("ignoresubmodules")
	by := map[string]string{}
	for _, sub := range modules.Section("submodule").Subsections {
		by[sub.Option("path")] = cmp.Or(local.Section("submodule").Subsection(sub.Name).Option("ignore"), sub.Option("ignore"))
	}
	return func(path string) string { return strings.ToLower(cmp.Or(by[path], all)) }
}
