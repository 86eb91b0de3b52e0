package syntax

import "strings"

// cBranch is one branch of a conditional group.
type cBranch struct {
	from, to int // tokens, the directive that begins it included
	uneven   bool
	open     bool // ends within a statement
}

type cGroup struct {
	branches     []cBranch
	paren, brace int // depth before
	inside       bool
}

// branches evens out conditional groups that are no sequence of statements.
func (p *cText) branches() {
	var groups []cGroup
	paren, brace := 0, 0
	last := byte(';')
	boundary := func() bool { return last == ';' || last == '}' || last == '{' || last == ':' }
	closeBranch := func(g *cGroup, at int) {
		b := &g.branches[len(g.branches)-1]
		b.to = at
		b.uneven = paren != g.paren || brace != g.brace
		b.open = !boundary()
		paren, brace = g.paren, g.brace
	}
	for i := 0; i < len(p.tokens); i++ {
		switch k := p.tokens[i].kind; k {
		case '(', '[':
			paren++
			last = k
		case ')', ']':
			paren = max(0, paren-1)
			last = k
		case '{':
			brace++
			last = k
		case '}':
			brace = max(0, brace-1)
			last = k
		case '#':
			name, rest := directive(p.word(i))
			switch name {
			case "if", "ifdef", "ifndef":
				groups = append(groups, cGroup{paren: paren, brace: brace, inside: paren > 0 || !boundary(), branches: []cBranch{{from: i}}})
				if name == "if" && rest == "0" {
					last = ';'
				}
			case "elif", "else", "elifdef", "elifndef":
				if n := len(groups); n > 0 {
					closeBranch(&groups[n-1], i)
					groups[n-1].branches = append(groups[n-1].branches, cBranch{from: i})
					last = ';'
				}
			case "endif":
				if n := len(groups); n > 0 {
					g := groups[n-1]
					groups = groups[:n-1]

					closeBranch(&g, i)
					paren, brace = p.group(&g, i, paren, brace)
					last = ';'
					if g.inside {
						last = ','
					}
				}
			}
		case 0:
		default:
			last = k
		}
	}
}

// directive splits "#  ifdef X" into "ifdef" and "X".
func directive(s string) (name, rest string) {
	s = strings.TrimLeft(s, "# \t")
	i := 0
	for i < len(s) && isWord(s[i]) {
		i++
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// group deals with a whole group that ends at token end, and returns the
// depths behind it.
func (p *cText) group(g *cGroup, end, paren, brace int) (int, int) {
	head := g.branches[0]
	name, rest := directive(p.word(head.from))
	dead := name == "if" && (rest == "0" || strings.HasPrefix(rest, "0 ") || strings.HasPrefix(rest, "0\t"))
	// extern "C" around declarations for C++.
	if len(g.branches) == 1 && strings.Contains(rest, "__cplusplus") {
		var word strings.Builder
		for i := head.from + 1; i < head.to && word.Len() < 20; i++ {
			if p.tokens[i].kind != '#' && p.tokens[i].kind != 0 {
				word.WriteString(p.word(i))
			}
		}
		if w := word.String(); w == "}" || strings.HasPrefix(w, `extern"C`) && strings.HasSuffix(w, "{") {
			p.blank(head.from, end+1)
			return g.paren, g.brace
		}
	}
	flat := g.inside
	for _, b := range g.branches {
		flat = flat || b.uneven || b.open
	}
	keep := 0
	if dead {
		keep = 1
	}
	if !flat {
		if dead {
			p.blank(head.from+1, head.to)
		}
		return g.paren, g.brace
	}
	for i, b := range g.branches {
		if i == keep {
			p.blank(b.from, b.from+1)
			for k := b.from + 1; k < b.to; k++ {
				switch p.tokens[k].kind {
				case '(', '[':
					paren++
				case ')', ']':
					paren = max(0, paren-1)
				case '{':
					brace++
				case '}':
					brace = max(0, brace-1)
				}
			}
		} else {
			p.blank(b.from, b.to)
		}
	}
	p.blank(end, end+1)
	return paren, brace
}
