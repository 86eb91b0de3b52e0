package message_test

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/history/message"
)

// TestIssues: what a message names as an issue, and what only looks like one.
func TestIssues(t *testing.T) {
	for text, want := range map[string]string{
		"Fix #12 and GH-7, closes owner/name#3":                      "#12 GH-7 owner/name#3",
		"PROJ-42: read UTF-8, RFC-9110 and SHA-256, bpo-31":          "PROJ-42 bpo-31",
		"see https://example.org/o/r/pull/9 (and #9).":               "https://example.org/o/r/pull/9 #9",
		"https://bugs.example.org/show_bug.cgi?id=77 in colour #fff": "https://bugs.example.org/show_bug.cgi?id=77",
		"": "",
	} {
		if got := strings.Join(message.Issues(text), " "); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

// TestSplit: subject and body without what signs them, and without secrets.
func TestSplit(t *testing.T) {
	subject, body := message.Split("\n  a: b  \n\nwhy\nit is so\n\nSigned-off-by: A <a@example.org>\nCo-authored-by: B\n")
	if subject != "a: b" || body != "why\nit is so" {
		t.Errorf("%q %q", subject, body)
	}
	if s, b := message.Split("\xff bytes"); s != "\uFFFD bytes" || b != "" {
		t.Errorf("%q %q", s, b)
	}
	if s, _ := message.Split("use " + "ghp_" + "Zk3TqW9xLm2VbN8cRd5YhJ7pAf4GsE1uK6oQ"); strings.Contains(s, "Zk3TqW9x") {
		t.Errorf("a token is shown: %s", s)
	}
	if s, _ := message.Split(strings.Repeat("long ", 1000)); len(s) > 210 {
		t.Errorf("%d bytes of a subject", len(s))
	}
}
