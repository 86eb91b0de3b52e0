package answer

import (
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

var (
	imageRE    = lazyregexp.New(`!\[([^\]]*)\]\([^)]*\)`)
	codeLinkRE = lazyregexp.New("\\[(`[^`]*`)\\](?:\\([^()]*\\)|\\[[^\\[\\]]*\\])?")
	linkRE     = lazyregexp.New(`\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)`)
	referRE    = lazyregexp.New(`\[([^\[\]]+)\]\[[^\[\]]*\]`)
	bracketRE  = lazyregexp.New(`(^|[\s(])\[([\p{L}_*][\p{L}\p{N}_.*/]*)\]`) // a name that Go's comments link
	emphasisRE = lazyregexp.New(`(\*\*|__)([^*_\n]+?)(\*\*|__)`)
	starRE     = lazyregexp.New(`(^|[\s(])\*([^\s*][^*\n]*?)\*`)
)

// plain takes the marks of links and emphasis off a sentence, so that what is
// left reads in any place; code between backticks stays.
func plain(s string) string {
	s = codeLinkRE.ReplaceAllString(s, "$1")
	var b strings.Builder
	for i, piece := range strings.Split(s, "`") {
		if i%2 == 1 {
			b.WriteString("`" + piece + "`")
			continue
		}
		piece = imageRE.ReplaceAllString(piece, "$1")
		piece = linkRE.ReplaceAllString(piece, "$1")
		piece = referRE.ReplaceAllString(piece, "$1")
		piece = bracketRE.ReplaceAllString(piece, "$1$2")
		piece = emphasisRE.ReplaceAllString(piece, "$2")
		piece = starRE.ReplaceAllString(piece, "$1$2")
		b.WriteString(piece)
	}
	out := b.String()
	if strings.Count(s, "`")%2 == 1 { // one that is not closed opens nothing
		out = strings.ReplaceAll(out, "`", "'")
	}
	return strings.Join(strings.Fields(out), " ")
}

// Inert makes one sentence safe for a page that renders Markdown without
// cleaning what comes out, and for one that takes it for HTML as it is: no
// tag, link, image, heading or rule can come of it. What could begin one
// becomes a numeric entity, which both show as the character; all else stays
// as it is, for readers of plain text. Code keeps its backticks where nothing
// in it needs an entity.
func Inert(s string) string {
	var b strings.Builder
	closed := strings.Count(s, "`")%2 == 0
	for i, piece := range strings.Split(s, "`") {
		switch {
		case i%2 == 1 && closed && piece != "" && !strings.ContainsAny(piece, "<>&"):
			b.WriteString("`" + piece + "`")
		case i > 0 && !closed:
			b.WriteString("&#96;" + inertText(piece))
		default:
			b.WriteString(inertText(piece))
		}
	}
	out := strings.TrimLeft(b.String(), " \t")
	// What begins a line may be a heading, an item, a quotation or a rule.
	return leading.ReplaceAllStringFunc(out, func(m string) string {
		return m[:len(m)-1] + "&#" + strconv.Itoa(int(m[len(m)-1])) + ";"
	})
}

func inertText(s string) string {
	s = entityRE.ReplaceAllString(s, "&amp;$1")
	s = angles.Replace(s)
	if linkable.MatchString(s) {
		s = brackets.Replace(s)
	}
	return schemeRE.ReplaceAllString(s, "$1&#58;")
}

var (
	entityRE = lazyregexp.New(`&(#?\w+;?)`)
	angles   = strings.NewReplacer("<", "&lt;", ">", "&gt;")
	linkable = lazyregexp.New(`\]\s*[(:\[]`)
	brackets = strings.NewReplacer("[", "&#91;", "]", "&#93;")
	leading  = lazyregexp.New(`^(?:#|[-+=*~_|]|\d{1,9}[.)])`)
	schemeRE = lazyregexp.New(`(?i)\b(javascript|vbscript|data)\s*:`)
)

// InertBlock makes lines of a document safe for a page that puts them into
// HTML or renders them as Markdown; line breaks stay.
func InertBlock(s string) string { return inertText(s) }

// InertLine makes a sentence of ours that quotes others safe.
func InertLine(s string) string { return signs.Replace(s) }

var signs = strings.NewReplacer("<", "‹", ">", "›", "](", "] (")

// InertTitle makes a title safe for a page that puts it into HTML as it is.
func InertTitle(s string) string { return titles.Replace(s) }

var titles = strings.NewReplacer("<", "‹", ">", "›", "&", "＆", `"`, "”", "'", "’", "`", "’", "](", "] (")
