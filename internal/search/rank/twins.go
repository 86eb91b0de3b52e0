package rank

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// twins are what is there twice among the candidates: declarations apart from
// what they declare, and pages in several languages.
type twins struct {
	code  map[docKey]bool     // names of files of code, by store
	pages map[docKey][]string // languages, by store and the path without that of the page
}

// declaring are the endings of files that declare what others of that name implement.
var declaring = map[string][]string{
	".h": {".c", ".cc", ".cpp", ".cxx", ".m", ".mm"}, ".hh": {".cc", ".cpp"}, ".hpp": {".cpp", ".cc", ".cxx"},
	".hxx": {".cxx"}, ".pyi": {".py", ".pyx"}, ".d.ts": {".ts", ".js"}, ".mli": {".ml"}, ".rbi": {".rb"},
}

// ending is the extension of a name; that of types.d.ts is ".d.ts".
func ending(base string) string {
	if strings.HasSuffix(base, ".d.ts") {
		return ".d.ts"
	}
	return path.Ext(base)
}

// newTwins returns nil where nothing can be there twice.
func newTwins(cands []Evidence) *twins {
	if !slices.ContainsFunc(cands, func(e Evidence) bool {
		lang, _ := languageOf(e.Path)
		return declaring[ending(e.Path)] != nil || e.Flags&kb.FlagProse != 0 && lang != english
	}) {
		return nil
	}
	t := &twins{code: map[docKey]bool{}, pages: map[docKey][]string{}}
	for i := range cands {
		e := &cands[i]
		if e.Flags&kb.FlagProse == 0 {
			t.code[docKey{e.Store, path.Base(e.Path)}] = true
			continue
		}
		lang, rest := languageOf(e.Path)
		if k := (docKey{e.Store, rest}); !slices.Contains(t.pages[k], lang) {
			t.pages[k] = append(t.pages[k], lang)
		}
	}
	return t
}

// declared is 1 for a file that declares what another one does, which says how
// it is done, unless the query asks for declarations.
func (r *ranking) declared(e *Evidence, _ *document) float64 {
	base := path.Base(e.Path)
	end := ending(base)
	if r.twins == nil || declaring[end] == nil || r.declarations || r.q.Class == Path {
		return 0
	}
	stem := strings.TrimSuffix(base, end)
	return flag(slices.ContainsFunc(declaring[end], func(other string) bool {
		return r.twins.code[docKey{e.Store, stem + other}]
	}))
}

// translated is 1 for a page in another language than the query, which is
// there in the query's or, without that, in English.
func (r *ranking) translated(e *Evidence, _ *document) float64 {
	if r.twins == nil || e.Flags&kb.FlagProse == 0 {
		return 0
	}
	lang, rest := languageOf(e.Path)
	have := r.twins.pages[docKey{e.Store, rest}]
	if len(have) < 2 {
		return 0
	}
	want := r.q.language()
	if !slices.Contains(have, want) {
		want = english
	}
	return flag(lang != want && slices.Contains(have, want))
}

// english is the language of what does not say one.
const english = "en"

// languages are those that folders and names of pages are marked with.
var languages = strings.Fields(`ar bg bn ca cs da de el en es et eu fa fi fr gl he hi hr hu id it ja ka ko lt lv ms nl no pl
	pt ro ru sk sl sr sv th tr uk ur vi zh`)

// languageOf returns the language that a path is marked with by a folder or
// before its extension, as docs/es/index.md and README.pt-BR.md are, and the
// path without the mark.
func languageOf(p string) (lang, rest string) {
	for at := 0; ; {
		i := strings.IndexByte(p[at:], '/')
		if i < 0 {
			break
		}
		if l := language(p[at : at+i]); l != "" {
			return l, p[:at] + p[at+i+1:]
		}
		at += i + 1
	}
	ext := path.Ext(p)
	stem := strings.TrimSuffix(p, ext)
	for i := len(stem) - 1; i > 0 && i > len(stem)-8 && stem[i] != '/'; i-- {
		if !strings.ContainsRune("._-", rune(stem[i])) {
			continue
		}
		if l := language(stem[i+1:]); l != "" {
			return l, stem[:i] + ext
		}
	}
	return english, p
}

// language is the language of a mark, with or without a country: es, pt-BR,
// zh_Hans.
func language(mark string) string {
	if len(mark) < 2 || len(mark) > 2 && mark[2] != '-' && mark[2] != '_' || len(mark) > 7 {
		return "" // most names, at no cost
	}
	lang := strings.ToLower(mark[:2])
	if !slices.Contains(languages, lang) {
		return ""
	}
	return lang
}

// spanish are words that Spanish questions have, and neither English ones nor code.
var spanish = strings.Fields(`el los las una unos unas del por para sobre como cómo que qué cuál cuáles quién cuándo
	cuando dónde donde porque está esta este más hay`)

// scripts are the writings of one language each.
var scripts = []struct {
	lang  string
	table *unicode.RangeTable
}{{"ja", unicode.Hiragana}, {"ja", unicode.Katakana}, {"ko", unicode.Hangul}, {"zh", unicode.Han}, {"ru", unicode.Cyrillic},
	{"el", unicode.Greek}, {"ar", unicode.Arabic}, {"he", unicode.Hebrew}, {"th", unicode.Thai}}

// language is that of the query, English where it does not tell.
func (q *Query) language() string {
	for _, s := range scripts {
		if strings.ContainsFunc(q.Text, func(c rune) bool { return unicode.Is(s.table, c) }) {
			return s.lang
		}
	}
	if slices.ContainsFunc(q.Words, func(w Word) bool { return slices.Contains(spanish, strings.ToLower(w.Text)) }) {
		return "es"
	}
	return english
}
