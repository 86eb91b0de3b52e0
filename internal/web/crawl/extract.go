package crawl

import (
	"bytes"
	"context"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// section is a heading with the text up to the next heading, or the text before the
// first.
type section struct {
	level           int // 0 before the first heading
	heading         string
	from, below, to int // bytes; below lies behind the heading
}

// sections cuts Markdown at its headings that are not HTML.
func sections(md []byte) []section {
	out := []section{{}}
	markdown.Read(string(md), func(b markdown.Block) {
		if b.Kind == markdown.Heading && !b.HTML {
			out[len(out)-1].to = b.From
			heading, _, _ := strings.Cut(b.Text, "{#")
			out = append(out, section{level: b.Level, heading: strings.TrimSpace(heading), from: b.From, below: b.To})
		}
	})
	out[len(out)-1].to = len(md)
	if out[0].to == 0 && len(out) > 1 {
		out = out[1:]
	}
	return out
}

// extract leaves the sections of a page that the instruction is about, with
// the headings above them: those whose score is at least keepShare of the best
// one's, so that something always stays.
//
//	score = similarity + ½·share of its words in the headings + ⅕·share in the text - share of denied words in the headings
func extract(ctx context.Context, e kb.Embedder, want *wish, md []byte) ([]byte, error) {
	secs := sections(md)
	if len(secs) < 2 {
		return md, nil
	}
	texts := make([]string, len(secs))
	bonus := make([]float64, len(secs))
	var path []section
	for i, s := range secs {
		for len(path) > 0 && path[len(path)-1].level >= s.level {
			path = path[:len(path)-1]
		}
		path = append(path, s)
		var b strings.Builder
		for _, p := range path {
			b.WriteString(p.heading + "\n")
		}
		body := md[s.below:s.to]
		heads := words(b.String())
		body = body[:min(len(body), 4000)]
		b.Write(body)
		texts[i] = b.String()
		bonus[i] = 0.5*share(want.words, heads) + 0.2*share(want.words, words(string(body))) - share(want.denied, heads)
	}
	vecs, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(secs))
	best := 0
	for i, v := range vecs {
		scores[i] = want.score(v) + bonus[i]
		if scores[i] > scores[best] {
			best = i
		}
	}
	keep := make([]bool, len(secs))
	for i := range secs {
		keep[i] = i == best || scores[best] > 0 && scores[i] >= keepShare*scores[best]
	}
	var out bytes.Buffer
	var above []int
	for i, s := range secs {
		for len(above) > 0 && secs[above[len(above)-1]].level >= s.level {
			above = above[:len(above)-1]
		}
		if keep[i] {
			for _, j := range above {
				if j >= 0 && !keep[j] && secs[j].level > 0 { // its heading alone
					out.Write(bytes.TrimSpace(md[secs[j].from:secs[j].below]))
					out.WriteString("\n\n")
					keep[j] = true
				}
			}
			out.Write(md[s.from:s.to])
		}
		above = append(above, i)
	}
	return out.Bytes(), nil
}

// keepShare is how similar to the instruction a section must be, as a share of
// the best one of its page.
const keepShare = 0.6
