package chunk

import (
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// splitSpec finds the sections of a format that only specifications have:
// scenarios of Gherkin, requirements of StrictDoc.
func splitSpec(t kb.Text, ls *lines) (outline, bool) {
	d := specdoc.ParseAs(t.Language, t.Body)
	if d == nil {
		return outline{}, false
	}
	s := newSections(ls)
	for i := range d.Sections {
		if sec := &d.Sections[i]; sec.Level > 0 {
			at := min(sec.Start-1, ls.len()-1)
			s.begin(at, at, at, sec.Level, sec.Path[len(sec.Path)-1], "")
		}
	}
	s.close(ls.len(), 0)
	s.o.facts.Spec = d
	return s.o, true
}
