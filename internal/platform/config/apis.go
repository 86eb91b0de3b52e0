package config

import (
	"path/filepath"
	"runtime"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// APIs holds the settings of declared APIs. The definitions themselves are in a file
// beside it, see APIsPath.
type APIs struct {
	Env    []string // variables ("NAME") and entries of the keyring ("keyring:NAME") that a project's file may use
	Expose []string // our own commands in the lists of tools over HTTP; nil is the default
	Hosts  []string // hosts and networks beyond public ones that a project's file may allow itself
}

// APIsPath returns where the user's own definitions of APIs are looked for:
// apis.yaml beside the configuration file; "" without a home directory.
func APIsPath(env func(string) string) string {
	path, _ := Path(env)
	if path == "" {
		return ""
	}
	if runtime.GOOS == "windows" { // its default is written with backslashes on every system
		path = filepath.FromSlash(path)
	}
	return filepath.Join(filepath.Dir(path), "apis.yaml")
}

var (
	secretRef   = lazyregexp.New(`^(keyring:[A-Za-z0-9][A-Za-z0-9_.-]{0,63}|[A-Za-z_][A-Za-z0-9_]{0,127})$`)
	commandName = lazyregexp.New(`^[a-z][a-z0-9_:-]{0,63}$`)
)

// apiKeys are the keys below apis, a part of the table.
var apiKeys = []Key{
	{
		Name: "apis.env", Type: "list of names of environment variables, or `keyring:NAME`", Default: "none",
		Help: "the secrets that the APIs of a trusted project's .knowledge/apis.yaml may use; " +
			"what your own apis.yaml names it may use for the same host alone",
		Example: "[WEATHER_KEY]",
		set: func(p *parser, n *yaml.Node, c *Config) (err error) {
			wrong := false // what is wrong is not repeated: it may be the secret itself
			c.APIs.Env, err = p.list(n, func(s string) bool {
				wrong = wrong || !secretRef.MatchString(s) || tokenLike.MatchString(s)
				return true
			}, "write the names of variables")
			if wrong && err == nil {
				c.APIs.Env = nil
				return p.wrong(n, "apis.env: one of these is not the name of an environment variable").
					WithHint("put the secret into a variable and write the variable's name here")
			}
			return err
		},
	},
	{
		Name: "apis.expose", Type: "list of commands", Default: "`[search, kdd_search, kdd_related, kdd_list, generate_rag_answer]`",
		Help:    "our own commands that GET /api/tools/discover and GET /mcp/tools/list show beside the declared APIs",
		Example: "[search]",
		set: func(p *parser, n *yaml.Node, c *Config) (err error) {
			c.APIs.Expose, err = p.list(n, commandName.MatchString, "write names of commands as docs/commands.md has them; [] is none")
			if c.APIs.Expose == nil && err == nil {
				c.APIs.Expose = []string{}
			}
			return err
		},
	},
	{
		Name: "apis.allowHosts", Type: "list of hosts (`api.internal`, `localhost:8080`) and networks (`10.0.0.0/8`)",
		Default: "none",
		Help: "hosts at addresses that are not public which the APIs of a trusted project may allow themselves, " +
			"and from which definitions may be imported",
		Example: "[api.internal]",
		set: list(func(c *Config) *[]string { return &c.APIs.Hosts },
			func(s string) bool { return s != "" && !strings.ContainsAny(s, " *?@\\\t") },
			"write a host, a host with its port or a network"),
	},
}
