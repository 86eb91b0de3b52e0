package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// module is a Go module, what the linker made of it and what others say.
type module struct {
	name  string
	dir   string
	view  *graph.View
	files map[string]bool   // that the reference looked at
	decls map[string]bool   // path:line of functions and methods there
	calls map[string]string // call → name of what is called; "path:line → path:line"
	more  map[string]string // those in all functions, see the reference
}

func newModule(dir string, patterns []string, scratch, reference string) (*module, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &module{name: filepath.Base(dir), dir: dir, files: map[string]bool{}, decls: map[string]bool{}, calls: map[string]string{}, more: map[string]string{}}
	src, err := newFolder(dir)
	if err != nil {
		return nil, err
	}
	p := filepath.Join(scratch, m.name+".view")
	if _, err := graph.Link(context.Background(), src, nil, p, nil); err != nil {
		return nil, err
	}
	if m.view, err = graph.Open(p); err != nil {
		return nil, err
	}
	cmd := exec.Command(reference, append([]string{dir}, patterns...)...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", reference, err, complaints.String())
	}
	if complaints.Len() > 0 {
		fmt.Fprintf(os.Stderr, "%s: %s", m.name, complaints.String())
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		switch {
		case f[0] == "file" && len(f) == 2:
			m.files[f[1]] = true
		case f[0] == "decl" && len(f) == 3:
			m.decls[f[1]+":"+f[2]] = true
		case f[0] == "call" && len(f) == 6:
			m.calls[f[1]+":"+f[2]+" → "+f[3]+":"+f[4]] = f[5]
		case f[0] == "more" && len(f) == 6:
			m.more[f[1]+":"+f[2]+" → "+f[3]+":"+f[4]] = f[5]
		}
	}
	for _, calls := range []map[string]string{m.calls, m.more} {
		for c := range calls { // of files that were not looked at
			from, to, _ := strings.Cut(c, " → ")
			if file, _, _ := strings.Cut(from, ":"); !m.decls[to] || !m.files[file] {
				delete(calls, c)
			}
		}
	}
	return m, nil
}

func spot(path string, line int) string { return path + ":" + strconv.Itoa(line) }

// compareCalls counts the calls of functions and methods by name, which are
// those that static finds too.
func compareCalls(r *lab.Report, mods []*module) {
	r.Printf("## Calls\n\nA call is a line and the function or method declared that it reaches. Calls through interfaces, variables and fields are outside of what static calls are and are left out on both sides. `static.CallGraph` enters no closure that is passed on as a value, so \"with closures\" applies its rule (`StaticCallee`) to every function.\n\n")
	rows := [][]string{{"module", "files", "reference", "its calls", "ours", "both", "precision", "recall"}}
	var wrong, missing []string
	for _, m := range mods {
		ours := map[string]string{}
		for f := range m.files {
			es, err := m.view.Out(kb.Spot{Path: f})
			if err != nil {
				r.Printf("%s: %v\n", f, err)
			}
			for _, e := range es {
				if to := spot(e.To.Path, e.To.Line); e.Kind == kb.UseCall && m.decls[to] {
					ours[spot(f, e.From.Line)+" → "+to] = e.To.Decl
				}
			}
		}
		for _, ref := range []struct {
			name  string
			calls map[string]string
		}{{"static.CallGraph", m.calls}, {"with closures", m.more}} {
			both := 0
			for c := range ours {
				if _, ok := ref.calls[c]; ok {
					both++
				}
			}
			rows = append(rows, []string{m.name, strconv.Itoa(len(m.files)), ref.name, strconv.Itoa(len(ref.calls)), strconv.Itoa(len(ours)), strconv.Itoa(both),
				fmt.Sprintf("%.4f", float64(both)/float64(max(len(ours), 1))), fmt.Sprintf("%.4f", float64(both)/float64(max(len(ref.calls), 1)))})
		}
		for c, name := range ours {
			if _, ok := m.more[c]; !ok {
				wrong = append(wrong, m.name+" "+c+" "+name)
			}
		}
		for c, name := range m.more {
			if _, ok := ours[c]; !ok {
				missing = append(missing, m.name+" "+c+" "+name)
			}
		}
	}
	r.Table(rows...)
	list(r, "Ours alone (with closures)", wrong)
	list(r, "The reference's alone", missing)
}

// list shows a sample of disagreements, the same one every time.
func list(r *lab.Report, title string, items []string) {
	if len(items) == 0 {
		return
	}
	shuffle(items)
	n := min(len(items), 15)
	r.Printf("%s, %d of %d:\n\n", title, n, len(items))
	for _, s := range items[:n] {
		r.Printf("- `%s`\n", s)
	}
	r.Printf("\n")
}

// shuffle orders by hash: any order, but the same one every time.
func shuffle(items []string) {
	key := func(s string) string { h := sha256.Sum256([]byte(s)); return string(h[:]) }
	slices.SortFunc(items, func(a, b string) int { return strings.Compare(key(a), key(b)) })
}

