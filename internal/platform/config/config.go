// Package config reads the one configuration file of the user:
// $KNOWLEDGE_CONFIG, else config.yaml in the folder knowledge of the
// platform's per-user configuration directory. It is YAML; one table
// lists every key, and docs/configuration.md is generated from it. A misspelt key
// is refused with its line and the nearest key.
//
// Only the user's own file is read, never one of a project: it names
// variables that hold secrets.
package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Variable is the environment variable that names the configuration file.
const Variable = "KNOWLEDGE_CONFIG"

// maxBytes bounds the file; a person writes a few lines.
const maxBytes = 64 << 10

// Config is the content of the file. The zero value is an empty file.
type Config struct {
	// DataDir is where stores are kept: absolute, or "" when the file is silent.
	DataDir string
	// Engine is the name of the vector engine, unchecked; "" is the default.
	Engine string
	// MaxFileBytes is the size above which a file is left out of stores that
	// set no limit of their own; 0 is the default.
	MaxFileBytes int64
	// IndexMemory is how many MiB a process that runs jobs keeps to; 0 is the default.
	IndexMemory int64
	// Index is the cluster that shared stores are on.
	Index Cluster
	// Tokens name the variables that may be sent as passwords, in the file's order.
	Tokens []Token
	Web    Web
	// Embedder is what makes the vectors of indexes.
	Embedder Embedder
	Answer   Answer
	Public   Public
	APIs     APIs
	MCP      MCP
	Team     Team
	// Trust are absolute paths that the user vouches for; see TrustPaths.
	Trust []string
}

// Cluster says where shared stores are.
type Cluster struct {
	URL     string // of its nodes, separated by commas; "" for none
	KeyFile string // absolute path of the file with the key, or ""
}

// Token names the environment variable that holds the token for a git host.
type Token struct {
	Host string // "github.com", or "host:port" for ports other than 443
	Env  string // name of the variable
}

// Path returns where the file is looked for, and whether the user named the
// place. Without a home directory it is "".
//
//	linux and others  $XDG_CONFIG_HOME/knowledge/config.yaml, else ~/.config/knowledge/config.yaml
//	macOS             ~/Library/Application Support/knowledge/config.yaml
//	Windows           %AppData%\knowledge\config.yaml
func Path(env func(string) string) (path string, named bool) {
	if p := env(Variable); p != "" {
		return p, true
	}
	return defaultPath(runtime.GOOS, env), false
}

// defaultPath depends on its arguments alone.
func defaultPath(goos string, env func(string) string) string {
	home := env("HOME")
	switch goos {
	case "windows":
		if d := env("AppData"); d != "" {
			return d + `\knowledge\config.yaml`
		}
	case "darwin", "ios":
		if home != "" {
			return home + "/Library/Application Support/knowledge/config.yaml"
		}
	default:
		// The XDG specification has relative paths ignored.
		if d := env("XDG_CONFIG_HOME"); len(d) > 0 && d[0] == '/' {
			return d + "/knowledge/config.yaml"
		}
		if home != "" {
			return home + "/.config/knowledge/config.yaml"
		}
	}
	return ""
}

// Load reads the user's file. That there is none is no error unless the user
// named it. Errors of the content are Invalid and name file and line.
func Load(env func(string) string) (Config, error) {
	path, named := Path(env)
	if path == "" {
		return Config{}, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !named {
			return Config{}, nil
		}
		return Config{}, kb.Errorf(kb.NotFound, "there is no configuration file %q", path).
			WithHint("make it, or unset $%s", Variable)
	}
	var text []byte
	if err == nil {
		defer f.Close()
		text, err = io.ReadAll(io.LimitReader(f, maxBytes+1))
	}
	if err != nil {
		return Config{}, kb.Errorf(kb.Denied, "the configuration file %q cannot be read: %w", path, err).
			WithHint("make it readable, or name another with $%s", Variable)
	}
	return Parse(path, text, homeOf(env))
}

func homeOf(env func(string) string) string {
	home := env("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = env("USERPROFILE")
	}
	return home
}

// Parse reads the text of a file. path is for messages; home replaces a
// leading "~", "" when it is not known.
func Parse(path string, text []byte, home string) (Config, error) {
	p := parser{path: path, home: home}
	if len(text) > maxBytes {
		return Config{}, kb.Errorf(kb.TooLarge, "the configuration file %q has more than %d KiB", path, maxBytes>>10).
			WithHint("it needs a few lines: see docs/configuration.md")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return Config{}, nil // nothing but comments
	case err != nil:
		return Config{}, kb.Errorf(kb.Invalid, "the configuration file %q is not YAML: %w", path, err).WithHint(seeDocs)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Config{}, kb.Errorf(kb.Invalid, "the configuration file %q holds more than one document", path).
			WithHint("remove the lines --- between them")
	}
	var c Config
	if err := p.mapping(doc.Content[0], "", &c); err != nil {
		return Config{}, err
	}
	return c, nil
}
