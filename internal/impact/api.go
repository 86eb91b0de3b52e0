package impact

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/impact/reach"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// declaresRE is a line that declares something, in the languages in which a word
// says so.
var declaresRE = lazyregexp.New(`^\s*(?:(?:export|default|public|protected|static|final|abstract|async|pub(?:\([a-z]+\))?|unsafe|extern|open|override|sealed|data)\s+)*` +
	`(func|def|class|type|interface|struct|enum|trait|fn|function|const|var|let|module|record|object|protocol)\s+(\([^)]*\)\s*)?([A-Za-z_$][\w$]*)`)

// declaration returns the name that a line declares, after its receiver where
// it has one.
func declaration(text string) (name string, ok bool) {
	m := declaresRE.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	switch m[1] {
	case "def", "class", "fn", "function", "func", "interface", "struct", "enum":
	default:
		if text[0] == ' ' || text[0] == '\t' { // of a function, most likely
			return "", false
		}
	}
	name = m[3]
	receiver, _, _ := strings.Cut(m[2], "[")
	if f := strings.FieldsFunc(receiver, func(r rune) bool { return strings.ContainsRune("()*& \t", r) }); len(f) > 0 {
		name = f[len(f)-1] + "." + name
	}
	return name, true
}

// api adds what of a change is public: declarations that went, came, or are
// declared in another way, and those whose lines alone differ.
func (r *Reply) api(c change, language string, decls []reach.Decl) {
	if c.place {
		for _, d := range decls {
			if d.Name != "" && public(d, language) {
				r.addAPI(d.Qualified + " (" + d.Kind + ") would change")
			}
		}
		return
	}
	before, now := map[string]string{}, map[string]string{}
	var order []string
	for _, l := range c.lines {
		name, ok := declaration(l.text)
		if !ok {
			continue
		}
		side := now
		if l.old > 0 {
			side = before
		}
		if before[name] == "" && now[name] == "" {
			order = append(order, name)
		}
		side[name] = strings.Join(strings.Fields(l.text), " ")
	}
	told := map[string]bool{}
	for _, name := range order {
		if d := (reach.Decl{Path: c.path, Name: name, Qualified: name}); !public(d, language) {
			continue
		}
		told[name] = true
		b, n := clipped(before[name]), clipped(now[name])
		switch {
		case n == "":
			r.addAPI(name + " is removed: " + b)
		case b == "":
			r.addAPI(name + " is new: " + n)
		case b != n:
			r.addAPI(name + " was " + b + ", is " + n)
		}
	}
	for _, d := range decls {
		if d.Name != "" && !told[d.Qualified] && !told[d.Name] && public(d, language) {
			r.addAPI(d.Qualified + " (" + d.Kind + "): lines within it differ")
		}
	}
}

func clipped(text string) string {
	return printer.Field(kb.Clip(strings.TrimSpace(strings.TrimSuffix(text, "{")), 120))
}

func (r *Reply) addAPI(text string) {
	if len(r.API) < mostShownAPI {
		r.API = append(r.API, text)
	} else if len(r.API) == mostShownAPI {
		r.API = append(r.API, "and more")
	}
}
