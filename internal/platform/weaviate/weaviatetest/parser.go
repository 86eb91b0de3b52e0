package weaviatetest

import (
	"encoding/json"
	"strings"
)

// field is one member of a selection, with its arguments and its own selection.
type field struct {
	alias, name string
	args        map[string]any
	of          []field
}

// parser reads the queries that package weaviate writes.
type parser struct {
	text string
	at   int
}

func (p *parser) skip() {
	for p.at < len(p.text) && strings.IndexByte(" ,\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) take(c byte) bool {
	p.skip()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) word() string {
	p.skip()
	from := p.at
	for p.at < len(p.text) && (p.text[p.at] == '_' || p.text[p.at] >= '0' && p.text[p.at] <= '9' || p.text[p.at]|32 >= 'a' && p.text[p.at]|32 <= 'z') {
		p.at++
	}
	return p.text[from:p.at]
}

func (p *parser) selection() (out []field) {
	if !p.take('{') {
		return nil
	}
	for !p.take('}') {
		f := field{name: p.word(), args: map[string]any{}}
		f.alias = f.name
		if p.take(':') {
			f.name = p.word()
		}
		if p.take('(') {
			for !p.take(')') {
				name := p.word()
				p.take(':')
				f.args[name] = p.value()
			}
		}
		f.of = p.selection()
		out = append(out, f)
	}
	return out
}

func (p *parser) value() any {
	p.skip()
	switch c := p.text[p.at]; {
	case p.take('{'):
		m := map[string]any{}
		for !p.take('}') {
			name := p.word()
			p.take(':')
			m[name] = p.value()
		}
		return m
	case p.take('['):
		list := []any{}
		for !p.take(']') {
			list = append(list, p.value())
		}
		return list
	case c == '"' || c == '-' || c >= '0' && c <= '9':
		d := json.NewDecoder(strings.NewReader(p.text[p.at:]))
		var v any
		if err := d.Decode(&v); err != nil {
			panic(err)
		}
		p.at += int(d.InputOffset())
		return v
	}
	return p.word()
}
