package install

import (
	"bytes"
	"strings"
)

// Lines returns the lines that a step changes: those that go after "- ", those
// that come after "+ ". The rest of the file, which may hold secrets, is not shown.
func (s *Step) Lines() string {
	if !s.Changes() {
		return ""
	}
	a, b := bytes.SplitAfter(s.before, []byte("\n")), bytes.SplitAfter(s.after, []byte("\n"))
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[0], b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	for _, side := range []struct {
		mark  string
		lines [][]byte
	}{{"- ", a}, {"+ ", b}} {
		for _, l := range side.lines {
			if len(l) > 0 {
				out.WriteString(side.mark + strings.TrimRight(string(l), "\r\n") + "\n")
			}
		}
	}
	return out.String()
}
