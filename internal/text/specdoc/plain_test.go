package specdoc

import "testing"

// TestPlain: headings as a reader sees them; an underscore is a mark only where another closes it.
func TestPlain(t *testing.T) {
	for s, want := range map[string]string{
		"foo_ bar_": "foo_ bar_", "_under_ score_d": "under score_d", "__init__": "init", "`__init__`": "__init__", "snake_case_name": "snake_case_name",
		"the _only_, and more": "the only, and more", "a _ b": "a _ b", "_private": "_private", "trailing_": "trailing_", "__both__ _x_": "both x", "(_in_)": "(in)",
		"FOO_ and BAR_": "FOO_ and BAR_", "`a_b` and *emph* and **strong**": "a_b and emph and strong", "[link](u) [[W|shown]] <b>x</b>": "link shown x",
	} {
		if got := Plain(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
