package rank

import "testing"

func TestVersion(t *testing.T) {
	for p, want := range map[string]int{"a/v3/b.ts": 3, "v12/x.go": 12, "a/v3.ts": 0, "a/view/b": 0, "a/v/b": 0, "a/v0/b": 0, "x.go": 0} {
		if _, got := version(p); got != want {
			t.Errorf("%s: %d, want %d", p, got, want)
		}
	}
	if before, _ := version("a/b/v2/c/d.go"); before != "a/b/" {
		t.Errorf("before is %q", before)
	}
}

func TestNewestOfVersionsIsMeant(t *testing.T) {
	for query, want := range map[string]string{"parse headers": "a/v2/x.go a/v1/x.go", "parse headers v1": "a/v1/x.go a/v2/x.go"} {
		c := newCorpus(query)
		c.add("a/v1/x.go", 9, "pars header", "", 0)
		c.add("a/v2/x.go", 8.5, "pars header", "", 0)
		if got := c.order(Options{}); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	c := newCorpus("parse headers")
	c.add("a/v1/x.go", 9, "pars header", "", 0)
	c.add("b/v2/x.go", 8.5, "pars header", "", 0) // of something else
	if got := c.order(Options{}); got != "a/v1/x.go b/v2/x.go" {
		t.Error(got)
	}
}
