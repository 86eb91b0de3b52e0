package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// pasted is the text of an item that somebody copied: lines of a function, a
// diff out of the history, or what the item says.
func (b *bench) pasted(src *source, it *item) (string, error) {
	switch it.Kind {
	case "code":
		return src.piece(it, b.trees.table[it.Repo].Language), nil
	case "diff":
		repo, err := b.trees.git(it.Repo)
		if err != nil {
			return "", err
		}
		out, err := exec.Command("git", "-C", repo, "show", "--format=", "-U3", "--no-color", "--no-renames", it.Commit, "--", it.Gold[0].Path).Output()
		if err != nil {
			return "", err
		}
		return firstHunk(string(out), it.Form == "whole")
	}
	return it.Ask, nil
}

// firstHunk returns the first hunk of a diff, with the lines before it or without.
func firstHunk(diff string, whole bool) (string, error) {
	parts := strings.SplitN("\n"+diff, "\n@@ ", 3)
	if len(parts) < 2 {
		return "", fmt.Errorf("no hunk in the diff")
	}
	hunk := "@@ " + parts[1]
	if whole {
		hunk = strings.TrimPrefix(parts[0], "\n") + "\n" + hunk
	}
	return hunk, nil
}

// piece is what somebody pastes of a function: its lines with other white
// space, with other names for what is local, on one line, or in a question.
func (s *source) piece(it *item, lang string) string {
	g := it.Gold[0]
	var lines []string
	for n := g.From; n <= g.To; n++ {
		lines = append(lines, s.line(g.Path, n))
	}
	rng := rand.New(rand.NewPCG(uint64(it.Seed), 22))
	switch it.Form {
	case "renamed":
		return renamed(strings.Join(lines, "\n"), rng)
	case "joined":
		return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
	case "asked":
		ask := []string{"what does this do?", "where does this come from", "why is this here:", "I get a wrong result from this"}
		return ask[rng.IntN(len(ask))] + "\n```" + lang + "\n" + strings.Join(lines, "\n") + "\n```"
	}
	for i, l := range lines {
		body := strings.TrimLeft(l, " \t")
		depth := (len(l) - len(body) + 3) / 4
		if strings.HasPrefix(l, "\t") {
			depth = len(l) - len(body)
		}
		lines[i] = strings.Repeat("   ", depth) + spaced.ReplaceAllString(body, "$1 $2")
	}
	return strings.Join(lines, "\n")
}

var (
	spaced   = regexp.MustCompile(`([,;(])(\S)`)
	local    = regexp.MustCompile(`\b[a-z][a-z_]*[a-z]\b`)
	keywords = strings.Fields(`if else for while return def let var val const func fn pub new not and or in is end do then case when match
		with this self true false nil null none some try catch except raise throw import from class struct enum type static void int char
		long double float bool string size_t unsigned local function where switch break continue yield await async mut ref`)
	others = strings.Fields("item acc thing tmp entry current elem holder")
)

// renamed gives two names that are written more than once in lower case, the
// first ones, other names.
func renamed(text string, rng *rand.Rand) string {
	times := map[string]int{}
	var names []string
	for _, w := range local.FindAllString(text, -1) {
		if times[w]++; times[w] == 2 && !slices.Contains(keywords, w) {
			names = append(names, w)
		}
	}
	at := rng.IntN(len(others))
	for i, n := range names[:min(2, len(names))] {
		text = regexp.MustCompile(`\b`+n+`\b`).ReplaceAllString(text, others[(at+i)%len(others)])
	}
	return text
}
