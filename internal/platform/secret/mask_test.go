package secret

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// TestMask shows what becomes of lines that hold a secret: an asterisk for
// every byte of it, and nothing else changes. "§" stands for the letters of
// one, so that no scanner takes this file for what it is about.
func TestMask(t *testing.T) {
	random := "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2Wv"
	for _, c := range []struct{ name, text string }{
		{"main.go", "\ttoken := \"ghp_§\" // of the bot\n"},
		{"a.js", "const msg = 'hi'; const apiKey = `§`;\n"},
		{"a.py", "headers = {'Authorization': 'Bearer §'}\n"},
		{"Client.java", "private static final String CLIENT_SECRET = \"§\";\n"},
		{"a.rs", "let secret: &str = \"§\";\n"},
		{"README.md", "export DATADOG_API_KEY=§\n"},
		{"a.md", "clone https://bot:§@git.example.org/x.git\n"},
		{"a.yml", "env:\n  - name: API_TOKEN\n    value: §\n"},
		{"a.xml", "<password>§</password>\n"},
		{"install.sh", "curl -fsS \\\n  -H 'X-Api-Key: §' \\\n  https://example.org\n"},
		{"a.md", "    curl -u ci:§ https://example.org/upload\n"},
		{"k.yaml", "apiVersion: v1\nkind: Secret\ndata:\n  password: §\n"},
		{"k2.yaml", "kind: Deployment\ndata:\n  a: b\n---\nstringData:\n  note: §\nkind: Secret\n"},
		{"a.go", "s := \"first\\nghp_§\\nlast\"\n"},
	} {
		in := strings.ReplaceAll(c.text, "§", random[:36])
		want := strings.ReplaceAll(strings.ReplaceAll(c.text, "ghp_", "****"), "§", strings.Repeat("*", 36))
		if got, n := Mask(c.name, in); got != want || n != 1 {
			t.Errorf("%s: %d masked\n got %q\nwant %q", c.name, n, got, want)
		}
	}
}

// TestMaskKeepsLines: a key of many lines stays as many lines, each as long as
// it was, and the text around it is as it was.
func TestMaskKeepsLines(t *testing.T) {
	line := "MIIEowIBAAKCAQEA7x0YbY1nqkq3yZ8b7W5Qv9T2m4d6K1r8Jc3s5L0hGfEe2Aa9"
	for _, nl := range []string{"\n", "\r\n"} {
		text := strings.Join([]string{"package a", "", "const key = `-----BEGIN EC PRIVATE KEY-----", line, line[3:], "-----END EC PRIVATE KEY-----`", "", "func f() {}", ""}, nl)
		got, n := Mask("a.go", text)
		if n != 1 || len(got) != len(text) || strings.Count(got, "\n") != strings.Count(text, "\n") || strings.Contains(got, line[:20]) || !strings.Contains(got, "func f() {}") || !strings.Contains(got, "BEGIN EC") {
			t.Errorf("%d masked: %q", n, got)
		}
	}
	joined := `{"private_key": "-----BEGIN PRIVATE KEY-----\n` + line + `\n` + line + `\n-----END PRIVATE KEY-----\n", "x": 1}`
	if got, n := Mask("a.json", joined); n != 1 || strings.Contains(got, line[:12]) || strings.Count(got, `\n`) != 4 {
		t.Errorf("%d masked: %q", n, got)
	}
}

// TestNotMasked: what people write about secrets is not one.
func TestNotMasked(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"a.go", `if strings.HasPrefix(line, "-----BEGIN RSA PRIVATE KEY-----") { parseTheBlockThatFollows(line) } // "-----END RSA PRIVATE KEY-----"`},
		{"a.yml", "password: ${DB_PASSWORD}\ntoken: {{ .Values.token1 }}\nsecret: <your-secret-1>\n"},
		{"a.md", "postgres://user:password123@localhost/db and https://user:pass@example.org\n"},
		{"a.go", "const tokenKindStringLiteral2 = iota // the 2nd kind of token\n"},
		{"a.py", "token = os.environ['SERVICE_TOKEN_V2']\nkey = hashlib.sha256(b'abc123').hexdigest()\n"},
		{"a.json", `{"tokenizer": "cl100k_base", "keyId": "primary-key-2024", "password": "string"}`},
		{"go.sum", "example.org/token v1.2.0 h1:SOiyIakOpFu9/B1x6sxn8TjHK7PQAT7nSG2pW0IYtr1=\n"},
		{"cache.py", "key = \"orders:v2:1b93f50fa8d687df666ba6a088f0bfc3\"\n"},
		{"a_test.go", "tokens: []Token{rawToken(`0e12456789`)}\n"},
		{"git.txt", "key commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567\n"},
	} {
		if got, n := Mask(c.name, c.text); n > 0 {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestEveryExpressionCompiles: they are compiled when they are first used.
func TestEveryExpressionCompiles(t *testing.T) {
	for _, w := range allWords() {
		if w.token != nil {
			w.token.rest()
		}
	}
	for _, re := range []func() *regexp.Regexp{
		bearer, curlUser, curlHeader, kindSecret, dataLine, entryLine, secretManifest, netrcLine, npmrcLine, otpSecret,
	} {
		re()
	}
}

// TestMaskJSON: valid JSON stays valid, with any text beside a secret.
func TestMaskJSON(t *testing.T) {
	token := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	for _, in := range []string{
		`{"message": "the token \"` + token + `\" stands in main.go\n", "line": 3}`,
		`{"api_key": "` + token + `", "discord_client_id": 123456789012345678}`,
		`{"snippet": "password=\"Abc123!x\"\u0041", "password": "Abc12345\\"}`,
	} {
		out := MaskJSON("x.json", []byte(in))
		if !json.Valid(out) || len(out) != len(in) || strings.Contains(string(out), token) || string(out) == in {
			t.Errorf("%s\nis masked to\n%s", in, out)
		}
	}
	plain := []byte(`{"a": "b"}`)
	if out := MaskJSON("x.json", plain); string(out) != string(plain) {
		t.Errorf("got %s", out)
	}
}
