package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writeSheet writes what somebody grades answers from who has seen neither the
// code nor other grades: to FILE.md each question that was answered with what a
// right answer says, the answer and the lines that it cites, and to FILE.jsonl a
// line for each with the grade left out, which -grades reads once it is there.
func writeSheet(file string, list []reply) error {
	var page, lines strings.Builder
	page.WriteString(sheetHead)
	for _, r := range list {
		if r.Refused {
			continue
		}
		fmt.Fprintf(&page, "\n## %s\n\n", r.ID)
		for _, q := range r.Before {
			fmt.Fprintf(&page, "Asked before: %s\n\n", q)
		}
		fmt.Fprintf(&page, "Question: **%s**\n\n", r.Question)
		if len(r.Must) == 0 {
			page.WriteString("The documentation has no answer to this.\n")
		}
		for _, m := range r.Must {
			fmt.Fprintf(&page, "- must say: %s\n", m)
		}
		if r.Note != "" {
			fmt.Fprintf(&page, "- note: %s\n", r.Note)
		}
		fmt.Fprintf(&page, "\nAnswer:\n\n%s\n\nCited lines:\n", quoted(r.Answer))
		for i, c := range r.Cited {
			fmt.Fprintf(&page, "\n[%d] %s\n\n%s\n", i+1, c.At, quoted(c.Text))
		}
		raw, err := json.Marshal(grade{ID: r.ID, Answer: r.Hash})
		if err != nil {
			return err
		}
		lines.Write(append(raw, '\n'))
	}
	file = strings.TrimSuffix(file, filepath.Ext(file))
	if err := os.WriteFile(file+".md", []byte(page.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(file+".jsonl", []byte(lines.String()), 0o644)
}

const sheetHead = `# Answers to grade

For each answer write into its line of the .jsonl file beside this one: "grade", which is right (it says every fact of "must
say", in whatever words and in either language, and nothing false), partial (nothing false, but a fact is missing) or
wrong (something false, or about something else; whatever is told where the documentation has no answer); "lines",
whether somebody who sees nothing but the cited lines can tell every fact; and "why" where it is not right. Answers that
say that they found nothing are left out: they grade themselves.
`

// quoted is a text as a quotation of Markdown.
func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }
