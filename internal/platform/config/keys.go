package config

import (
	"cmp"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

const seeDocs = "docs/configuration.md lists the keys"

// Key is one key of the file.
type Key struct {
	Name    string // with dots for nesting: vectors.engine
	Type    string // what its value is, for readers
	Default string // what holds without it, for readers
	Env     string // the variable that goes before it, if there is one
	Flag    string // the flag that goes before both, if there is one
	Help    string // one clause
	Example string // value in YAML

	set setter
}

type setter func(p *parser, n *yaml.Node, c *Config) error

// maxMaxFile bounds what a file may be allowed to have, in bytes: it is read whole.
const maxMaxFile = 64 << 20

// keys is the table of keys.
var keys = slices.Concat(ownKeys, embedderKeys, trustKeys, webKeys, answerKeys, publicKeys, apiKeys, mcpKeys, teamListenerKeys, teamKeys)

var ownKeys = []Key{
	{
		Name: "dataDir", Type: "absolute folder; `~/` is your home", Default: "the platform's per-user data directory",
		Env: "KNOWLEDGE_DATA_DIR", Flag: "--data-dir",
		Help:    "where stores, indexes and jobs are kept",
		Example: "~/knowledge",
		set: func(p *parser, n *yaml.Node, c *Config) error {
			dir, err := p.text(n)
			if err != nil {
				return err
			}
			if dir = p.expand(dir); dir == "~" && p.home != "" {
				dir = p.home
			}
			if !filepath.IsAbs(dir) {
				return p.wrong(n, "dataDir must be an absolute folder, not %q", dir).
					WithHint("begin it with ~/ or the root of the file system")
			}
			c.DataDir = filepath.Clean(dir)
			return nil
		},
	},
	{
		Name: "vectors.engine", Type: "`flat` or `chromem`", Default: "`flat`", Env: "KNOWLEDGE_VECTORS_ENGINE",
		Help:    "what searches vectors: a scan of memory-mapped matrices, or chromem-go in memory",
		Example: "chromem",
		set:     text(func(c *Config) *string { return &c.Engine }, nil, "", ""),
	},
	{
		Name: "maxFileBytes", Type: "integer from 1 to 67108864", Default: "1048576",
		Help:    "files above it are left out of every store that sets no limit of its own, from the next time it is indexed",
		Example: "2097152",
		set:     whole("maxFileBytes", 1, maxMaxFile, "leave it out for 1 MiB", func(c *Config) *int64 { return &c.MaxFileBytes }),
	},
	{
		Name: "index.memory", Type: "integer from 128 to 1048576, MiB", Default: "512",
		Help: "how much memory a process that indexes or links keeps to; less makes it slower, " +
			"and a store whose names alone take more still gets them",
		Example: "1024",
		set:     whole("index.memory", 128, 1<<20, "leave it out for 512 MiB", func(c *Config) *int64 { return &c.IndexMemory }),
	},
	{
		Name: "index.url", Type: "URLs, separated by commas", Default: "none: every store is of this machine", Env: "KNOWLEDGE_INDEX_URL",
		Help:    "the nodes of the Weaviate cluster (v1.39) that shared stores are on",
		Example: "http://node1:8080,http://node2:8080",
		set:     text(func(c *Config) *string { return &c.Index.URL }, nil, "", ""),
	},
	{
		Name: "index.keyFile", Type: "absolute file; `~/` is your home", Default: "none",
		Help:    "the file with the key of that cluster, which only you may be able to read (mode 0600); the variable `KNOWLEDGE_INDEX_KEY` goes before it",
		Example: "~/.config/knowledge/index.key",
		set: func(p *parser, n *yaml.Node, c *Config) error {
			file, err := p.text(n)
			if err != nil {
				return err
			}
			if c.Index.KeyFile = p.expand(file); !filepath.IsAbs(c.Index.KeyFile) {
				return p.wrong(n, "index.keyFile must be an absolute path, not %q", file).WithHint("begin it with ~/ or the root of the file system")
			}
			return nil
		},
	},
	{
		Name: "git.tokens", Type: "map of host to the name of an environment variable", Default: "none",
		Help: "the variable whose value may be sent as password to that host over https, and to no other; " +
			"netrc and git's credential helpers are asked before",
		Example: "{github.com: GITHUB_TOKEN}",
		set:     setTokens,
	},
}

// Keys returns the table of keys.
func Keys() []Key { return slices.Clone(keys) }

var (
	envName  = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	hostName = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	// Tokens of the large hosts, in the place of a variable's name.
	tokenLike = lazyregexp.New(`^(gh[a-z]_|github_pat_|glpat-|[A-Za-z0-9]{32,}$)`)
)

// whole takes a whole number within bounds.
func whole(name string, least, most int64, hint string, at func(*Config) *int64) setter {
	return func(p *parser, n *yaml.Node, c *Config) error {
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || v < least || v > most {
			return p.wrong(n, "%s must be a whole number from %d to %d", name, least, most).WithHint("%s", hint)
		}
		*at(c) = v
		return nil
	}
}

// isVariable reports whether s is the name of an environment variable.
func isVariable(s string) bool { return envName.MatchString(s) && !tokenLike.MatchString(s) }

func setTokens(p *parser, n *yaml.Node, c *Config) error {
	if n.Kind != yaml.MappingNode {
		return p.wrong(n, "git.tokens must be a map of host to variable").
			WithHint("like this: github.com: GITHUB_TOKEN")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at := n.Content[i]
		host := at.Value
		name, port, err := net.SplitHostPort(host)
		if err != nil {
			name, port = host, "1"
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil || !hostName.MatchString(name) && net.ParseIP(name) == nil {
			return p.wrong(at, "git.tokens: %q is not a host", host).
				WithHint("write the host alone, as in github.com or git.example.org:8443")
		}
		if slices.ContainsFunc(c.Tokens, func(t Token) bool { return strings.EqualFold(t.Host, host) }) {
			return p.wrong(at, "git.tokens names %q twice", host).WithHint("keep one of the lines")
		}
		v, err := p.text(n.Content[i+1])
		if err != nil {
			return err
		}
		// The value is not repeated: it may be the secret itself.
		if !isVariable(v) {
			return p.wrong(at, "git.tokens: what stands for %q is not the name of an environment variable", host).
				WithHint("put the token into a variable and write the variable's name here")
		}
		c.Tokens = append(c.Tokens, Token{host, v})
	}
	return nil
}

// parser reads one file.
type parser struct {
	path, home string
	key        string // that is being read
}

// wrong is an error at a place of the file.
func (p *parser) wrong(n *yaml.Node, format string, args ...any) *kb.Error {
	args = append([]any{p.path, n.Line}, args...)
	return kb.Errorf(kb.Invalid, "%s:%d: "+format, args...)
}

// text returns the string of a node.
func (p *parser) text(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		return "", p.wrong(n, "a text must stand here").WithHint(seeDocs)
	}
	return n.Value, nil
}

// text returns a setter of a text. One that valid refuses is an error: the key,
// followed by wrong.
func text(field func(*Config) *string, valid func(string) bool, wrong, hint string) setter {
	return func(p *parser, n *yaml.Node, c *Config) error {
		s, err := p.text(n)
		if err == nil && valid != nil && !valid(s) {
			return p.wrong(n, "%s %s", p.key, wrong).WithHint("%s", hint)
		}
		*field(c) = s
		return err
	}
}

// list returns a setter of a list.
func list(field func(*Config) *[]string, valid func(string) bool, hint string) setter {
	return func(p *parser, n *yaml.Node, c *Config) (err error) {
		*field(c), err = p.list(n, valid, hint)
		return err
	}
}

// list reads a list of texts, or one text.
func (p *parser) list(n *yaml.Node, valid func(string) bool, hint string) ([]string, error) {
	nodes := n.Content
	if n.Kind == yaml.ScalarNode {
		nodes = []*yaml.Node{n}
	} else if n.Kind != yaml.SequenceNode {
		return nil, p.wrong(n, "%s must be a list", p.key).WithHint("%s", hint)
	}
	var out []string
	for _, e := range nodes {
		s, err := p.text(e)
		if err != nil {
			return nil, err
		}
		if !valid(s) {
			return nil, p.wrong(e, "%s: %q is not understood", p.key, s).WithHint("%s", hint)
		}
		out = append(out, s)
	}
	return out, nil
}

// absolute reads an absolute path; "~/" is the home directory.
func (p *parser) absolute(n *yaml.Node) (string, error) {
	s, err := p.text(n)
	if err != nil {
		return "", err
	}
	if s = p.expand(s); !filepath.IsAbs(s) {
		return "", p.wrong(n, "%s must be an absolute path, not %q", p.key, s).
			WithHint("begin it with ~/ or the root of the file system")
	}
	return filepath.Clean(s), nil
}

func (p *parser) expand(s string) string {
	if rest, ok := strings.CutPrefix(s, "~"); ok && p.home != "" && rest != "" && (rest[0] == '/' || rest[0] == filepath.Separator) {
		return p.home + rest
	}
	return s
}

// mapping reads the keys below prefix, "" or ending in a dot.
func (p *parser) mapping(n *yaml.Node, prefix string, c *Config) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil // a heading with nothing below it
	}
	if n.Kind != yaml.MappingNode {
		where := cmp.Or(strings.TrimSuffix(prefix, "."), "the file")
		return p.wrong(n, "%s must hold keys with values", where).WithHint(seeDocs)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		full := prefix + at.Value
		if seen[full] {
			return p.wrong(at, "the key %q stands there twice", full).WithHint("keep one of them")
		}
		seen[full] = true
		if k := slices.IndexFunc(keys, func(k Key) bool { return k.Name == full }); k >= 0 {
			p.key = full
			if err := keys[k].set(p, value, c); err != nil {
				return err
			}
			continue
		}
		below := func(k Key) bool { return strings.HasPrefix(k.Name, full+".") }
		if slices.ContainsFunc(keys, below) && !strings.Contains(at.Value, ".") {
			if err := p.mapping(value, full+".", c); err != nil {
				return err
			}
			continue
		}
		e := p.wrong(at, "there is no key %q", full)
		if near := nearest(full); near != "" {
			return e.WithHint("did you mean %q? "+seeDocs, near)
		}
		return e.WithHint(seeDocs)
	}
	return nil
}

// nearest returns the most likely key or heading, or "": the one of least edit
// distance, if that is at most a third of the longer length.
func nearest(name string) string {
	if len(name) > 64 {
		return "" // none is as long, by far
	}
	best, least := "", 1<<30
	try := func(k string) {
		d := kb.Distance(strings.ToLower(name), strings.ToLower(k))
		if d <= (max(len(name), len(k))+2)/3 && d < least {
			best, least = k, d
		}
	}
	for _, k := range keys {
		try(k.Name)
		if heading, last, ok := strings.Cut(k.Name, "."); ok {
			try(heading)
			if strings.EqualFold(last, name) {
				return k.Name // the last word alone
			}
		}
	}
	return best
}
