package main

import (
	"path"
	"strings"
)

// project is a public repository whose suite judges the ranking.
type project struct {
	name   string // owner/name
	commit string
	lang   string   // "go" or "python"
	below  string   // only sources at or below this folder are changed
	ignore []string // tests that are not run
	skip   []string // folders of examples, and files that this system does not run
}

// projects are small libraries whose suites end within ten seconds on an idle
// machine. They were chosen before anything was ranked, for that alone.
var projects = []project{
	{name: "spf13/cobra", commit: "adbc8813901bba65827259daa8e22ff94ec1f30e", lang: "go", skip: []string{"command_win.go"}},
	{name: "gorilla/mux", commit: "db9d1d0073d27a0a2d9a8c1bc52aa0af4374d265", lang: "go"},
	{name: "urfave/cli", commit: "1305a08200f7c4d873e28bd2bbad1ff257c6cfc4", lang: "go", skip: []string{"examples/", "scripts/"}},
	{name: "pallets/click", commit: "2c8cd3ac958a7eb316d67f2d316c27086c4c0369", lang: "python", below: "src/click/",
		// 31,000 rounds under load, which the project leaves out and which take most of the time to be left out.
		ignore: []string{"tests/test_stream_lifecycle.py"}, skip: []string{"src/click/_winconsole.py"}},
	{name: "mahmoud/boltons", commit: "967864f89791509f9eb36b22b4579d36b72a6df2", lang: "python", below: "boltons/"},
}

// source reports whether a file may be changed.
func (p *project) source(name string) bool {
	if !strings.HasPrefix(name, p.below) || strings.Contains(name, "testdata/") {
		return false
	}
	for _, s := range p.skip {
		if name == s || strings.HasSuffix(s, "/") && strings.HasPrefix(name, s) {
			return false
		}
	}
	base := path.Base(name)
	if p.lang == "go" {
		return strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") && base != "test_helpers.go" && base != "doc.go"
	}
	return strings.HasSuffix(base, ".py") && !strings.HasPrefix(base, "test_")
}
