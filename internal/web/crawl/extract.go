package crawl

import (
	"bytes"
	"context"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// section is a heading with the text up to the next heading, or the text before the
// first.
type section struct {
	level    int // 0 before the first heading
	heading  string
	from, to int // bytes
}

// sections cuts Markdown at its ATX headings outside of code.
func sections(md []byte) []section {
	out := []section{{}}
	fence := ""
	at := 0
	for line := range bytes.Lines(md) {
		t := strings.TrimRight(string(line), "\r\n")
		trimmed := strings.TrimLeft(t, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" \t") == "" {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
		case strings.HasPrefix(t, "#"):
			level := len(t) - len(strings.TrimLeft(t, "#"))
			if level <= 6 && len(t) > level && (t[level] == ' ' || t[level] == '\t') {
				heading, _, _ := strings.Cut(t[level+1:], "{#")
				out[len(out)-1].to = at
				out = append(out, section{level: level, heading: strings.TrimSpace(heading), from: at})
			}
		}
		at += len(line)
	}
	out[len(out)-1].to = at
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
		body := md[s.from:s.to]
		if nl := bytes.IndexByte(body, '\n'); s.level > 0 && nl >= 0 {
			body = body[nl:]
		}
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
					line, _, _ := bytes.Cut(md[secs[j].from:secs[j].to], []byte("\n"))
					out.Write(line)
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
