package search

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// fill chooses the lines of the places for a price: of the likeliest first,
// until it is sure enough that the answer is among them. Of a long text there is
// no one answer, and of what nothing answers no lines but one each.
func (p *pack) fill(ctx context.Context, left int, none bool) error {
	sure := p.sure >= enough && !p.flow && !p.s.digested
	rows, price := p.rows(sure)
	left -= price * min(rows, max(0, len(p.places)-1))
	if p.s.beside != nil && !p.s.digested {
		left -= min(furtherTokens, left/8)
	}
	covered, most, given := 0.0, left, 0
	least := 1
	if p.s.beside != nil {
		least = fewest
	}
	for i, x := range p.places {
		if none || sure && covered >= enough && given >= least {
			break
		}
		share := p.share(sure)
		if !x.given {
			price := int(share * float64(left-tokens.Estimate(x.head())))
			if x.literal {
				price = min(price, int(literalShare*float64(most)))
			}
			spent, err := p.give(ctx, x, price, sure, i == 0 && sure)
			if err != nil {
				return err
			}
			if left -= spent; spent == 0 {
				continue
			}
		}
		covered += (1 - covered) * share
		given++
	}
	p.widen(left)
	p.list(rows, !sure && !p.flow)
	if !p.s.digested {
		p.also()
	}
	return nil
}

// give shows of a place what a price buys: who calls it, where it is sure which
// are meant also the values that it reads unless a text in it was asked for, of the
// first what it calls, and lines.
// It returns what is spent, 0 where the price is too low for lines.
func (p *pack) give(ctx context.Context, x *packed, price int, sure, meant bool) (spent int, err error) {
	links := fewLinks
	if meant {
		links = packedLinks
	}
	if !p.flow { // which says who calls
		if err := p.use(ctx, x, links, meant, sure && !x.literal); err != nil {
			return 0, err
		}
	}
	uses := tokens.Estimate(strings.Join(x.uses, "\n"))
	if least := min(leastSlice, x.body.price()); price-uses < least {
		if x.uses, uses = nil, 0; price < least {
			return 0, nil
		}
	}
	price -= uses
	x.body.choose(min(price, x.body.price()))
	return x.body.spent() + tokens.Estimate(x.head()) + uses, nil
}

// rows returns how many places are listed below those with lines, and what is
// set aside for each.
func (p *pack) rows(sure bool) (n, price int) {
	switch {
	case p.flow:
		return manyRows, rowTokens
	case sure:
		return fewRows, rowTokens
	case p.s.digested:
		return longRows, linedRowTokens
	}
	return manyRows, someRowTokens
}

// list puts the places that have no lines after those that have. Where the first
// is unsure those of documents that were not named yet come first, with the line
// that tells most; of a long text all come with it.
func (p *pack) list(rows int, unsure bool) {
	var lined, fresh, rest []*packed
	docs := map[docKey]bool{}
	for _, x := range p.places {
		if x.body.shown != nil || x.given {
			lined = append(lined, x)
			docs[docKey{x.target, x.path}] = true
		}
	}
	for _, x := range p.places {
		switch k := (docKey{x.target, x.path}); {
		case x.body.shown != nil || x.given:
		case unsure && !docs[k]:
			docs[k] = true
			fresh = append(fresh, x)
		default:
			rest = append(rest, x)
		}
	}
	named := len(lined) + len(fresh)
	p.places = slices.Concat(lined, fresh, rest)
	for i, x := range p.places {
		x.rank = i
		if unsure && i >= len(lined) && (p.s.digested || i < named) {
			x.body.chooseOne()
		}
	}
	if p.named = len(lined) + rows; p.s.r.listed {
		p.named = len(p.places)
	}
}

// share is what a place may have of what is left of the budget: as much as it
// is likely the one meant and, where that is unsure, most.
func (p *pack) share(sure bool) float64 {
	switch {
	case p.flow:
		return 1
	case !sure:
		return unsureShare
	}
	return p.sure
}

// widen gives what is left to the places that are cut, the first before others.
func (p *pack) widen(left int) {
	for _, x := range p.places {
		if x.body.shown == nil || x.body.alone || x.literal || x.body.whole() || left < leastSlice {
			continue
		}
		was := x.body.spent()
		x.body.choose(was + left)
		left -= x.body.spent() - was
	}
}

// spent is what the shown lines of a body cost.
func (o *extract) spent() int {
	var b strings.Builder
	o.render(&b)
	return tokens.Estimate(b.String())
}
