package declared

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Installed returns the files of a package as it is installed, with the
// declarations that @types has for it.
func Installed(name string, files, modules fs.FS) fs.FS {
	typed := "@types/" + strings.Replace(strings.TrimPrefix(name, "@"), "/", "__", 1)
	return installed{files, modules, typed}
}

type installed struct {
	files, modules fs.FS
	typed          string
}

// Open implements fs.FS.
func (i installed) Open(name string) (fs.File, error) {
	if strings.HasPrefix(name, i.typed+"/") {
		return i.modules.Open(name)
	}
	return i.files.Open(name)
}

func itoa(n int) string { return strconv.Itoa(n) }

// Module returns what an import of the package offers, nil when there is no such
// entry: sub is "", or "server" of "pkg/server".
func (p *Package) Module(sub string) *Module {
	if m, ok := p.known[sub]; ok {
		return m
	}
	at := p.entry(sub)
	if at == "" {
		p.known[sub] = nil
		return nil
	}
	m := &Module{Exports: map[string]*Export{}}
	p.known[sub] = m
	p.offer(m, at, 0, map[string]bool{})
	return m
}

// offer adds what a file offers.
func (p *Package) offer(m *Module, at string, depth int, seen map[string]bool) {
	if seen[at] {
		return
	}
	if depth > maxDepth || p.ctx.Err() != nil {
		m.Open = true
		return
	}
	seen[at] = true
	f := p.load(at)
	for name, l := range f.exports {
		if m.Exports[name] == nil {
			m.Exports[name] = p.export(at, name, l, 0)
		}
	}
	if f.assign != "" {
		p.assigned(m, at, f)
	}
	for _, s := range f.stars {
		to := p.follow(at, s)
		if to == "" {
			m.Open = true
			continue
		}
		p.offer(m, to, depth+1, seen)
	}
}

// assigned adds what export = X offers: X itself as the default, and its members.
func (p *Package) assigned(m *Module, at string, f *file) {
	e := p.export(at, "default", local{"", f.assign}, 0)
	m.Exports["default"], m.Exports["export="] = e, e
	m.Open = m.Open || e.Open || len(e.Members) == 0
	for name, d := range e.Members {
		if m.Exports[name] == nil {
			m.Exports[name] = &Export{Name: name, Decls: []Decl{d}, Members: map[string]Decl{}, Open: true}
		}
	}
}

// follow returns the file that a path in a file means; "" when it is of another package.
func (p *Package) follow(at, to string) string {
	if strings.HasPrefix(to, ".") {
		return p.find(path.Join(path.Dir(at), to))
	}
	if rest, ok := strings.CutPrefix(to, p.name); ok && (rest == "" || rest[0] == '/') {
		return p.entry(strings.TrimPrefix(rest, "/"))
	}
	return ""
}

// export resolves what a name of a file stands for.
func (p *Package) export(at, name string, l local, depth int) *Export {
	e := &Export{Name: name, Members: map[string]Decl{}}
	if depth > maxDepth {
		e.Open = true
		return e
	}
	if l.path != "" {
		to := p.follow(at, l.path)
		if to == "" { // of another package
			e.Open = true
			return e
		}
		if l.name == "" || l.name == "*" {
			return p.space(e, to)
		}
		f := p.load(to)
		if next, ok := f.exports[l.name]; ok {
			return p.export(to, name, next, depth+1)
		}
		for _, s := range f.stars {
			if over := p.follow(to, s); over != "" {
				if found := p.export(to, name, local{s, l.name}, depth+1); len(found.Decls) > 0 {
					return found
				}
			}
		}
		if f.assign != "" {
			return p.export(to, name, local{"", f.assign}, depth+1)
		}
		e.Open = true
		return e
	}
	f := p.load(at)
	for _, i := range f.byName[l.name] {
		e.Decls = append(e.Decls, f.decls[i])
	}
	if len(e.Decls) == 0 {
		if i, ok := f.imports[l.name]; ok {
			return p.export(at, name, i, depth+1)
		}
		e.Open = true
		return e
	}
	p.members(e, at, f, l.name, depth)
	return e
}

// space makes a namespace of a whole module. One that contains itself is not followed.
func (p *Package) space(e *Export, at string) *Export {
	m, ok := p.spaces[at]
	if !ok {
		p.spaces[at] = nil
		m = &Module{Exports: map[string]*Export{}}
		p.offer(m, at, 0, map[string]bool{})
		p.spaces[at] = m
	}
	if m == nil {
		e.Open = true
		return e
	}
	for name, x := range m.Exports {
		d := Decl{Name: e.Name + "." + name}
		if len(x.Decls) > 0 {
			d = x.Decls[0]
		}
		e.Members[name] = d
	}
	e.Open, e.space = m.Open, true
	return e
}

