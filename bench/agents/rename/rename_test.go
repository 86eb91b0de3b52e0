package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
)

// samples are a project of our own in each language: a word of the project
// (grinder, sack, miller), something of the language's library, a comment, a text.
var samples = map[string]string{
	"go.mod": "module example.com/grindery\n\ngo 1.26\n",
	"grinder/stone.go": `package grinder

import (
	"fmt"
	"strings"

	"example.com/grindery/sacks"
)

// GrindSack grinds what the sack holds until the miller says stop.
func (m *Miller) GrindSack(s sacks.Sack) (string, error) {
	if s.Empty() {
		return "", fmt.Errorf("the sack %q is empty\n", s.Label)
	}
	return strings.ToUpper(m.grindOnce(s)), nil
}

func (m *Miller) grindOnce(s sacks.Sack) string { return s.Label }
`,
	"sacks/sack.go": "package sacks\n\n// Sack is a sack of grain.\ntype Sack struct{ Label string }\n\nfunc (s Sack) Empty() bool { return s.Label == \"\" }\n",
	"miller.py": `import os
from collections import OrderedDict
from grinders import Grinder


class Miller(Grinder):
    """Grinds a sack of grain."""

    def grind_sack(self, sack, *, coarse=False):
        self.sack_label = f"sack {sack.label} of {len(sack)}\n"
        return os.path.join(self.sack_label, OrderedDict(coarse=coarse))
`,
	"grinders.py": "class Grinder:\n    pass\n",
	"miller.ts": `import { readFile } from 'fs'
import { Sack } from './sacks/sack'

/** Grinds a sack of grain. */
export class Miller {
  private sackLabel: string = ` + "`sack ${1} of grain`" + `
  async grindSack(sack: Sack): Promise<string> {
    console.log(JSON.stringify({ sack }), readFile)
    return this.sackLabel
  }
}
`,
	"sacks/sack.ts": "export interface Sack { grainWeight: number }\n",
	"miller.js":     "const fs = require('fs')\nconst { Sack } = require('./sacks/sack')\nconst grainPath = 1\nfunction grindSack(sack) { return fs.readFileSync(sack.grainPath) + Math.max(1, 2) }\nmodule.exports = { grindSack, Sack }\n",
	"miller.rs": `use std::collections::HashMap;

/// Grinds a sack of grain.
pub struct Miller<'a> { sacks: HashMap<String, u32>, label: &'a str }

impl<'a> Miller<'a> {
    pub fn grind_sack(&mut self, sack: &str) -> Option<u32> {
        println!("grinding {} of {}", sack, self.label);
        self.sacks.get(sack).copied()
    }
}
`,
	"com/grindery/Miller.java": `package com.grindery;

import com.grindery.sacks.Sack;
import java.util.List;
import java.util.Objects;

/** Grinds a sack of grain. */
public class Miller {
  private final String sackLabel = "sack of grain\n";

  @Override
  public String toString() { return sackLabel; }

  public int grindSack(List<Sack> sacks) { return Objects.requireNonNull(sacks).size(); }
}
`,
	"miller.rb": `require 'json'
require_relative 'grinder/stone'

# Grinds a sack of grain.
class Miller < Grinder
  attr_reader :sack_label

  def initialize(sack_label, coarse: false)
    @sack_label = "sack #{sack_label} of grain"
    raise ArgumentError, 'no sack' if sack_label.nil?
    puts JSON.generate(coarse: coarse)
  end
end
`,
	"miller.c": `#include <stdio.h>
#include "sacks/sack.h"
#define MOST_SACKS 3

/* Grinds a sack of grain. */
static size_t grind_sack(struct sack *sack, int coarse) {
	sack->weight = coarse;
	printf("sack %d of grain\n", coarse);
	return MOST_SACKS;
}
`,
	"sacks/sack.h": "struct sack { int weight; };\n",
	"README.md":    "# The grindery\n",
}

