package secret

import (
	"path"
	"slices"
	"strings"
)

// Dir reports whether a directory of that name holds credentials and nothing else.
func Dir(name string) bool { return dirs[strings.ToLower(name)] }

var (
	dirs         = set("dirs")
	names        = set("files")
	exts         = set("endings")
	templates    = set("templates")
	environments = set("environments")
)

// Name reports whether a file of that name exists to hold credentials,
// whatever the case of its letters. Of a path only the last element counts.
func Name(name string) bool {
	name = strings.ToLower(baseOf(name))
	for _, c := range lists()["copies"] {
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

// isTemplate reports whether a word of s marks a template: ".example", "-sample".
func isTemplate(s string) bool {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == '-' || r == '_' })
	return slices.ContainsFunc(words, func(w string) bool { return templates[w] })
}
