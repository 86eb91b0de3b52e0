package secret

import (
	"bytes"
	"path"
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
	if !bytes.Contains(data, []byte("PRIVATE")) && !bytes.Contains(data, []byte("private")) && !bytes.Contains(data, []byte("auth")) &&
		!bytes.Contains(data, []byte("kind")) && !bytes.Contains(data, []byte("PrivateKey")) && !bytes.Contains(data, []byte("PuTTY-User-Key")) &&
		!bytes.HasPrefix(data, []byte("# Netscape HTTP Cookie")) && !bytes.Contains(data, []byte("machine")) {
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
		for _, m := range Find(name, string(data)) {
			if m.Kind == kindKey {
				return true
			}
		}
	}
	has := func(all ...string) bool {
		for _, s := range all {
			if !bytes.Contains(data, []byte(s)) {
				return false
			}
		}
		return true
	}
	switch {
	case (ext == ".json" || ext == "") && (has(`"service_account"`, `"private_key"`) || has(`"auths"`, `"auth"`)),
		(ext == ".yml" || ext == ".yaml") && (has("oauth_token:") && base == "hosts.yml" || has("kind:", "Config", "users:") && (has("token:") || has("client-key-data:") || has("password:"))),
		ext == "" && has("kind:", "Config", "users:") && (has("token:") || has("client-key-data:")),
		ext == ".conf" && has("[Interface]", "PrivateKey"):
		return true
	}
	// .npmrc and .yarnrc say where a registry is too; with a token in them they
	// are left out.
	return (base == ".npmrc" || base == ".yarnrc" || base == ".yarnrc.yml") && (has("_authToken") || has("_auth=") || has("_password") || has("npmAuth")) && len(Find(name, string(data))) > 0
}

// keyNotes are endings of notes and settings: a private key in one is what it is for.
var keyNotes = lists["key notes"]

// isPublic reports whether every block of a PEM file is a certificate, a public
// key or what else is meant to be seen.
func isPublic(data []byte) bool {
	n := 0
	for _, p := range bytes.Split(data, []byte("-----BEGIN "))[1:] {
		label, _, _ := bytes.Cut(p, []byte("-----"))
		if !bytes.Contains(label, []byte("CERTIFICATE")) && !bytes.Contains(label, []byte("PUBLIC")) && !bytes.Contains(label, []byte("PARAMETERS")) && !bytes.Contains(label, []byte("CRL")) {
			return false
		}
		n++
	}
	return n > 0
}
