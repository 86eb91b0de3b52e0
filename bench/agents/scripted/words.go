package scripted

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
)

var wordRE = regexp.MustCompile(`[\p{L}_][\p{L}\p{N}_]{2,}`)

// stop holds words that ask rather than tell; nobody greps for them.
var stop = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the and for are was not but how who what when where which why does did has have had
		with from into onto that this these those they them their there then than its it's his her you your our can
		could would should will shall may might must one two some any all each other another such only also just very
		after before while until again already about over under between without within been being itself more most
		para por con una uno los las del que como cuando donde qué cómo`) {
		m[w] = true
	}
	return m
}()

// match is a line that a grep finds.
type match struct {
	window.Span
	text string
}

// grep returns the first lines that hold a word, whatever the case of its
// letters, at most as many as are looked at.
func grep(t *window.Tree, word string) (out []match) {
	word = strings.ToLower(word)
	for _, p := range t.Paths {
		if !strings.Contains(t.Lower[p], word) {
			continue
		}
		for i, l := range t.Lines[p] {
			if !strings.Contains(strings.ToLower(l), word) {
				continue
			}
			if out = append(out, match{window.Span{Path: p, From: i + 1, To: i + 1}, l}); len(out) == grepShown {
				return out
			}
		}
	}
	return out
}

// counted is a word with how many files of the tree hold it.
type counted struct {
	word  string
	files int
}

// rarest returns the words of a question that the tree has, those in the fewest
// files first, in the order of the question where they are in as many.
func rarest(t *window.Tree, question string) []counted {
	var out []counted
	seen := map[string]bool{}
	for _, w := range wordRE.FindAllString(question, -1) {
		k := strings.ToLower(w)
		if stop[k] || seen[k] {
			continue
		}
		seen[k] = true
		c := counted{word: w}
		for _, text := range t.Lower {
			if strings.Contains(text, k) {
				c.files++
			}
		}
		if c.files > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b counted) int { return cmp.Compare(a.files, b.files) })
	return out
}

// declares reports whether a line looks as if it declared a word.
func declares(line, word string) bool {
	l := strings.ToLower(strings.TrimSpace(line))
	if strings.HasPrefix(l, "//") || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "*") {
		return false
	}
	at := strings.Index(l, strings.ToLower(word))
	if at < 0 {
		return false
	}
	for _, f := range strings.Fields(l[:at]) {
		if declaring[f] {
			return true
		}
	}
	return false
}

var declaring = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`func def class interface struct enum trait type fn const var let function module
		record object protocol macro_rules! #define defmodule defp defmacro data newtype static`) {
		m[w] = true
	}
	return m
}()
