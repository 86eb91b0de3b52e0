package main

import (
	"regexp"
	"strings"
	"testing"
)

// foreign finds words that are for the program's authors, not its users.
var foreign = regexp.MustCompile(`&?\{[A-Z]|map\[|%!|0x[0-9a-f]|panic|goroutine|strconv\.|json:|reflect|\*errors|PathError|\.go:\d|<nil>|sql: |SQLITE|-32603|\(\*`)

// plainly checks that a failure, as its reader gets it, is said in one sentence
// of cause and one of what to do next.
func plainly(t testing.TB, name, text string) {
	t.Helper()
	message, hint, ok := strings.Cut(text, ". ")
	if !ok {
		t.Errorf("%s: no hint in %q", name, text)
	}
	plainParts(t, name, message, hint)
}

func plainParts(t testing.TB, name, message, hint string) {
	t.Helper()
	for what, s := range map[string]string{"cause": message, "hint": hint} {
		switch {
		case strings.TrimSpace(s) == "":
			t.Errorf("%s: the %s is empty (%q, %q)", name, what, message, hint)
		case strings.Contains(s, "\n"):
			t.Errorf("%s: the %s has several lines: %q", name, what, s)
		case len(s) > 400:
			t.Errorf("%s: the %s is %d bytes long: %.500q", name, what, len(s), s)
		case foreign.MatchString(s):
			t.Errorf("%s: the %s speaks of the inside: %q", name, what, s)
		}
	}
	if strings.HasSuffix(message, ".") || strings.Contains(message, ". ") {
		t.Errorf("%s: the cause is more than a sentence: %q", name, message)
	}
}
