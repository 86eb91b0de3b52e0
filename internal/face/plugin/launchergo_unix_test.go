//go:build unix

package plugin

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A Go that is too old to build and to fetch a newer one is told from a source
// that does not build: the next step is that of those who have none, and the
// Go that it brings goes before the old one.
func TestLauncherNeedsANewerGo(t *testing.T) {
	for _, said := range []string{
		"go: go.mod requires go >= 1.26.0 (running go 1.25.1; GOTOOLCHAIN=local)",
		"go: download go1.26.0 for linux/amd64: toolchain not available",
		"note: module requires Go 1.26.0",
		"go: errors parsing go.mod: invalid go version '1.26.0': must match format 1.23",
	} {
		i := newInstall(t, nil, 0)
		builds := i.source("0")
		newer, err := os.ReadFile(filepath.Join(i.dir, "path/go"))
		if err != nil {
			t.Fatal(err)
		}
		i.write("path/go", "#!/bin/sh\ncat <<'END' >&2\n"+said+"\nEND\nexit 1\n")
		out, err := i.run("version")
		old := filepath.Join(i.dir, "path/go")
		if err == nil || !strings.Contains(out, "Go 1.26.0 is needed to build it, which "+old+" is too old for; run this once in a terminal, then call again: mkdir -p ") ||
			!strings.Contains(out, "https://go.dev/dl/go1.26.0.") || strings.Contains(out, "\n") {
			t.Errorf("%q: %v: %s", said, err, out)
		}
		i.write("home/.cache/knowledge/bin/go/bin/go", string(newer))
		if out, err := i.run("version"); err != nil || out != "version" || builds() != 1 {
			t.Errorf("with a newer one: %v: %s", err, out)
		}
	}
}

// While the program is being built, a call says since when and when to come
// back: each answer costs the agent a turn.
func TestStubTellsWhenToComeBack(t *testing.T) {
	i := newInstall(t, nil, 0)
	i.source("0")
	i.write("path/sleep", "#!/bin/sh\nwhile [ -d \"${COUNT%/*}\" ] && [ ! -e \"$COUNT.began\" ]; do /bin/sleep 0.02; done\n")                         // no longer
	i.write("path/go", "#!/bin/sh\n: >\"$COUNT.began\"\nwhile [ -e \"$COUNT.began\" ] && [ ! -e \"$COUNT.go\" ]; do /bin/sleep 0.05; done\nexit 1\n") // nor than this test
	defer i.write("home/count.go", "")
	cmd := i.command("mcp")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search"}}` + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`knowledge is being built with Go, which takes one to three minutes, and has been for \d+ s; this is done once for each version\. Go on with other tools and call again in two minutes\.`)
	if !want.Match(out) {
		t.Errorf("%s", out)
	}
}
