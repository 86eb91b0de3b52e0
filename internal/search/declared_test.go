package search

import (
	"fmt"
	"regexp"
	"testing"
)

func TestDeclarationForms(t *testing.T) {
	for line, want := range map[string]int{
		"    private static final int limit = 8;":   0,
		"    pub limit: u32,":                       0,
		"\tlimit int":                               -1,
		"    private int $limit = 0;":               0,
		"    long long *limit;":                     0,
		"    limit: int":                            1,
		"  \"limit\": 8,":                           1,
		"    limit?: number;":                       1,
		"        self.limit = 8":                    2,
		"  attr_reader :limit":                      1,
		"  mattr_accessor :least, :limit":           1,
		"  attr_writer :limit":                      2,
		"    limit,":                                2,
		"  @limit = limit":                          2,
		"    return limit;":                         -1,
		"    if limit == 8:":                        -1,
		"    // limit: the most":                    -1,
		"    x = limit + 1":                         -1,
		"    use(limit)":                            -1,
		"    match x { limit => 1 }":                -1,
		"        self.limit == 8 or self.other = 1": -1,
	} {
		got := -1
		for i, f := range declarationForms {
			if got < 0 && !statement.MatchString(line) && regexp.MustCompile(fmt.Sprintf(f, "limit")).MatchString(line) {
				got = i
			}
		}
		if got != want {
			t.Errorf("%q is of form %d, not %d", line, got, want)
		}
	}
}
