package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestMineDocumentation(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"site/docs/limits.md": "# Limits\n\nEvery request is measured against limits that an operator sets beforehand. They hold for one client at a time. " +
			"A client that asks too often is refused with status 429.\n\n" +
			"- one limit counts calls\n- one limit counts bytes\n- one limit counts open files\n- one limit counts hours\n- one limit counts users\n- one limit counts errors\n\n" +
			"## Waiting time {#waiting}\n\nA request without an answer is given up after ten seconds of silence.\n\n```sh\n# not a heading. Not a sentence of prose either, this one.\nserve --wait 10s\n```\n",
		"site/docs/start.md": "# First steps\n\nStart the server and send it something to do.\n\n" +
			"If the answer takes for ever, see [how long the server waits](limits.md#waiting) before you change anything.\n\n" +
			"Read [here](https://example.com/) or [this page](/docs/limits) or [nothing](gone.md) or [no place](limits.md#gone) for more words.\n",
		"site/src/main.go": "package main\n\n// Open opens the file at path and reads every line of it.\nfunc Open(path string) error {\n\tf, err := os.Open(path)\n\treturn read(f, err)\n}\n",
	})
	ms, err := mine(context.Background(), dir, true, 1, quiet)
	if err != nil {
		t.Fatal(err)
	}
	links := pairsOf(ms, kindLink)
	for _, want := range []string{
		"how long the server waits = limits waiting time a request",
		"if the answer takes for ever see how long the server waits before you change anything = limits waiting time",
		"this page = limits every request",
	} {
		if !slices.ContainsFunc(links, func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("no link %q in\n%s", want, strings.Join(links, "\n"))
		}
	}
	if all := strings.Join(links, "\n"); strings.Contains(all, "no place =") || strings.Contains(all, "nothing =") {
		t.Errorf("links to nowhere: %s", all)
	}
	sentences := strings.Join(pairsOf(ms, kindSentence), "\n")
	if !strings.Contains(sentences, "they hold for one client at a time = limits every request") && !strings.Contains(sentences, "every request is measured against limits that an operator sets beforehand = limits") {
		t.Errorf("sentences: %s", sentences)
	}
	for _, s := range pairsOf(ms, kindSentence) {
		q, d, _ := strings.Cut(s, " = ")
		if strings.Contains(d, q) {
			t.Errorf("a sentence is paired with itself: %s", s)
		}
	}
	if code := pairsOf(ms, kindDoc); len(code) > 0 {
		t.Errorf("code was read: %v", code)
	}
}

func TestSlug(t *testing.T) {
	for heading, want := range map[string]string{"Waiting time": "waiting-time", "`a_b()` & more": "a_b--more", "¿Qué es?": "qué-es"} {
		if got := slug(heading); got != want {
			t.Errorf("%q: %q, want %q", heading, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	got := sentences("The first one has quite a few words. Short one.\n\n- An item of a list is a sentence as well\n\n```\nThis is code and no sentence at all.\n```\n\n| a table | is not | a sentence | at all |\n")
	if d := gocmp.Diff([]string{"The first one has quite a few words.", "An item of a list is a sentence as well"}, got); d != "" {
		t.Error(d)
	}
}

// words returns the pairs of a kind as words, in byte order within a side.
func (c *corpus) pairsOf(kind uint8) (out []string) {
	text := func(side []occurrence) string {
		var ws []string
		for _, o := range side {
			ws = append(ws, c.words[o.word])
		}
		slices.Sort(ws)
		return strings.Join(ws, " ")
	}
	for _, p := range c.pairs {
		if p.kind == kind {
			out = append(out, text(p.q)+" = "+text(p.d))
		}
	}
	return out
}

func TestSynonyms(t *testing.T) {
	m := mined{name: "r"}
	for range 40 {
		m.pairs = append(m.pairs, pair{kind: kindDoc, q: strings.Fields("deletes files"), d: strings.Fields("func unlink path")},
			pair{kind: kindDoc, q: strings.Fields("removes documents"), d: strings.Fields("func drop name")})
	}
	c := gather([]mined{m})
	addSynonyms(c, 1, 1)
	others := c.pairsOf(kindSynonym)
	if !slices.ContainsFunc(others, func(s string) bool { return strings.Contains(s, "removes") && strings.Contains(s, "unlink") }) {
		t.Errorf("nobody removes files: %v", others)
	}
	for _, s := range others {
		if s == "deletes files = func path unlink" {
			t.Errorf("nothing was replaced: %s", s)
		}
	}
	if list := c.pairsOf(kindThesaurus); !slices.Contains(list, "removes = deletes") {
		t.Errorf("the thesaurus: %v", list)
	}
	n := len(c.pairs)
	if addSynonyms(c, 0, 1); len(c.pairs) != n {
		t.Error("a share of nothing adds something")
	}
}

func TestConcepts(t *testing.T) {
	c := gather([]mined{{name: "r", pairs: []pair{
		{kind: kindHeading, q: strings.Fields("rate limiting"), d: strings.Fields("throttle requests above a burst")},
		{kind: kindHeading, q: strings.Fields("logging"), d: strings.Fields("write lines about requests")},
		{kind: kindHeading, q: strings.Fields("storage"), d: strings.Fields("keep files on disk")},
	}}})
	addConcepts(c, "rate limiting throttle burst | too many calls at once | llaman demasiado a menudo\nnothing of the kind\nlogging | nobody knows what happened\n", 1)
	got := c.pairsOf(kindConcept)
	for _, want := range []string{"at calls many once too = burst limiting rate throttle", "a demasiado llaman menudo = burst limiting rate throttle", "happened knows nobody what = logging"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	for _, s := range got {
		if strings.Contains(s, "disk") || strings.HasPrefix(s, "at calls") && strings.Contains(s, "lines") {
			t.Errorf("a section about something else: %s", s)
		}
	}
	lines := 0
	for line := range strings.Lines(conceptsText) {
		if lines++; strings.Count(line, " | ") < 2 {
			t.Errorf("line %d has no two descriptions: %q", lines, line)
		}
	}
	if lines < 4000 {
		t.Errorf("%d concepts", lines)
	}
}