// compareReferences asks gopls for the references of n symbols and compares lines.
func compareReferences(r *lab.Report, mods []*module, gopls string, n int) {
	r.Printf("## References\n\n")
	version, err := exec.Command(gopls, "version").Output()
	if err != nil || len(mods) == 0 || n == 0 {
		r.Printf("Skipped: no program gopls, or nothing to ask it.\n\n")
		return
	}
	v, _, _ := strings.Cut(strings.TrimSpace(string(version)), "\n")
	r.Printf("%s, `gopls references`, lines of files that both see. Symbols are drawn by hash from all package-level functions, methods, types, constants, variables and fields that are used at least twice.\n\n", v)
	rows := [][]string{{"module", "symbols", "equal", "lines of gopls", "ours", "both"}}
	var differ []string
	for i, m := range mods {
		k := n / len(mods)
		if i < n%len(mods) {
			k++
		}
		asked, equal, theirs, ours, both := 0, 0, 0, 0, 0
		for _, d := range m.drawn() {
			if asked == k {
				break
			}
			mine, err := m.lines(d)
			if err != nil || len(mine) < 2 {
				continue
			}
			got, err := m.ask(gopls, d)
			if err != nil {
				differ = append(differ, fmt.Sprintf("%s %s %s: %v", m.name, spot(d.Path, d.Line), d.Qualified, err))
				continue
			}
			asked++
			common := 0
			for l := range got {
				if mine[l] {
					common++
				}
			}
			theirs, ours, both = theirs+len(got), ours+len(mine), both+common
			if common == len(got) && common == len(mine) {
				equal++
			} else {
				differ = append(differ, fmt.Sprintf("%s %s %s %s: gopls alone %v, ours alone %v", m.name, spot(d.Path, d.Line), d.Kind, d.Qualified, without(got, mine), without(mine, got)))
			}
		}
		rows = append(rows, []string{m.name, strconv.Itoa(asked), strconv.Itoa(equal), strconv.Itoa(theirs), strconv.Itoa(ours), strconv.Itoa(both)})
	}
	r.Table(rows...)
	for _, d := range differ {
		r.Printf("- `%s`\n", d)
	}
	if len(differ) > 0 {
		r.Printf("\n")
	}
}

func without(a, b map[string]bool) []string {
	var out []string
	for s := range a {
		if !b[s] {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	if len(out) > 5 {
		out = append(out[:5], fmt.Sprintf("and %d more", len(out)-5))
	}
	return out
}

// drawn returns the declarations of a module in an order by hash.
func (m *module) drawn() []graph.Decl {
	by := map[string]graph.Decl{}
	var keys []string
	for f := range m.files {
		ds, err := m.view.Symbols(f)
		if err != nil {
			continue
		}
		for _, d := range ds {
			k := fmt.Sprint(d.Path, " ", d.Qualified)
			if _, ok := by[k]; !ok {
				by[k] = d
				keys = append(keys, k)
			}
		}
	}
	shuffle(keys)
	out := make([]graph.Decl, len(keys))
	for i, k := range keys {
		out[i] = by[k]
	}
	return out
}

// lines returns where the view says that a declaration is used.
func (m *module) lines(d graph.Decl) (map[string]bool, error) {
	es, err := m.view.Into(d.Spot())
	out := map[string]bool{}
	for _, e := range es {
		if m.files[e.From.Path] {
			out[spot(e.From.Path, e.From.Line)] = true
		}
	}
	return out, err
}

// ask returns where gopls says that it is.
func (m *module) ask(gopls string, d graph.Decl) (map[string]bool, error) {
	raw, err := os.ReadFile(filepath.Join(m.dir, d.Path))
	if err != nil {
		return nil, err
	}
	line := strings.Split(string(raw), "\n")[d.Line-1]
	col := -1
	for at := 0; ; {
		k := strings.Index(line[at:], d.Name)
		if k < 0 {
			break
		}
		k += at
		before, after := k == 0 || !letter(line[k-1]), k+len(d.Name) == len(line) || !letter(line[k+len(d.Name)])
		// A method's name stands behind its receiver, which may hold the same name.
		if before && after {
			col = k
			if d.Kind != "method" || k+len(d.Name) < len(line) && strings.ContainsRune("([", rune(line[k+len(d.Name)])) {
				break
			}
		}
		at = k + len(d.Name)
	}
	if col < 0 {
		return nil, fmt.Errorf("its name is not on its line")
	}
	cmd := exec.Command(gopls, "references", fmt.Sprintf("%s:%d:%d", filepath.Join(m.dir, d.Path), d.Line, col+1))
	cmd.Dir = m.dir
	b, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for l := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(l), ":")
		if len(f) < 3 {
			continue
		}
		rel, err := filepath.Rel(m.dir, f[0])
		n, err2 := strconv.Atoi(f[1])
		if rel = filepath.ToSlash(rel); err == nil && err2 == nil && m.files[rel] {
			out[spot(rel, n)] = true
		}
	}
	return out, nil
}

func letter(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
