package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What the judges read outputs with.

// section returns the lines from the one that starts with head, without it, to
// the next that starts as a head does.
func (s *seen) section(head, anyHead string) string {
	_, rest, ok := strings.Cut("\n"+s.out, "\n"+head)
	if !ok {
		return ""
	}
	if _, body, ok := strings.Cut(rest, "\n"); ok {
		rest = body
	}
	rest, _, _ = strings.Cut("\n"+rest, "\n"+anyHead)
	return strings.TrimPrefix(rest, "\n")
}

// lineOf returns the first line with that start, without it.
func (s *seen) lineOf(start string) (string, bool) {
	for line := range strings.Lines(s.out) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), start); ok {
			return rest, true
		}
	}
	return "", false
}

// linesWith returns the lines that hold a text.
func (s *seen) linesWith(text string) (out []string) {
	for line := range strings.Lines(s.out) {
		if strings.Contains(line, text) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// count returns the number that the pattern's first group finds, or -1.
func count(text, pattern string) int {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return -1
	}
	return n
}

// counts returns every number that the pattern's first group finds.
func counts(text, pattern string) (out []int) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// most is the greatest of some numbers, -1 of none.
func most(list []int) int { return slices.Max(append(list, -1)) }

// crashed is what a Go program that fell over prints.
var crashed = regexp.MustCompile(`(?m)^(panic:|fatal error:|runtime: |goroutine \d+ )`)

// short is the start of a text on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if r := []rune(text); len(r) > 140 {
		text = string(r[:140]) + "…"
	}
	return text
}
