package config

import (
	"path/filepath"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// TrustVariable is the environment variable that adds to trust.paths, for
// servers and CI jobs: paths, separated as those of PATH are.
const TrustVariable = "KNOWLEDGE_TRUST_PATHS"

// trustKeys are the keys below trust, a part of the table.
var trustKeys = []Key{
	{
		Name: "trust.paths", Type: "list of absolute paths; `~/` is your home", Default: "none", Env: TrustVariable,
		Help: "folders outside of a project that agents may index, with everything below them, and single project files that you vouch for whatever they say; " +
			"the variable adds to the list, and its paths are separated as those of PATH are",
		Example: "[~/src, /srv/docs]",
		set: func(p *parser, n *yaml.Node, c *Config) (err error) {
			absolute := func(s string) bool { return filepath.IsAbs(p.expand(s)) || s == "~" }
			c.Trust, err = p.list(n, absolute, "write absolute paths, or begin them with ~/")
			for i := range c.Trust {
				if c.Trust[i] = filepath.Clean(p.expand(c.Trust[i])); c.Trust[i] == "~" {
					c.Trust[i] = p.home
				}
			}
			return err
		},
	},
}

// TrustPaths returns what the user vouches for: the file's list and what the
// environment adds to it, where a relative path starts at dir. They need not exist.
func (c Config) TrustPaths(env func(string) string, dir string) []string {
	out := append([]string(nil), c.Trust...)
	p := parser{home: homeOf(env)}
	for _, s := range filepath.SplitList(env(TrustVariable)) {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if s = p.expand(s); s == "~" {
			s = p.home
		}
		if !filepath.IsAbs(s) {
			s = filepath.Join(dir, s)
		}
		out = append(out, filepath.Clean(s))
	}
	return out
}
