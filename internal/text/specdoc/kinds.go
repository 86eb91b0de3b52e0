package specdoc

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Kind is a kind of specification.
type Kind struct {
	Name   string // "business-rule"
	Prefix string // of node ids: "BR" of "BR:BR-LAYER-001"
	Type   string // of its node, and of what its sections hold: see Types
	Layer  int    // 0 to 4: requirements, domain, behaviour, experience, verification; -1 for none
	// words are what front matter and folders call it, in Spanish and English,
	// folded as by Anchor. ids begin a file's stem or a title: "ADR" of ADR-0004.
	words []string
	ids   []string
}

// Kinds are the kinds of specifications: the original's sixteen, then those of
// the formats of others.
var Kinds = []Kind{
	{"entity", "Entity", "ENTITY", 1, list("entity entities entidad entidades object objeto value-object"), list("ENT ENTITY")},
	{"event", "Event", "EVENT", 1, list("event events evento eventos domain-event"), list("EVT EVENT")},
	{"business-rule", "BR", "RULE", 1, list("business-rule business-rules rule rules regla reglas regla-de-negocio reglas-de-negocio validation"), list("BR RN RUL RULE")},
	{"business-policy", "BP", "RULE", 1, list("business-policy business-policies policy policies politica politicas politica-de-negocio"), list("BP POL")},
	{"cross-policy", "XP", "RULE", 1, list("cross-policy cross-policies politica-transversal politicas-transversales"), list("XP")},
	{"command", "CMD", "PROCESS", 2, list("command commands comando comandos"), list("CMD")},
	{"query", "QRY", "PROCESS", 2, list("query queries consulta consultas"), list("QRY")},
	{"process", "PROC", "PROCESS", 2, list("process processes proceso procesos workflow workflows flow flujo flujos procedure procedimiento"), list("PROC PRC")},
	{"use-case", "UC", "USE_CASE", 2, list("use-case use-cases usecase caso-de-uso casos-de-uso user-story user-stories story stories historia-de-usuario historias-de-usuario"), list("UC CU US STORY HU")},
	{"ui-view", "UIView", "DEFAULT", 3, list("ui-view ui-views view views vista vistas screen screens pantalla pantallas"), list("UIV UI VIEW")},
	{"ui-component", "UIComp", "DEFAULT", 3, list("ui-component ui-components component components componente componentes"), list("UIC")},
	{"requirement", "REQ", "USE_CASE", 4, list("requirement requirements requisito requisitos requerimiento requerimientos criteria acceptance-criteria scenario escenario nfr"), list("REQ RF RNF NFR FR SCN")},
	{"objective", "OBJ", "USE_CASE", 0, list("objective objectives objetivo objetivos goal meta"), list("OBJ")},
	{"prd", "PRD", "DEFAULT", 0, list("prd product-requirements product-requirements-document"), list("PRD")},
	{"adr", "ADR", "DEFAULT", -1, list("adr adrs decision decisions decision-record architecture-decision architecture-decision-record decision-de-arquitectura decisiones"), list("ADR")},
	{"glossary", "GLOSS", "DEFAULT", 1, list("glossary glosario"), list("GLOSS")},
	{"proposal", "Proposal", "DEFAULT", -1, list("proposal proposals propuesta propuestas rfc rfcs oteps keps enhancement-proposal enhancement-proposals"), list("RFC OTEP KEP PEP")},
	{"architecture", "Arch", "DEFAULT", -1, list("architecture arquitectura arc42"), nil},
	{"feature", "Feature", "DEFAULT", 4, list("feature caracteristica"), nil},
}

// Types are the types of sections.
var Types = []string{"ENTITY", "USE_CASE", "RULE", "PROCESS", "DEFAULT"}

func list(s string) []string { return strings.Fields(s) }

// KindNamed returns the kind that a word names, in Spanish or English, in any
// spelling: "Caso de uso", "use_case", "UseCase".
func KindNamed(word string) (Kind, bool) {
	w := kindWord(word)
	if w == "" {
		return Kind{}, false
	}
	for _, k := range Kinds {
		if k.Name == w || slices.Contains(k.words, w) || strings.EqualFold(k.Prefix, w) {
			return k, true
		}
	}
	return Kind{}, false
}

// kindWord folds the spelling of a kind: lower case, hyphens between words.
func kindWord(s string) string {
	s = strings.TrimSpace(s)
	var b strings.Builder
	lower := false
	for _, r := range s {
		if unicode.IsUpper(r) && lower {
			b.WriteByte('-')
		}
		lower = unicode.IsLower(r)
		if r == '_' || r == '/' {
			r = '-'
		}
		b.WriteRune(r)
	}
	return Anchor(b.String())
}

