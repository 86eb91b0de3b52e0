package rank

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// nameWord is a word of the query as names of files may repeat it.
type nameWord struct {
	term   string
	weight float64 // its inverse document frequency
	counts float64 // how much: 1 for a word of the query itself
}

// nameWords are the terms of the words that tell, of a compound its parts, and
// those that are used for them.
func (q *Query) nameWords() []nameWord {
	var out []nameWord
	for i := range q.Words {
		w := &q.Words[i]
		if w.Stop {
			continue
		}
		if len(w.Parts) == 0 && w.Whole >= 0 {
			out = append(out, nameWord{q.Terms[w.Whole], q.idf[w.Whole], 1})
			continue
		}
		for _, p := range w.Parts {
			out = append(out, nameWord{q.Terms[p], q.idf[p], 1})
		}
	}
	for i := range q.soft {
		s := &q.soft[i]
		out = append(out, nameWord{q.Terms[s.term], q.softIDF(s), q.tuning.SoftName * s.value})
	}
	return out
}

// short are the abbreviations that names in code are full of, stemmed.
var short = func() map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(`arg:argument args:arguments async:asynchronous attr:attribute auth:authentication
		auth:authorization buf:buffer cfg:configuration conf:configuration config:configuration cmd:command conn:connection
		ctx:context db:database def:definition del:delete desc:description dir:directory doc:documentation
		docs:documentation env:environment err:error exec:execute expr:expression ext:extension fn:function
		fs:filesystem func:function gen:generator hdr:header idx:index impl:implementation info:information
		init:initialize init:initialization iter:iterator lang:language len:length lex:lexer lib:library mem:memory
		msg:message net:network num:number obj:object op:operation ops:operations param:parameter
		pkg:package pos:position prev:previous proc:process ptr:pointer ref:reference regex:regular repo:repository
		req:request res:response resp:response sec:security sess:session sig:signature spec:specification src:source
		stat:statistics stmt:statement str:string sub:subscription sync:synchronize sync:synchronization sys:system
		temp:temporary term:terminal tok:token txn:transaction tx:transaction util:utility utils:utilities val:value
		validator:validation var:variable vec:vector ver:version win:windows ws:websocket`) {
		s, l, _ := strings.Cut(f, ":")
		m[stem(s)+" "+stem(l)] = l
	}
	return m
}()

func stem(w string) string { return string(terms.Stem([]byte(w))) }

// kin tells how far two stemmed words are of one family: 1 when they are
// equal, Family when one is the other with another ending (quantize,
// quantization) or its customary abbreviation, else 0.
func (t *Tuning) kin(a, b string) float64 {
	if a == b {
		return 1
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	p := 0
	for p < len(a) && a[p] == b[p] {
		p++
	}
	switch {
	case p < 4 || p < len(a)-2:
	case p == 4 && len(b) > 7: // form, formula
	case p >= len(a)-1 || p >= 6:
		return t.Family
	}
	if len(a) <= 9 && a[0] == b[0] {
		if _, ok := short[a+" "+b]; ok {
			return t.Family
		}
	}
	return 0
}

// meet is how the words of a name and those of the query meet.
type meet struct {
	own  float64 // share of the name's words that the query has
	rare float64 // the same, each counting as the query weighs it against its weightiest
}

func (r *ranking) meet(words []string) (m meet) {
	if len(words) == 0 || r.most == 0 {
		return m
	}
	for _, w := range words {
		best, weight := 0.0, 0.0
		for i := range r.words {
			n := &r.words[i]
			v := n.counts * r.t.kin(w, n.term)
			if v == 0 {
				continue
			}
			if v > best || v == best && n.weight > weight {
				best, weight = v, n.weight
			}
		}
		m.own += best
		m.rare += best * weight / r.most
	}
	n := float64(len(words))
	m.own, m.rare = m.own/n, m.rare/n
	return m
}

// fileName is the part of a path that a file is named by: its base without
// extensions, or its directory's where the base is one that says nothing.
func (t *Tuning) fileName(p string) string {
	base := path.Base(p)
	if i := strings.IndexByte(base[1:], '.'); i >= 0 {
		base = base[:i+1]
	}
	if slices.Contains(t.Nameless, strings.ToLower(base)) {
		if d := path.Dir(p); d != "." {
			base = path.Base(d)
		}
	}
	return base
}

// lacking is 1 for a chunk without the one word of the query, where others have it.
func (r *ranking) lacking(e *Evidence, _ *document) float64 {
	return flag(r.alone != 0 && e.Matched&r.alone == 0)
}

// alone is the bit of Matched of the one word that tells what the query is about, which
// is all of it or, in a brief question, looks like a name; 0 where there is none.
func (q *Query) alone() uint64 {
	if q.Class != Symbol && q.Class != Natural || len(q.Words) > q.tuning.BriefWords || q.Code() {
		return 0
	}
	var w *Word
	for i := range q.Words {
		if q.Words[i].Stop {
			continue
		}
		if w != nil {
			return 0
		}
		w = &q.Words[i]
	}
	if w == nil || len(q.Words) > 1 && !named(w.Text) || w.Whole < 0 || w.Meant != "" {
		return 0
	}
	return 1 << w.Whole
}
