package main

import (
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"empty":            {"", 0},
		"no last newline":  {"a\nb", 2},
		"120 columns":      {strings.Repeat("é", 120) + "\n", 1},
		"121 columns":      {strings.Repeat("é", 121) + "\n", 2},
		"a tab is four":    {"\t" + strings.Repeat("x", 117) + "\n", 2},
		"carriage returns": {strings.Repeat("x", 120) + "\r\n\r\n", 2},
	} {
		if got := Count([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

func TestCounts(t *testing.T) {
	for name, want := range map[string]bool{
		"internal/kb/kb.go": true, "bin/knowledge": true, "cmd/knowledge/main.go": true, "bin/knowledge.cmd": true,
		"internal/kb/kb_test.go": false, "internal/a/testdata/x.go": false, "bench/lines/main.go": false,
		".ci/run": false, "README.md": false, "internal/text/thesaurus/english.txt": false,
	} {
		if got := counts(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
