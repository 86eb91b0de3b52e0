package app

import (
	"strings"
	"testing"
	"time"
)

// A snippet is prose that tells why the section was found: a line of front
// matter, which often holds the best word, tells a reader nothing.
func TestSnippetsAreNotFrontMatter(t *testing.T) {
	s := newSite(t)
	s.write("p/specs/ENT-LOAN.md", "---\nid: ENT-LOAN\nkind: entity\ndomain: lending\n---\n\n# Loan\n\n## Description\n\nWhat a member owes.\n")
	s.write("p/specs/BR-LIMIT.md", "# Limit of loans\n\n---\nid: BR-LIMIT\nkind: business-rule\n---\n\nSeven at most, per member.\n")
	s.write("p/specs/BR-FEE.md", "---\nid: BR-FEE\nkind: business-rule\n---\n\nid: of a fee is its date.\n\n# Fee\n\nA day costs ten cents.\n")
	a := s.in("p", true)
	s.search(a, SearchRequest{Query: "loan", Wait: time.Minute})
	for query, want := range map[string]string{
		"ENT-LOAN": "What a member owes.", "lending": "What a member owes.", "BR-LIMIT": "Seven at most, per member.",
		"BR-FEE": "id: of a fee is its date.", // below the front matter: prose
	} {
		r := s.specSearch(a, SpecSearch{Query: query})
		if len(r.Results) == 0 || !strings.HasPrefix(r.Results[0].Snippet, want) {
			t.Errorf("%s: %+v", query, r.Results)
		}
	}
}
