package main

import (
	"cmp"
	_ "embed" // the words of the card are a part of the program
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

//go:embed card.md
var cardText string

// writeCard returns the model card: the words of card.md with the figures of
// this run in place of their names.
func writeCard(t *trainer, e kb.Embedder, size int, fs []figures, repos, docs, shares string, other, spanish float64) string {
	var per [kinds]int
	for _, p := range t.c.pairs {
		per[p.kind]++
	}
	var counts, table, sources, languages strings.Builder
	for k, n := range per {
		fmt.Fprintf(&counts, "| %s | %d |\n", kindNames[k], n)
	}
	for i, f := range fs {
		fmt.Fprintf(&table, "| %s | %.3f | %.3f | %.3f | %.3f | %.3f |\n", rankings[i].name, f.mean, f.macro,
			f.category["architecture"], f.category["semantic"], f.category["symbol"])
	}
	if len(fs) > 0 {
		last := fs[len(fs)-1].language
		for _, l := range slices.Sorted(maps.Keys(last)) {
			fmt.Fprintf(&languages, "%s %.2f, ", l, last[l])
		}
	}
	for _, s := range t.c.sources {
		licence := licenceOf(filepath.Join(repos, s.name))
		if licence == "" {
			licence = cmp.Or(licenceOf(filepath.Join(docs, s.name)), "see there")
		}
		fmt.Fprintf(&sources, "| %s | %.12s | %s | %d |\n", strings.Replace(s.name, "+", "/", 1), s.commit, licence, s.total())
	}
	o := t.o
	return strings.NewReplacer(
		"{{id}}", e.ID(), "{{dims}}", fmt.Sprint(o.Dims), "{{words}}", fmt.Sprint(len(t.words)), "{{buckets}}", fmt.Sprint(o.Buckets),
		"{{bytes}}", fmt.Sprintf("%.1f MB", float64(size)/1e6), "{{pairs}}", fmt.Sprint(len(t.c.pairs)), "{{repos}}", fmt.Sprint(len(t.c.sources)),
		"{{epochs}}", fmt.Sprint(o.Epochs), "{{batch}}", fmt.Sprint(o.Batch), "{{rate}}", fmt.Sprint(o.Rate), "{{temperature}}", fmt.Sprint(o.Temperature),
		"{{near}}", fmt.Sprint(o.Near), "{{seed}}", fmt.Sprint(o.Seed), "{{spanish}}", fmt.Sprint(spanish), "{{other}}", fmt.Sprint(other),
		"{{shares}}", shares, "{{kinds}}\n", counts.String(), "{{figures}}\n", table.String(), "{{sources}}\n", sources.String(),
		"{{languages}}", strings.TrimSuffix(languages.String(), ", "),
	).Replace(cardText)
}

// licences tells licences by what their texts say, first match first.
var licences = []struct{ says, name string }{
	{"Apache License", "Apache-2.0"},
	{"Mozilla Public License", "MPL-2.0"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Permission to use, copy, modify, and/or distribute", "ISC"},
	{"Redistribution and use in source and binary forms", "BSD"},
	{"MIT License", "MIT"},
	{"Attribution 4.0 International", "CC-BY-4.0"},
	{"creativecommons.org/licenses/by/4.0", "CC-BY-4.0"},
	{"Unlicense", "Unlicense"},
}

// licenceOf returns the licence of a checked-out repository, or "".
func licenceOf(dir string) string {
	for _, pattern := range []string{"LICEN[CS]E*", "licen[cs]e*", "Licen[cs]e*", "COPYING*", "*/LICENSE*", "MIT-LICENSE*"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				continue
			}
			text := strings.Join(strings.Fields(string(raw)), " ")
			for _, l := range licences {
				if strings.Contains(text, l.says) {
					return l.name
				}
			}
		}
	}
	return ""
}