// rewritten runs the program over the samples.
func rewritten(t *testing.T, grammars *grammar.Set, seed uint64) (to string, m mapping) {
	t.Helper()
	from := t.TempDir()
	for name, text := range samples {
		if err := write(filepath.Join(from, filepath.FromSlash(name)), text); err != nil {
			t.Fatal(err)
		}
	}
	to = filepath.Join(t.TempDir(), "to")
	set := filepath.Join(t.TempDir(), "set.json")
	if err := os.WriteFile(set, []byte(`{"name":"grindery","repository":"a/b","commit":"0123456789012345678901234567890123456789","tasks":[
		{"id":"where-01","kind":"where","question":"Where does the miller grind a sack for a baker?","rubric":"The miller grinds it.","least":1,
		"gold":[{"path":"grinder/stone.go","from":10,"to":16,"name":"Miller.GrindSack"}]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &project{grammars: grammars, seed: seed}
	if err := p.run(from, to, set, to+".json"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(to + ".map.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return to, m
}

func text(t *testing.T, to string, m mapping, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(m.Files[name])))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRename holds what a renaming promises: no word of the project is left, what
// is from elsewhere stays, lines and declarations are the same (which run itself
// checks), and one seed gives one text.
func TestRename(t *testing.T) {
	grammars := &grammar.Set{Wanted: wanted}
	defer grammars.Close()
	to, m := rewritten(t, grammars, 7)
	ours := regexp.MustCompile(`(?i)grind|sack|miller|grain|coarse`) // which are in names
	for name := range samples {
		if strings.HasSuffix(name, ".md") || name == "go.mod" {
			continue
		}
		if got := text(t, to, m, name); ours.MatchString(got) || ours.MatchString(m.Files[name]) {
			t.Errorf("%s still has words of the project:\n%s", m.Files[name], got)
		}
	}
	for name, stays := range map[string][]string{
		"grinder/stone.go":         {"\"fmt\"", "fmt.Errorf(", "strings.ToUpper(", "%q is empty\\n\"", "return \"\", "},
		"miller.py":                {"import os\n", "from collections import OrderedDict", "os.path.join(", "def ", "(self, ", "len(", "\\n\""},
		"miller.ts":                {"import { readFile } from 'fs'", "console.log(JSON.stringify(", "Promise<string>", "from './", "${1}"},
		"miller.js":                {"require('fs')", "fs.readFileSync(", "Math.max(1, 2)", "module.exports", "require('./"},
		"miller.rs":                {"use std::collections::HashMap;", "println!(\"", "HashMap<String, u32>", "Option<u32>", ".get(", ".copied()", "impl<'a>"},
		"com/grindery/Miller.java": {"package com.", "import java.util.List;", "@Override", "toString()", "Objects.requireNonNull(", ".size()", "private final String "},
		"miller.rb":                {"require 'json'", "require_relative '", "attr_reader :", "def initialize(", "raise ArgumentError, 'no ", "JSON.generate(", ".nil?"},
		"miller.c":                 {"#include <stdio.h>", "#include \"", "static size_t ", "printf(\"", "%d", "\\n\""},
	} {
		got := text(t, to, m, name)
		for _, s := range stays {
			if !strings.Contains(got, s) {
				t.Errorf("%s has no %q:\n%s", name, s, got)
			}
		}
	}
	// A name is the same wherever it stands, and a file follows what imports it.
	grind, sack := m.Words["grind"], m.Words["sack"]
	if grind == "" || sack == "" || !strings.Contains(text(t, to, m, "miller.py"), grind+"_"+sack) ||
		!strings.Contains(text(t, to, m, "grinder/stone.go"), title(grind)+title(sack)) || m.Words["sacks"] != sack+"s" {
		t.Errorf("%v", m.Words)
	}
	if want := "'./" + strings.TrimSuffix(m.Files["sacks/sack.ts"], ".ts") + "'"; !strings.Contains(text(t, to, m, "miller.ts"), want) {
		t.Errorf("nothing imports %s", want)
	}
	again, _ := rewritten(t, grammars, 7)
	if d := cmp.Diff(all(t, to), all(t, again)); d != "" {
		t.Errorf("one seed, two texts: %s", d)
	}
	other, _ := rewritten(t, grammars, 8)
	if cmp.Equal(all(t, to), all(t, other)) {
		t.Error("two seeds, one text")
	}
	s, err := task.Load(to + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckTree(to, nil); err != nil {
		t.Error(err)
	}
	q := s.Tasks[0]
	if ours.MatchString(q.Question) || ours.MatchString(q.Rubric) || !strings.HasSuffix(q.Question, " for a baker?") ||
		q.Plain != "The miller grinds it." || s.Seed != 7 {
		t.Errorf("%+v", s)
	}
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func all(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestProseKeepsEscapes(t *testing.T) {
	p := &project{words: newWords(map[string]int{"fade": 1, "sack": 2, "dead": 1}, 1)}
	for _, s := range []string{`\ufade`, `\xde`, `\U0000dead`, `%-8s`, `a\nb`, `%[1]d`} {
		if got := p.prose(s); got != s {
			t.Errorf("%s became %s", s, got)
		}
	}
	if got := p.prose(`sack\nsacks`); strings.Contains(got, "sack\\") || !strings.Contains(got, `\n`) {
		t.Error(got)
	}
}

func TestParts(t *testing.T) {
	var got []string
	for _, p := range parts("HTTPServer_v2parseURLs__x") {
		got = append(got, "HTTPServer_v2parseURLs__x"[p[0]:p[1]])
	}
	if d := cmp.Diff([]string{"HTTP", "Server", "v", "parse", "UR", "Ls", "x"}, got); d != "" {
		t.Error(d)
	}
}

// TestWordsAreApart: two words never become one.
func TestWordsAreApart(t *testing.T) {
	var vocabulary []string
	for _, base := range []string{"stone", "wheel", "mill", "brake", "lever", "acorn", "grind", "grinding", "ground"} {
		for _, e := range []string{"", "s", "ed", "er", "ing"} {
			vocabulary = append(vocabulary, base+e)
		}
	}
	count := map[string]int{}
	for i, v := range vocabulary {
		count[v] += i + 1
	}
	w := newWords(count, 3)
	seen := map[string]string{}
	for from, to := range w.to {
		if seen[to] != "" || slices.Contains(vocabulary, to) {
			t.Errorf("%s and %q become %s", from, seen[to], to)
		}
		seen[to] = from
	}
}

// TestOwnGo: in the source of Go itself the library is the project.
func TestOwnGo(t *testing.T) {
	for _, tc := range []struct {
		module, at string
		own        bool
	}{
		{"std", "net/http", true}, {"std", "golang.org/x/net", false}, {"a.example/b", "net/http", false},
		{"a.example/b", "a.example/b/c", true}, {"a.example/b", "a.example/bc", false},
	} {
		if got := (&project{goModules: []string{tc.module}}).ownGo(tc.at); got != tc.own {
			t.Errorf("%s in %s: %v", tc.at, tc.module, got)
		}
	}
}