// idKind returns the kind that an id's prefix names: "ADR-0004", "BR_LAYER".
func idKind(id string) (Kind, bool) {
	n := 0
	for n < len(id) && (id[n]|0x20 >= 'a' && id[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 || n+1 >= len(id) || id[n] != '-' && id[n] != '_' {
		return Kind{}, false
	}
	for _, k := range Kinds {
		if slices.Contains(k.ids, strings.ToUpper(id[:n])) {
			return k, true
		}
	}
	return Kind{}, false
}

// KindOf returns the kind of a document at a path: what it says itself, else
// what its file's name begins with, else what one of its folders is called,
// the innermost first. "" when none says it.
func KindOf(kind, path string) string {
	if kind != "" {
		return kind
	}
	parts := strings.Split(path, "/")
	stem := Stem(path)
	if k := openSpec(parts); k != "" {
		return k
	}
	switch low := strings.Trim(strings.ToLower(stem), "_-"); {
	case low == "readme", low == "index", low == "changelog", low == "contributing", low == "overview", strings.Contains(low, "template"), strings.Contains(low, "plantilla"):
		return "" // about the folder, not one of it
	}
	if k, ok := idKind(stem); ok && stemTells(stem) {
		return k.Name
	}
	for i := len(parts) - 2; i >= 0; i-- {
		if k, ok := KindNamed(parts[i]); ok && folderTells(parts, i) {
			return k.Name
		}
	}
	if len(parts) > 1 && parts[len(parts)-2] == "text" && numbered(stem) {
		return "proposal" // of a repository of them
	}
	if k, ok := KindNamed(stem); ok && (k.Name == "glossary" || k.Name == "prd") {
		return k.Name
	}
	return ""
}

// openSpec returns the kind of a document of OpenSpec by its path: requirements
// lie in openspec/specs/CAPABILITY, proposals of changes in openspec/changes/NAME.
func openSpec(parts []string) string {
	i := slices.Index(parts, "openspec")
	switch {
	case i < 0 || i+3 >= len(parts):
		return ""
	case parts[i+1] == "specs" || parts[i+1] == "changes" && slices.Contains(parts[i+2:], "specs"):
		return "requirement"
	case parts[i+1] == "changes":
		return "proposal"
	}
	return ""
}

// OpenSpecName returns what a document of OpenSpec is called by its folder, the
// capability or the change, and whether the change is still open; "" for another document.
func OpenSpecName(path string) (name string, open bool) {
	parts := strings.Split(path, "/")
	if openSpec(parts) == "" {
		return "", false
	}
	i := slices.Index(parts, "openspec")
	name = parts[i+2]
	if parts[i+1] == "changes" {
		if open = name != "archive"; !open && i+3 < len(parts) {
			name = parts[i+3]
		}
	}
	return name, open
}

// numbered reports whether a file's name begins with a number of four digits.
func numbered(stem string) bool {
	return len(stem) > 5 && stem[4] == '-' && strings.Trim(stem[:4], "0123456789") == ""
}

// stemTells reports whether a file's name that begins like an id is one:
// "adr-0007-files", "EVT-Order-Placed", but neither "event-loop" nor "ui-guide".
func stemTells(stem string) bool {
	i := strings.IndexAny(stem, "-_")
	if i < 1 || i+1 >= len(stem) {
		return false
	}
	c := stem[i+1]
	return c >= '0' && c <= '9' || stem[:i] == strings.ToUpper(stem[:i]) && c >= 'A' && c <= 'Z'
}

// telling are the folders whose name alone says what lies in them. Others, as
// "commands", "events" and "rules", do so among specifications only.
var telling = lists["telling"]

// specRoots are folders that hold specifications.
var specRoots = kb.WordsOf("specs spec kdd especificaciones specifications domain domains dominio dominios")

// folderTells reports whether the folder at parts[i] says of what kind the
// documents in it are.
func folderTells(parts []string, i int) bool {
	w := kindWord(parts[i])
	if telling[w] {
		return true
	}
	if !strings.HasSuffix(w, "s") || w == "process" {
		return false // "flow", "view", "component" are folders of code
	}
	for _, above := range parts[:i] {
		if a := kindWord(above); specRoots[a] || len(a) > 3 && a[0] == '0' && a[1] <= '4' && a[2] == '-' {
			return true
		}
	}
	return false
}

// Stem returns the file's name of a path without its extension.
func Stem(path string) string {
	path = path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		path = path[:i]
	}
	return path
}

// Known returns a kind by its name; kinds that only a front matter names are
// documents without a layer.
func Known(kind string) Kind {
	for _, k := range Kinds {
		if k.Name == kind {
			return k
		}
	}
	return Kind{Name: kind, Prefix: "Doc", Type: "DEFAULT", Layer: -1}
}

// NodeID returns the id of a document's node: "BR:BR-LAYER-001",
// "Entity:Order". Without an id it has the file's stem.
func NodeID(kind, id, path string) string {
	if id == "" {
		id = Stem(path)
	}
	return Known(kind).Prefix + ":" + id
}

// TypeOf returns the type of a section of a document of that kind: the kind's
// own type where it has one, else the one that heading and text gave it.
func TypeOf(kind, section string) string {
	if t := Known(kind).Type; t != "DEFAULT" && t != "EVENT" {
		return t
	}
	return section
}
