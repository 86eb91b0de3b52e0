package rank

import (
	"strconv"
	"strings"
)

// version returns the folder of a path that is named for a version, as v3 in
// a/v3/b.ts: what stands before it, and the number; 0 without one.
func version(p string) (before string, n int) {
	for at := 0; ; {
		i := strings.IndexByte(p[at:], '/')
		if i < 0 {
			return "", 0
		}
		if d := p[at : at+i]; len(d) > 1 && len(d) < 5 && d[0] == 'v' {
			if n, err := strconv.Atoi(d[1:]); err == nil && n > 0 {
				return p[:at], n
			}
		}
		at += i + 1
	}
}

// superseded is 1 for what lies in the folder of a version beside that of a
// newer one: who does not say which means the newest.
func (r *ranking) superseded(e *Evidence, _ *document) float64 {
	before, n := version(e.Path)
	return flag(n > 0 && n < r.newest[docKey{e.Store, before}] && !r.says("v"+strconv.Itoa(n)))
}

func (r *ranking) says(word string) bool {
	for i := range r.q.Words {
		if strings.EqualFold(r.q.Words[i].Text, word) {
			return true
		}
	}
	return false
}
