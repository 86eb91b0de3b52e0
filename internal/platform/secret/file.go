package secret

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// File reports whether the content of a file shows that it exists to hold
// credentials: a key with nothing but notes around it, the account of a
// service, what a client of a cloud has logged in with. Source and prose that
// hold a credential beside other things are kept, and masked.
func File(name string, data []byte) bool {
	if ext := strings.ToLower(path.Ext(name)); ext == ".pem" && !isPublic(data) {
		return true
	}
	// Every rule below needs one of these.
	has := func(all ...string) bool {
		for _, s := range all {
			if !bytes.Contains(data, []byte(s)) {
				return false
			}
		}
		return true
	}
	needed := []string{"PRIVATE", "private", "auth", "kind", "PrivateKey", "PuTTY-User-Key", "# Netscape HTTP Cookie", "machine"}
	if !slices.ContainsFunc(needed, func(s string) bool { return has(s) }) {
		return false
	}
	head := data[:min(len(data), 80)]
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte("-----BEGIN ")) && bytes.Contains(head, []byte("PRIVATE KEY")),
		bytes.HasPrefix(head, []byte("PuTTY-User-Key-File-")), bytes.HasPrefix(head, []byte("# Netscape HTTP Cookie File")):
		return true
	}
	base := strings.ToLower(baseOf(name))
	ext := path.Ext(base)
	if i := bytes.Index(data, []byte("PRIVATE KEY")); i >= 0 && (ext == "" || keyNotes[ext]) && !isTemplate(base) {
		// A note or a file of settings with a true key in it.
		if slices.ContainsFunc(Find(name, string(data)), func(m Match) bool { return m.Kind == kindKey }) {
			return true
		}
	}
	logins := has("token:") || has("client-key-data:")
	switch {
	case (ext == ".json" || ext == "") && (has(`"service_account"`, `"private_key"`) || has(`"auths"`, `"auth"`)),
		ext == ".yml" && base == "hosts.yml" && has("oauth_token:"),
		(ext == ".yml" || ext == ".yaml") && has("kind:", "Config", "users:") && (logins || has("password:")),
		ext == "" && has("kind:", "Config", "users:") && logins,
		ext == ".conf" && has("[Interface]", "PrivateKey"):
		return true
	}
	// .npmrc and .yarnrc say where a registry is too; with a token in them they
	// are left out.
	return (base == ".npmrc" || base == ".yarnrc" || base == ".yarnrc.yml") &&
		(has("_authToken") || has("_auth=") || has("_password") || has("npmAuth")) && len(Find(name, string(data))) > 0
}

var keyNotes = set("notes")

// isPublic reports whether every block of a PEM file is public, as certificates
// and public keys are.
func isPublic(data []byte) bool {
	n := 0
	for _, p := range bytes.Split(data, []byte("-----BEGIN "))[1:] {
		label, _, _ := bytes.Cut(p, []byte("-----"))
		public := []string{"CERTIFICATE", "PUBLIC", "PARAMETERS", "CRL"}
		if !slices.ContainsFunc(public, func(w string) bool { return bytes.Contains(label, []byte(w)) }) {
			return false
		}
		n++
	}
	return n > 0
}
