package specdoc

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// verbs are the words between two names that state a relation, in Spanish and
// English. A word before them that negates, doubts or asks makes them none.
var verbs = []struct {
	phrase string
	typ    string
	sure   float64
}{
	{"depends on", "DEPENDS_ON", surePattern}, {"depende de", "DEPENDS_ON", surePattern}, {"depends upon", "DEPENDS_ON", surePattern},
	{"requires", "DEPENDS_ON", surePattern}, {"requiere", "DEPENDS_ON", surePattern},
	{"uses", "USES", surePattern}, {"usa", "USES", surePattern}, {"utiliza", "USES", surePattern},
	{"produces", "PRODUCES", surePattern}, {"produce", "PRODUCES", surePattern}, {"genera", "PRODUCES", surePattern}, {"generates", "PRODUCES", surePattern},
	{"emits", "EMITS", surePattern}, {"emite", "EMITS", surePattern}, {"publishes", "EMITS", surePattern}, {"publica", "EMITS", surePattern},
	{"consumes", "CONSUMES", surePattern}, {"consume", "CONSUMES", surePattern}, {"listens to", "CONSUMES", surePattern}, {"escucha", "CONSUMES", surePattern},
	{"references", "REFERENCES", sureName}, {"refers to", "REFERENCES", sureName}, {"referencia", "REFERENCES", sureName}, {"see", "REFERENCES", sureName}, {"véase", "REFERENCES", sureName}, {"ver", "REFERENCES", sureName},
	{"implements", "IMPLEMENTS", 0.8}, {"implementa", "IMPLEMENTS", 0.8},
	{"extends", "EXTENDS", surePattern}, {"extiende", "EXTENDS", surePattern},
	{"triggers", "TRIGGERS", surePattern}, {"dispara", "TRIGGERS", surePattern}, {"desencadena", "TRIGGERS", surePattern},
	{"validates", "VALIDATES", surePattern}, {"valida", "VALIDATES", surePattern},
	{"invokes", "INVOKES", surePattern}, {"calls", "INVOKES", surePattern}, {"invoca", "INVOKES", surePattern}, {"llama a", "INVOKES", surePattern},
	{"owns", "OWNS", surePattern}, {"contradicts", "CONTRADICTS", surePattern}, {"contradice", "CONTRADICTS", surePattern},
	{"supersedes", "SUPERSEDES", surePattern}, {"replaces", "SUPERSEDES", sureName}, {"reemplaza a", "SUPERSEDES", sureName},
	{"belongs to", "BELONGS_TO", surePattern}, {"pertenece a", "BELONGS_TO", surePattern}, {"is part of", "PART_OF", surePattern}, {"forma parte de", "PART_OF", surePattern},
}

// fillers may be between a verb and a name.
var fillers = lists["fillers"]

// verbOf reads the words between two names: a verb and nothing but fillers behind it.
func verbOf(gap string) (typ string, sure float64) {
	gap = strings.ToLower(strings.Trim(gap, " *_\t"))
	if gap == "" || len(gap) > 40 {
		return "", 0
	}
	for i := range verbs {
		v := &verbs[i]
		rest, ok := strings.CutPrefix(gap, v.phrase)
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != ':' {
			continue
		}
		rest = strings.TrimPrefix(rest, ":")
		filled := true
		for len(rest) > 0 && filled {
			rest = strings.TrimLeft(rest, " ")
			w, more, _ := strings.Cut(rest, " ")
			filled = w == "" || fillers[w]
			rest = more
		}
		if filled {
			return v.typ, v.sure
		}
	}
	return "", 0
}

// joins reports whether the text between two names only goes on with a list.
func joins(gap string) bool {
	switch strings.ToLower(strings.Trim(gap, " *_")) {
	case ",", "and", "y", "e", ", and", ", y", "&", "and the", "y el", "y la", "y a":
		return true
	}
	return false
}

// patterns finds the relations that a line of prose states between its names,
// or between the document and a name when the line begins with the verb.
func (x *extractor) patterns(s string, ns []name, line int) {
	start := 0
	for start < len(s) && (s[start] == ' ' || s[start] == '\t' || s[start] == '>') {
		start++
	}
	start += markdown.ItemMark(s[start:])
	subject := func(k int) bool { return ns[k].kind != nameFile || isSymbol(ns[k].text) }
	for k := range ns {
		if !subject(k) || ns[k].kind == nameLink {
			continue
		}
		from, gap := "", ""
		if k == 0 || ns[k].from > 0 && sentence(s[ns[k-1].to:ns[k].from]) >= 0 {
			at := start
			if k > 0 {
				at = ns[k-1].to + sentence(s[ns[k-1].to:ns[k].from])
			} else if i := sentence(s[start:ns[k].from]); i >= 0 {
				at = start + i
			}
			gap = strings.TrimSpace(s[at:ns[k].from])
			low := strings.ToLower(gap)
			for _, p := range [...]string{"se ", "it ", "this command ", "this process ", "this rule ", "el sistema ", "the system ", "este comando ", "este proceso ", "el comando ", "el proceso "} {
				if strings.HasPrefix(low, p) {
					gap = gap[len(p):]
					break
				}
			}
		} else if subject(k - 1) {
			from, gap = ns[k-1].text, s[ns[k-1].to:ns[k].from]
		} else {
			continue
		}
		typ, sure := verbOf(gap)
		if typ == "" {
			continue
		}
		x.states(from, &ns[k], typ, line, sure)
		for j := k + 1; j < len(ns) && subject(j) && joins(s[ns[j-1].to:ns[j].from]); j++ {
			x.states(from, &ns[j], typ, line, sure)
		}
	}
}

// sentence returns where the last sentence in s begins, -1 if none does.
func sentence(s string) int {
	for i := len(s) - 1; i > 0; i-- {
		if s[i] == ' ' && (s[i-1] == '.' || s[i-1] == '!' || s[i-1] == '?' || s[i-1] == ';') {
			return i + 1
		}
	}
	return -1
}

// states adds a relation that a sentence states.
func (x *extractor) states(from string, to *name, typ string, line int, sure float64) {
	for _, n := range []struct {
		text  string
		named bool // a plain name: it is a node if no document has it
	}{{from, from != "" && !KnownID(from)}, {to.text, to.kind != nameWiki && to.kind != nameID}} {
		if n.named && !x.own(n.text) {
			x.node(guess(n.text), n.text, line, sureName)
		}
	}
	if from != "" && x.own(from) {
		from = ""
	}
	if x.own(to.text) {
		if from == "" {
			return
		}
		x.edge(from, "", typ, "pattern", "", line, sure)
		return
	}
	x.edge(from, to.text, typ, "pattern", "", line, sure)
}

// guess returns the type of what a name in prose is called.
func guess(name string) string {
	if strings.HasPrefix(name, "EVT-") {
		return "event"
	}
	for _, s := range [...]string{"System", "API", "Server", "Database", "Gateway"} {
		if strings.HasSuffix(name, s) {
			return "system"
		}
	}
	return "entity"
}
