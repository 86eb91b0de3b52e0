// Package message reads what commits say: subject and body, the issues that they
// name, and whether they speak to an assistant.
package message

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// Note returns what a reader has to know before a message; "" for nothing.
func Note(text string) string {
	if visible.ToAssistant(text) {
		return visible.Orders
	}
	return ""
}

// Split parts a commit's message, with secrets masked and without what signs it.
func Split(text string) (subject, body string) {
	text, _ = secret.Mask("", strings.ToValidUTF8(text, "\uFFFD"))
	subject, body, _ = strings.Cut(strings.TrimSpace(text), "\n")
	var kept []string
	for l := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
		if !trailerRE.MatchString(l) {
			kept = append(kept, strings.TrimRight(l, " \t\r"))
		}
	}
	return kb.Clip(strings.TrimSpace(subject), 200), strings.TrimSpace(strings.Join(kept, "\n"))
}

var (
	trailerRE = lazyregexp.New(`^(?i:signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|change-id|reviewed-on|cc|git-svn-id):? `)
	// issueRE is how messages name issues: #12, GH-12, owner/name#12, PROJ-12,
	// bpo-12, and addresses of issues, pull requests and bugs.
	issueRE = lazyregexp.New(`https?://[^\s<>()]+/(?:issues|pull|pulls|merge_requests|browse|ticket)/[A-Za-z0-9-]+|https?://[^\s<>()]*show_bug\.cgi\?id=[0-9]+|(?:[A-Za-z0-9][\w.-]*/[\w.-]+)?#[0-9]{1,7}\b|\b(?:GH|bpo)-[0-9]{1,7}\b|\b[A-Z][A-Z0-9]{1,9}-[0-9]{1,6}\b`)
	// noIssueRE is what looks like the number of an issue and is none.
	noIssueRE = lazyregexp.New(`^(?:UTF|ISO|SHA|RFC|CVE|CWE|PEP|RSA|AES|MD|IEEE|ASCII|UCS|HTTP|TLS|SSL|X)-`)
)

// Issues returns the issues that a message names.
func Issues(text string) (out []string) {
	text, _ = secret.Mask("", text)
	for _, m := range issueRE.FindAllString(text, 20) {
		if !noIssueRE.MatchString(m) && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