// members adds those that a declaration states and inherits.
func (p *Package) members(e *Export, at string, f *file, name string, depth int) {
	for _, d := range f.decls {
		if rest, ok := strings.CutPrefix(d.Name, name+"."); ok && !strings.Contains(rest, ".") {
			if _, ok := e.Members[rest]; !ok {
				e.Members[rest] = d
			}
		}
	}
	for _, d := range e.Decls {
		switch d.Kind {
		case "class", "interface":
			e.Open = e.Open || strings.Contains(d.Signature, " implements ") && d.Kind == "interface"
		case "enum", "namespace", "module":
		default:
			e.Open = true // what a type or a value has is for a type checker
		}
	}
	bases := f.bases[name]
	if bases == "" {
		return
	}
	bases, _, _ = strings.Cut(bases, " implements ")
	for _, b := range splitTop(bases) {
		plain, _, _ := strings.Cut(b, "<")
		plain = strings.TrimSpace(plain)
		l := local{"", plain}
		if i, ok := f.imports[plain]; ok {
			l = i
		}
		base := p.export(at, plain, l, depth+1)
		e.Open = e.Open || base.Open
		for n, d := range base.Members {
			if _, ok := e.Members[n]; !ok {
				e.Members[n] = d
			}
		}
	}
}

// splitTop cuts at commas that are in no brackets.
func splitTop(s string) (out []string) {
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '<', '(', '{', '[':
			depth++
		case '>', ')', '}', ']':
			if s[i] == '>' && i > 0 && s[i-1] == '=' {
				continue // an arrow
			}
			depth--
		case ',':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// arity returns how many arguments a signature takes, at least and at most; -1 for
// any number, and false when it is none of a function.
func arity(sig, name string) (least, most int, ok bool) {
	i := strings.Index(sig, name)
	if i < 0 {
		return 0, 0, false
	}
	rest := sig[i+len(name):]
	if strings.HasPrefix(rest, "<") { // type parameters
		depth := 0
		for j := range len(rest) {
			if rest[j] == '<' {
				depth++
			}
			if rest[j] == '>' && (j == 0 || rest[j-1] != '=') {
				if depth--; depth == 0 {
					rest = rest[j+1:]
					break
				}
			}
		}
	}
	if !strings.HasPrefix(rest, "(") {
		return 0, 0, false
	}
	depth, end := 0, -1
	for j := range len(rest) {
		if rest[j] == '(' {
			depth++
		} else if rest[j] == ')' {
			if depth--; depth == 0 {
				end = j
				break
			}
		}
	}
	if end < 0 {
		return 0, 0, false
	}
	for _, a := range splitTop(rest[1:end]) {
		a = strings.TrimSpace(a)
		head, _, _ := strings.Cut(a, ":")
		switch {
		case a == "" || strings.HasPrefix(a, "this:") || strings.HasPrefix(a, "this "):
		case strings.HasPrefix(a, "..."):
			return least, -1, true
		case strings.HasSuffix(strings.TrimSpace(head), "?") || strings.Contains(a, "="):
			most++
		default:
			least++
			most++
		}
	}
	return least, most, true
}

// maxCall is how many lines of a call are read.
const maxCall = 60

// passed counts the arguments of the first call of a name on a line; false when it
// is not called there, or with what is spread, or goes on for long.
func passed(lines []string, line int, name string) (int, bool) {
	text := strings.Join(lines[line-1:min(line-1+maxCall, len(lines))], "\n")
	i := strings.Index(text, name+"(")
	if i < 0 || i > len(lines[line-1]) || i > 0 && (wordByte(text[i-1])) {
		return 0, false
	}
	from := i + len(name) + 1
	depth, quote := 1, byte(0)
	n, some := 0, false
	for j := from; j < len(text); j++ {
		ch := text[j]
		switch {
		case quote != 0:
			if ch == '\\' {
				j++
			} else if ch == quote {
				quote = 0
			}
			continue
		case ch == '"' || ch == '\'' || ch == '`':
			quote = ch
		case ch == '/' && j+1 < len(text) && (text[j+1] == '/' || text[j+1] == '*'), strings.HasPrefix(text[j:], "...") && depth == 1:
			return 0, false
		case ch == '(' || ch == '[' || ch == '{':
			depth++
		case ch == ')' || ch == ']' || ch == '}':
			if depth--; depth == 0 {
				if some {
					n++
				}
				return n, true
			}
		case ch == ',' && depth == 1:
			n++
			some = false
			continue
		}
		some = some || ch > ' '
	}
	return 0, false
}

func wordByte(b byte) bool {
	return b == '_' || b == '$' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// takes reports whether one of several signatures takes that many arguments; true
// where it is not known.
func takes(decls []Decl, name string, n int) bool {
	for _, d := range decls {
		least, most, ok := arity(d.Signature, name)
		if !ok || n >= least && (most < 0 || n <= most) {
			return true
		}
	}
	return len(decls) == 0
}
