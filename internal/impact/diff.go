package impact

import (
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// patch is what a unified diff says of one file.
type patch struct {
	old, now string // paths; "" where the file is not there
	hunks    []hunk
}

// hunk is one part of it. Lines keep their first character: " ", "-" or "+".
type hunk struct {
	old, now int // first lines, from 1
	lines    []string
}

var hunkRE = lazyregexp.New(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@`)

// isDiff reports whether a text is a unified diff.
func isDiff(text string) bool {
	return strings.Contains(text, "\n") && (strings.HasPrefix(text, "@@ ") || strings.Contains(text, "\n@@ -"))
}

// parseDiff reads a unified diff, as git and diff -u write it. What is none of
// it is passed over.
func parseDiff(text string) []patch {
	var out []patch
	var old string
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if name, ok := strings.CutPrefix(l, "--- "); ok && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ") {
			old = fileOf(name)
			out = append(out, patch{old: old, now: fileOf(lines[i+1][4:])})
			i++
			continue
		}
		m := hunkRE.FindStringSubmatch(l)
		if m == nil || len(out) == 0 {
			continue
		}
		left, right := count(m[2]), count(m[4])
		h := hunk{}
		h.old, _ = strconv.Atoi(m[1])
		h.now, _ = strconv.Atoi(m[3])
		for i+1 < len(lines) && (left > 0 || right > 0) {
			l := lines[i+1]
			switch {
			case strings.HasPrefix(l, "-"):
				left--
			case strings.HasPrefix(l, "+"):
				right--
			case strings.HasPrefix(l, " "), l == "":
				left--
				right--
				if l == "" {
					l = " "
				}
			case strings.HasPrefix(l, `\`):
				i++
				continue
			default:
				left, right = 0, 0
				continue
			}
			h.lines = append(h.lines, l)
			i++
		}
		p := &out[len(out)-1]
		p.hunks = append(p.hunks, h)
	}
	return out
}

func count(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}

// fileOf is the path in a head of a diff: without the prefix and the time.
func fileOf(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if q, err := strconv.Unquote(s); err == nil {
		s = q
	}
	if s == "/dev/null" {
		return ""
	}
	for _, prefix := range []string{"a/", "b/", "i/", "w/", "c/", "o/"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			return rest
		}
	}
	return s
}

// side returns the lines of one side of a hunk, and the first of them; mark is
// what the other side's lines begin with.
func (h hunk) side(mark byte) (first int, out []string) {
	first = h.now
	if mark == '+' {
		first = h.old
	}
	for _, l := range h.lines {
		if l[0] != mark {
			out = append(out, l[1:])
		}
	}
	return first, out
}

// fits returns how many lines of one side stand in a file where the diff says.
func (p patch) fits(body []string, mark byte) (n, of int) {
	for _, h := range p.hunks {
		first, lines := h.side(mark)
		for i, l := range lines {
			of++
			if at := first - 1 + i; at >= 0 && at < len(body) && strings.TrimRight(body[at], "\r") == l {
				n++
			}
		}
	}
	return n, of
}

// change makes of a patch what it changes in the file as it is: applied says that
// the file has the newer side.
func (p patch) change(path string, applied bool) change {
	c := change{path: path}
	for _, h := range p.hunks {
		old, now := h.old, h.now
		for _, l := range h.lines {
			switch l[0] {
			case '-':
				at := old
				if applied {
					at = max(1, now-1)
				}
				c.lines = append(c.lines, line{at: at, old: old, text: l[1:]})
				old++
			case '+':
				at := now
				if !applied {
					at = max(1, old-1)
				}
				c.lines = append(c.lines, line{at: at, text: l[1:]})
				now++
			default:
				old++
				now++
			}
		}
	}
	return c
}
