package secret

import "testing"

// TestName has the names of files that exist to hold credentials, in the case
// and with the endings that editors and people give them, and their neighbours
// that do not.
func TestName(t *testing.T) {
	for _, name := range []string{
		".env", ".ENV", ".env.local", ".env_test", ".envrc", ".env~", ".env.bak", "#.env#", "production.env", "env.local", "app/secrets.env",
		"id_rsa", "ID_RSA", "id_rsa.bak", "id_ed25519_work", "server.key", "SERVER.KEY", "store.jks", "x/credentials", "Credentials.json",
		".bash_history", "ConsoleHost_history.txt", "terraform.tfstate", "terraform.tfstate.backup", "prod.tfvars", "prod.auto.tfvars.json",
		"kubeconfig.yaml", "credentials.yml.enc", "rclone.conf", ".my.cnf", "client.ovpn", "passwords.txt", "client_secret_12.apps.example.json",
		"secrets.yaml", "key.properties",
	} {
		if !Name(name) {
			t.Errorf("%s is kept", name)
		}
	}
	for _, name := range []string{
		".envoy.yaml", ".env.example", ".env.sample", "example.env", "terraform.tfvars.example", "sample.tfvars", "id_rsa.pub", "id_ed25519.pub", "environment.ts", "env.go", "env.d.ts",
		"credentials.go", "secrets.py", "password.html", "keys.md", "history.go", "token.go", "monkey.md", "keyboard.c", "kubeconfig.go", "shadow.css", "secret_test.go",
	} {
		if Name(name) {
			t.Errorf("%s is left out", name)
		}
	}
	if !Dir(".ssh") || !Dir(".SSH") || Dir("ssh") {
		t.Error("directories")
	}
}

// TestFile has files whose content says what they are for, whatever their name.
func TestFile(t *testing.T) {
	body := "MIIEowIBAAKCAQEA7x0YbY1nqkq3yZ8b7W5Qv9T2m4d6K1r8Jc3s5L0hGfEe2Aa9"
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + body + "\n-----END RSA PRIVATE KEY-----\n"
	for name, text := range map[string]string{
		"deploy": key, "notes.txt": "our key is:\n" + key + "keep it\n", "server.conf": "cert {\n" + key + "}\n", "a.pem": "x", "b.PEM": key,
		"x.json":              `{"type": "service_account", "private_key": "x"}`,
		".docker/config.json": `{"auths": {"h": {"auth": "eA=="}}}`,
		"gh/hosts.yml":        "github.com:\n  oauth_token: x\n",
		"k.yaml":              "apiVersion: v1\nkind: Config\nusers: [{name: a, user: {token: x}}]\n",
		"wg0.conf":            "[Interface]\nPrivateKey = x\n",
		".npmrc":              "//registry.example.org/:_authToken=0a1b2c3d4e5f60718293\n",
	} {
		if !File(name, []byte(text)) {
			t.Errorf("%s is kept", name)
		}
	}
	for name, text := range map[string]string{
		"tls_test.go": "const k = `" + key + "`\n", "README.md": "So it looks:\n\n" + key, "ca.pem": "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n",
		".npmrc": "registry=https://registry.example.org/\n", "x.json": `{"type": "service", "authors": []}`, "notes.txt": "a file that begins with -----BEGIN PRIVATE KEY----- is one\n",
		"main.go": "package main\n", "deploy.yaml": "kind: Deployment\nusers: []\ntoken: x\n",
	} {
		if File(name, []byte(text)) {
			t.Errorf("%s is left out", name)
		}
	}
}
