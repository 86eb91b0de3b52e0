package secret

import (
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Dir reports whether a directory of that name holds credentials and nothing else.
func Dir(name string) bool { return dirs[strings.ToLower(name)] }

var dirs = kb.WordsOf(`.ssh .gnupg .kube .password-store`)

// names are files that hold credentials, in lower case.
var names = lists["names"]

// exts are endings of files that hold keys, in lower case.
var exts = lists["exts"]

// copies are endings of copies, which hold what the file itself does.
var copies = []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".copy", ".swp", ".swo", ".tmp", ".disabled", ".1", ".2"}

// templates mark files that show what a file of credentials looks like. They
// are kept, and what stands in them is masked as in any other.
var templates = kb.WordsOf(`example examples sample template tmpl tpl dist default defaults schema test-example`)

// Name reports whether a file of that name exists to hold credentials,
// whatever the case of its letters. Of a path only the last element counts.
func Name(name string) bool {
	name = strings.ToLower(baseOf(name))
	for _, c := range copies {
		if rest, ok := strings.CutSuffix(name, c); ok && rest != "" {
			name = rest
			break
		}
	}
	name = strings.TrimPrefix(name, "#") // what Emacs saves: #.env#
	name = strings.TrimSuffix(name, "#")
	ext := path.Ext(name)
	if names[name] || exts[ext] {
		return true
	}
	// .env, .env.local, .env_test, .envrc, production.env, env.local; not
	// .envoy.yaml, not .env.example.
	if rest, ok := strings.CutPrefix(name, ".env"); ok && (rest == "" || rest == "rc" || !isAlnum(rest[0])) {
		return !isTemplate(rest)
	}
	if ext == ".env" || ext == ".envrc" || ext == ".tfvars" {
		return !isTemplate(strings.TrimSuffix(name, ext))
	}
	if rest, ok := strings.CutPrefix(name, "env."); ok && environments[rest] {
		return true
	}
	switch {
	case strings.HasSuffix(name, ".tfvars.json"):
		return !isTemplate(strings.TrimSuffix(name, ".tfvars.json"))
	case strings.Contains(name, ".tfstate."), strings.HasSuffix(name, "kubeconfig") && strings.HasPrefix(name, "."),
		strings.HasPrefix(name, "client_secret_") && ext == ".json",
		strings.HasPrefix(name, "id_rsa") && ext == "", strings.HasPrefix(name, "id_ed25519") && ext == "",
		ext == ".enc" && (strings.HasPrefix(name, "credentials") || strings.HasPrefix(name, "secrets")):
		return true
	}
	return false
}

var environments = kb.WordsOf(`local dev development prod production stage staging test ci live`)

// isTemplate reports whether a word of s marks a template: ".example", "-sample".
func isTemplate(s string) bool {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
		if templates[w] {
			return true
		}
	}
	return false
}
