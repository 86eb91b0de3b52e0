package rank

import (
	"math"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Sure is how sure it is that the first hit is right.
type Sure struct {
	P     float64 // the probability
	Signs []float64
}

// sign is a piece of evidence on whether the first hit is right.
type sign struct {
	name  string
	value func(r *ranking, hits []Scored) float64
}

func (r *ranking) sure(hits []Scored) Sure {
	s := Sure{P: r.confidence(hits)}
	if r.o.Mode == Vector {
		return s
	}
	for i := range signs {
		s.Signs = append(s.Signs, signs[i].value(r, hits))
	}
	return s
}

// Signs names the values of Sure.Signs.
func Signs() []string {
	out := make([]string, len(signs))
	for i := range signs {
		out[i] = signs[i].name
	}
	return out
}

func (r *ranking) rival(hits []Scored) *Scored {
	for i := range hits[1:] {
		h := &hits[i+1]
		if h.Path != hits[0].Path || h.Store != hits[0].Store {
			return h
		}
	}
	return nil
}

var signs = []sign{
	{"chunk", func(r *ranking, h []Scored) float64 { return r.q.Coverage(h[0].Matched) }},
	{"document", func(r *ranking, h []Scored) float64 { return r.q.Coverage(h[0].DocMatched) }},
	{"cosine", func(r *ranking, h []Scored) float64 { return max(0, h[0].Cosine-r.o.Noise) }},
	{"mean", func(r *ranking, h []Scored) float64 { return h[0].Mean }},
	{"raw", func(r *ranking, h []Scored) float64 { return h[0].raw }},
	{"margin", func(r *ranking, h []Scored) float64 {
		if v := r.rival(h); v != nil && h[0].raw > 0 {
			return 1 - v.raw/h[0].raw
		}
		return 1
	}},
	{"crowd", func(r *ranking, h []Scored) float64 {
		n := 0.0
		for i := range h {
			if h[i].raw > 0.9*h[0].raw {
				n++
			}
		}
		return math.Log(n)
	}},
	{"words", func(r *ranking, h []Scored) float64 { return r.lexical(&h[0].Evidence, nil) }},
	{"vectors", func(r *ranking, h []Scored) float64 { return r.vector(&h[0].Evidence, nil) }},
	{"topcos", func(r *ranking, h []Scored) float64 { return max(0, r.topCos-r.o.Noise) }},
	{"definition", func(r *ranking, h []Scored) float64 { return r.definition(&h[0].Evidence, nil) }},
	{"names", func(r *ranking, h []Scored) float64 { return r.names(&h[0].Evidence, nil) }},
	{"named", func(r *ranking, h []Scored) float64 { return h[0].Named }},
	{"literal", func(r *ranking, h []Scored) float64 { return h[0].Literal }},
	{"path", func(r *ranking, h []Scored) float64 { return r.document(&h[0].Evidence).path }},
	{"stem", func(r *ranking, h []Scored) float64 { return r.document(&h[0].Evidence).stem.own }},
	{"rarestem", func(r *ranking, h []Scored) float64 { return r.document(&h[0].Evidence).stem.rare }},
	{"directory", func(r *ranking, h []Scored) float64 { return r.document(&h[0].Evidence).dir.own }},
	{"symbol", func(r *ranking, h []Scored) float64 { return flag(r.q.Class == Symbol) }},
	{"failure", func(r *ranking, h []Scored) float64 { return flag(r.q.Class == Failure) }},
	{"natural", func(r *ranking, h []Scored) float64 { return flag(r.q.Class == Natural) }},
	{"long", func(r *ranking, h []Scored) float64 { return math.Log(float64(len(r.q.Words) + 1)) }},
	{"hasnamed", func(r *ranking, h []Scored) float64 { return flag(r.named) }},
	{"stores", func(r *ranking, h []Scored) float64 { return math.Log(float64(max(1, len(r.o.Stores)))) }},
	{"own", func(r *ranking, h []Scored) float64 {
		return flag(r.own && r.o.Stores[h[0].Store].Own)
	}},
	{"isnamed", func(r *ranking, h []Scored) float64 {
		return flag(r.elsewhere && r.o.Stores[h[0].Store].Named)
	}},
	{"prose", func(r *ranking, h []Scored) float64 { return flag(h[0].Flags&kb.FlagProse != 0) }},
	{"beside", func(r *ranking, h []Scored) float64 { return flag(r.beside(&h[0].Evidence)) }},
	{"code", func(r *ranking, h []Scored) float64 { return r.code }},
	{"test", func(r *ranking, h []Scored) float64 { return flag(r.document(&h[0].Evidence).test) }},
	{"absent", func(r *ranking, h []Scored) float64 {
		sum, n := 0.0, 0.0
		for i := range r.q.Words {
			if w := &r.q.Words[i]; !w.Stop {
				sum += w.idf
				if w.absent {
					n += w.idf
				}
			}
		}
		if sum == 0 {
			return 1
		}
		return n / sum
	}},
	{"telling", func(r *ranking, h []Scored) float64 {
		n := 0.0
		for i := range r.q.Words {
			n += flag(!r.q.Words[i].Stop)
		}
		return n
	}},
	{"second", func(r *ranking, h []Scored) float64 {
		if v := r.rival(h); v != nil {
			return r.q.Coverage(v.Matched)
		}
		return 0
	}},
	{"best3", func(r *ranking, h []Scored) float64 {
		c := 0.0
		for i := range h[:min(3, len(h))] {
			c = max(c, 0.5*r.q.Coverage(h[i].Matched)+0.5*r.q.Coverage(h[i].DocMatched))
		}
		return c
	}},
	{"lead", func(r *ranking, h []Scored) float64 {
		if h[0].Section != nil {
			return h[0].Section.Lead
		}
		return 0
	}},
	{"section", func(r *ranking, h []Scored) float64 {
		if h[0].Section != nil {
			return h[0].Section.Words
		}
		return 0
	}},
	{"found", func(r *ranking, h []Scored) float64 { return math.Log(float64(len(h))) }},
	{"literals", func(r *ranking, h []Scored) float64 {
		n := 0.0
		for i := range h {
			n += flag(h[i].Literal > 0.8*h[0].Literal && h[0].Literal > 0)
		}
		return math.Log1p(n)
	}},
	{"defs", func(r *ranking, h []Scored) float64 {
		n := 0.0
		for i := range h {
			n += flag(r.definition(&h[i].Evidence, nil) >= 1)
		}
		return math.Log1p(n)
	}},
	{"rivaldef", func(r *ranking, h []Scored) float64 {
		if v := r.rival(h); v != nil {
			return r.definition(&v.Evidence, nil)
		}
		return 0
	}},
	{"paths", func(r *ranking, h []Scored) float64 { return h[0].PathCosine }},
	{"second.own", func(r *ranking, h []Scored) float64 {
		if v := r.rival(h); v != nil && len(r.o.Stores) > 0 {
			return flag(v.Store == h[0].Store)
		}
		return 1
	}},
	{"old", func(r *ranking, h []Scored) float64 { return r.confidence(h) }},
	{"topcov", func(r *ranking, h []Scored) float64 { return r.topCov }},
	{"topdoc", func(r *ranking, h []Scored) float64 { return r.topDoc }},
	{"z", func(r *ranking, h []Scored) float64 { return (h[0].Cosine - r.cosMean) / r.cosStd }},
	{"ztop", func(r *ranking, h []Scored) float64 { return (r.topCos - r.cosMean) / r.cosStd }},
	{"cosmean", func(r *ranking, h []Scored) float64 { return r.cosMean }},
	{"cos20", func(r *ranking, h []Scored) float64 { return r.cos20 }},
	{"zlex", func(r *ranking, h []Scored) float64 { return r.zlex }},
	{"count", func(r *ranking, h []Scored) float64 {
		n, all := 0.0, 0.0
		for i := range r.q.Words {
			if w := &r.q.Words[i]; !w.Stop {
				all++
				n += w.share(h[0].Matched, 0.8)
			}
		}
		return n / max(1, all)
	}},
	{"counted", func(r *ranking, h []Scored) float64 {
		n := 0.0
		for i := range r.q.Words {
			if w := &r.q.Words[i]; !w.Stop {
				n += w.share(h[0].Matched, 0.8)
			}
		}
		return n
	}},
	{"rarest", func(r *ranking, h []Scored) float64 {
		best, v := -1.0, 0.0
		for i := range r.q.Words {
			if w := &r.q.Words[i]; !w.Stop && w.idf > best {
				best, v = w.idf, w.share(h[0].Matched, 0.8)
			}
		}
		return v
	}},
	{"rarestdoc", func(r *ranking, h []Scored) float64 {
		best, v := -1.0, 0.0
		for i := range r.q.Words {
			if w := &r.q.Words[i]; !w.Stop && w.idf > best {
				best, v = w.idf, w.share(h[0].DocMatched, 0.8)
			}
		}
		return v
	}},
	{"maxidf", func(r *ranking, h []Scored) float64 {
		best := 0.0
		for i := range r.q.Words {
			if w := &r.q.Words[i]; !w.Stop {
				best = max(best, w.idf)
			}
		}
		return best
	}},
	{"absentn", func(r *ranking, h []Scored) float64 {
		n := 0.0
		for i := range r.q.Words {
			n += flag(!r.q.Words[i].Stop && r.q.Words[i].absent)
		}
		return n
	}},
	{"wanted", func(r *ranking, h []Scored) float64 { return r.o.Prose }},
	{"unsure", func(r *ranking, h []Scored) float64 { return r.o.Prose * (1 - r.o.Prose) }},
	{"intent", func(r *ranking, h []Scored) float64 { return flag(r.o.Intent != "") }},
	{"docintent", func(r *ranking, h []Scored) float64 { return flag(r.o.Intent == Documentation) }},
	{"working", func(r *ranking, h []Scored) float64 { return flag(r.q.asks() == working) }},
	{"bywords", func(r *ranking, h []Scored) float64 { return flag(r.lexical(&h[0].Evidence, nil) > 0.999) }},
	{"byvector", func(r *ranking, h []Scored) float64 { return flag(r.vector(&h[0].Evidence, nil) > 0.999) }},
	{"lines", func(r *ranking, h []Scored) float64 { return math.Log(float64(h[0].End - h[0].Start + 1)) }},
	{"chunks", func(r *ranking, h []Scored) float64 { return math.Log(float64(max(1, h[0].Chunks))) }},
	{"uses", func(r *ranking, h []Scored) float64 { return r.central(&h[0].Evidence, nil) }},
	{"total", func(r *ranking, h []Scored) float64 { return r.total(&h[0].Evidence, nil) }},
	{"meanr", func(r *ranking, h []Scored) float64 { return r.mean(&h[0].Evidence, nil) }},
	{"stopshare", func(r *ranking, h []Scored) float64 {
		n := 0.0
		for i := range r.q.Words {
			n += flag(r.q.Words[i].Stop)
		}
		return n / float64(max(1, len(r.q.Words)))
	}},
	{"symbolname", func(r *ranking, h []Scored) float64 { return r.topNames }},
	{"margin3", func(r *ranking, h []Scored) float64 {
		if len(h) > 2 && h[0].raw > 0 {
			return 1 - h[2].raw/h[0].raw
		}
		return 1
	}},
	{"margin5", func(r *ranking, h []Scored) float64 {
		if len(h) > 4 && h[0].raw > 0 {
			return 1 - h[4].raw/h[0].raw
		}
		return 1
	}},
	{"es", func(r *ranking, h []Scored) float64 {
		n := 0.0
		for i := range r.q.Words {
			switch r.q.Words[i].Text {
			case "de", "la", "el", "los", "las", "que", "en", "una", "un", "para", "por", "con", "se", "es":
				n++
			}
		}
		return min(n, 1)
	}},
}

// confidence is how much of the query the best hits answer at all, whatever
// the others score:
//
//	(share of its words, by weight, in the chunk + the same in its document) / 2
//	+ a tenth of the share of the file's name that the query covers
//	+ how far the cosine lies above that of unrelated texts
//
// of the best of the first three. By vectors alone it is where the cosine lies
// between that of unrelated texts and of near copies. On the development set
// (539 queries) and 29 queries about what their stores lack, the threshold of
// Confidence between low and medium parts 98 % of the one from 83 % of the other.
func (r *ranking) confidence(hits []Scored) float64 {
	c := 0.0
	for i := range hits[:min(r.t.SureHits, len(hits))] {
		h := &hits[i]
		if r.o.Mode == Vector {
			c = max(c, (h.Cosine-r.t.FarCosine)/r.t.CosineSpan)
			continue
		}
		v := r.t.InChunk*r.q.Coverage(h.Matched) + r.t.InDocument*r.q.Coverage(h.DocMatched)
		if v > 0 || h.Cosine > 0 {
			v += r.t.InName * r.document(&h.Evidence).stem.own
		}
		if r.o.Noise > 0 {
			v += max(0, h.Cosine-r.o.Noise)
		}
		c = max(c, v, r.t.SureNamed*h.Named)
	}
	return max(0, min(1, c))
}
