package config

import (
	"path/filepath"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// Team holds the settings of the server for several users.
type Team struct {
	Public
	Rights, Tokens string // files; "" lie in the data directory
	Audit          string // file of the log of who did what; "" lies there too, "none" is none
	User, Groups   string // claims of a login's tokens; "" are sub and groups
	Introspect     bool   // signed tokens are asked about, too
}

// teamKeys are the other keys below team, a part of the table.
var teamKeys = []Key{
	{
		Name: "team.rights", Type: "absolute path", Default: "`team/rights.yaml` in the data directory",
		Help:    "the file that says who may do what; it is read again when it changes",
		Example: "/etc/knowledge/rights.yaml",
		set:     text(func(c *Config) *string { return &c.Team.Rights }, filepath.IsAbs, "must be an absolute path", "begin it with the root of the file system"),
	},
	{
		Name: "team.tokens", Type: "absolute path", Default: "`team/tokens` in the data directory",
		Help:    "the file of hashed tokens that `team:token` writes, readable by its owner alone; it is read again when it changes",
		Example: "/etc/knowledge/tokens",
		set:     text(func(c *Config) *string { return &c.Team.Tokens }, filepath.IsAbs, "must be an absolute path", "begin it with the root of the file system"),
	},
	{
		Name: "team.audit", Type: "absolute path, or `none`", Default: "`team/audit.jsonl` in the data directory",
		Help:    "where it is written down who did what; 64 MiB, then the file is renamed and four older ones are kept",
		Example: "/var/log/knowledge/audit.jsonl",
		set: text(func(c *Config) *string { return &c.Team.Audit }, func(s string) bool { return s == "none" || filepath.IsAbs(s) },
			"must be an absolute path", "write none for no log"),
	},
	{
		Name: "team.user", Type: "name of a claim", Default: "`sub`",
		Help:    "what in a token of mcp.issuer names its user; `email` counts where the issuer says that it was verified",
		Example: "email",
		set:     text(func(c *Config) *string { return &c.Team.User }, isClaim, "is no claim", "write its name alone, for example email"),
	},
	{
		Name: "team.groups", Type: "name of a claim", Default: "`groups`",
		Help:    "what in such a token lists the user's groups",
		Example: "roles",
		set:     text(func(c *Config) *string { return &c.Team.Groups }, isClaim, "is no claim", "write its name alone, for example roles"),
	},
	{
		Name: "team.introspect", Type: "`true` or `false`", Default: "`false`",
		Help: "asks mcp.issuer about signed tokens, too, so that one that was revoked is refused within 30 seconds; " +
			"otherwise its keys judge those, until they expire, and it is asked about all others",
		Example: "true",
		set: func(p *parser, n *yaml.Node, c *Config) error {
			if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
				return p.wrong(n, "team.introspect must be true or false").WithHint("leave it out for false")
			}
			c.Team.Introspect = strings.EqualFold(n.Value, "true")
			return nil
		},
	},
}

// isClaim reports whether a text can name a claim of a token: names that are
// addresses are usual.
func isClaim(s string) bool { return len(s) <= 200 && !strings.ContainsAny(s, " \t\"") }
