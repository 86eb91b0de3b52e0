package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	module       = "github.com/seed-4f2d999b/knowledge"
	maxLines     = 400 // of a file
	maxTestLines = 800 // of a file of tests
	maxFunction  = 80  // lines of a function, outside of tests
	// maxImports is how many packages of this module a package may import, outside
	// of tests; kb counts too. Programs and tests of the repository (main) are free.
	maxImports = 12
)

// layers from the bottom up. A package imports from lower layers only, never
// from its own. The two "upper" ones are sub-layers: parts and flows that
// build on other parts and flows. In main are programs and tests of the
// repository itself, which nothing imports.
var layers = []string{"kb", "tools", "parts", "upper parts", "flows", "upper flows", "app", "command", "rooms", "upper rooms", "product", "faces", "main"}

// whole are the layers whose external tests use all of the program, on a
// machine that package has for them.
var whole = []string{"app", "rooms", "upper rooms"}

const machine = "internal/product/producttest"

// bannedNames say nothing about what is in a package.
var bannedNames = []string{"util", "utils", "common", "helper", "helpers", "misc"}

// kindNames are the values of the constants kb.Kind….
var kindNames = []string{"folder", "repo", "web"}

// kindHome are the packages that may tell kinds apart: the one that defines
// them and the one that has their table.
var kindHome = []string{"internal/kb", "internal/source"}

// exception allows one breach in one file or package.
type exception struct{ where, what string }

// plan is what ARCHITECTURE.md says.
type plan struct {
	layer      map[string]string // by package: a directory relative to the root
	exceptions map[exception]bool
}

// checker gathers the breaches in one tree.
type checker struct {
	plan
	seen     map[string]bool            // packages that are there
	imports  map[string]map[string]bool // packages of this module that each imports, outside of tests
	used     map[exception]bool         // exceptions that were needed
	breaches []string
}

// check returns every breach of the plan in the Go files below internal and
// cmd, sorted.
func check(tree fs.FS, architecture string) ([]string, error) {
	c := &checker{seen: map[string]bool{}, imports: map[string]map[string]bool{}, used: map[exception]bool{}}
	c.readPlan(architecture)
	for _, top := range []string{"internal", "cmd"} {
		err := fs.WalkDir(tree, top, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
				return fs.SkipDir
			case d.IsDir() || path.Ext(p) != ".go":
				return nil
			}
			src, err := fs.ReadFile(tree, p)
			if err != nil {
				return err
			}
			return c.file(p, src)
		})
		if err != nil {
			return nil, err
		}
	}
	for pkg := range c.layer {
		if !c.seen[pkg] {
			c.breach("%s is listed in ARCHITECTURE.md and not there", pkg)
		}
	}
	for pkg, list := range c.imports {
		if n := len(list); n > maxImports && c.layer[pkg] != "main" && !c.allowed("many imports", pkg) {
			c.breach("%s imports %d packages of this module, more than %d", pkg, n, maxImports)
		}
	}
	for e := range c.exceptions {
		if !c.used[e] {
			c.breach("the exception %q for %s is needed no more", e.what, e.where)
		}
	}
	slices.Sort(c.breaches)
	return slices.Compact(c.breaches), nil
}

func (c *checker) breach(format string, args ...any) {
	c.breaches = append(c.breaches, fmt.Sprintf(format, args...))
}

// readPlan takes the tables headed "package | layer" and "where | exception".
func (c *checker) readPlan(text string) {
	c.plan = plan{layer: map[string]string{}, exceptions: map[exception]bool{}}
	for _, row := range tableRows(text, "package", "layer") {
		if _, twice := c.layer[row[0]]; twice {
			c.breach("%s is listed twice in ARCHITECTURE.md", row[0])
		}
		if !slices.Contains(layers, row[1]) {
			c.breach("%s is in a layer %q that does not exist", row[0], row[1])
		}
		if len(row) != 3 || row[2] == "" {
			c.breach("ARCHITECTURE.md does not say what %s does", row[0])
		}
		c.layer[row[0]] = row[1]
	}
	for _, row := range tableRows(text, "where", "exception") {
		if len(row) != 3 || row[2] == "" {
			c.breach("the exception for %s gives no reason", row[0])
		}
		c.exceptions[exception{row[0], row[1]}] = true
	}
}

// tableRows returns the cells, without backquotes, of the Markdown tables
// whose head begins with the two names.
func tableRows(text, first, second string) [][]string {
	var out [][]string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			row = append(row, strings.ReplaceAll(strings.TrimSpace(cell), "`", ""))
		}
		switch {
		case len(row) >= 2 && row[0] == first && row[1] == second:
			inside = true
		case inside && len(row) >= 2 && strings.Trim(row[0], "-:") != "":
			out = append(out, row)
		}
	}
	return out
}

// allowed reports whether one of the places is an exception.
func (c *checker) allowed(what string, places ...string) bool {
	for _, where := range places {
		if e := (exception{where, what}); c.exceptions[e] {
			c.used[e] = true
			return true
		}
	}
	return false
}

func (c *checker) file(p string, src []byte) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, p, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := path.Dir(p)
	c.seen[pkg] = true
	if _, ok := c.layer[pkg]; !ok {
		c.breach("%s is not listed in ARCHITECTURE.md", pkg)
	}
	test := strings.HasSuffix(p, "_test.go")
	most := maxLines
	if test {
		most = maxTestLines
	}
	if n := bytes.Count(src, []byte("\n")); n > most && !c.allowed("long file", p) {
		c.breach("%s has %d lines, more than %d", p, n, most)
	}
	for _, name := range []string{path.Base(pkg), strings.TrimSuffix(f.Name.Name, "_test")} {
		if slices.Contains(bannedNames, name) {
			c.breach("%s: a package named %s says nothing about what is in it", pkg, name)
		}
	}
	for _, spec := range f.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		c.imported(p, pkg, to, strings.HasSuffix(f.Name.Name, "_test"))
		if strings.HasPrefix(to, module+"/") && !test {
			if c.imports[pkg] == nil {
				c.imports[pkg] = map[string]bool{}
			}
			c.imports[pkg][to] = true
		}
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fn.Recv == nil && fn.Name.Name == "init" && !c.allowed("init", p) {
			c.breach("%s declares init: nothing registers itself here", p)
		}
		if n := files.Position(fn.End()).Line - files.Position(fn.Pos()).Line + 1; n > maxFunction && !test && !c.allowed("long "+fn.Name.Name, p) {
			c.breach("%s: %s has %d lines, more than %d", p, fn.Name.Name, n, maxFunction)
		}
	}
	if !slices.Contains(kindHome, pkg) && !test {
		c.kinds(files, p, f)
	}
	return nil
}

// imported judges one import of a package, in tests as elsewhere.
func (c *checker) imported(file, pkg, to string, external bool) {
	mine, ours := strings.CutPrefix(to, module+"/")
	from, listed := c.layer[pkg]
	if !listed || mine == pkg { // an external test imports what it tests
		return
	}
	if !ours {
		if host, _, _ := strings.Cut(to, "/"); from == "kb" && strings.Contains(host, ".") {
			c.breach("%s imports %s: layer kb takes only the standard library", file, to)
		}
		return
	}
	target, listed := c.layer[mine]
	if !listed {
		c.breach("%s imports %s, which is not listed in ARCHITECTURE.md", file, mine)
		return
	}
	if external && slices.Contains(whole, from) && (slices.Contains(whole, target) || mine == machine) {
		return
	}
	c.door(file, pkg, mine)
	if slices.Index(layers, target) < slices.Index(layers, from) || c.allowed("imports "+mine, file, pkg) {
		return
	}
	way := "up"
	if target == from {
		way = "sideways"
	}
	c.breach("%s imports %s: %s, from %s to %s", file, mine, way, from, target)
}

// door refuses an import of what lies inside of a room, from outside of it, unless
// that is open. Programs and tests of the repository see everything.
func (c *checker) door(file, pkg, mine string) {
	room := path.Dir(mine)
	if !strings.HasSuffix(c.layer[room], "rooms") || c.layer[pkg] == "main" || pkg == room || strings.HasPrefix(pkg, room+"/") {
		return
	}
	if !c.allowed("open", mine) {
		c.breach("%s imports %s, past the door of %s", file, mine, room)
	}
}

// kinds finds comparisons with a kind of store: == and != and the cases of a
// switch. It knows kinds by their constants and, beside something called Kind
// or kind, by their names.
func (c *checker) kinds(files *token.FileSet, p string, f *ast.File) {
	report := func(at ast.Node, e ast.Expr) {
		if !c.allowed("compares kinds", p) {
			c.breach("%s:%d compares with a kind of store (%s) outside the table of kinds", p, files.Position(at.Pos()).Line, kindText(e))
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op != token.EQL && n.Op != token.NEQ {
				break
			}
			for _, pair := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
				if isKind(pair[0], aboutKind(pair[1])) {
					report(n, pair[0])
				}
			}
		case *ast.SwitchStmt:
			about := n.Tag != nil && aboutKind(n.Tag)
			for _, s := range n.Body.List {
				for _, e := range s.(*ast.CaseClause).List {
					if isKind(e, about) {
						report(e, e)
					}
				}
			}
		}
		return true
	})
}

// isKind reports whether e is kb.KindX or, where literals count, "repo".
func isKind(e ast.Expr, literals bool) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		return ok && x.Name == "kb" && strings.HasPrefix(e.Sel.Name, "Kind") && e.Sel.Name != "Kind"
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return literals && err == nil && slices.Contains(kindNames, s)
	}
	return false
}

func aboutKind(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.EqualFold(e.Name, "kind")
	case *ast.SelectorExpr:
		return strings.EqualFold(e.Sel.Name, "kind")
	case *ast.CallExpr: // string(x.Kind)
		return len(e.Args) == 1 && aboutKind(e.Args[0])
	}
	return false
}

func kindText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return "kb." + e.Sel.Name
	case *ast.BasicLit:
		return e.Value
	}
	return "?"
}

// requirements returns the direct and the other requirements of a go.mod.
func requirements(gomod string) (direct, indirect []string) {
	block := false
	for line := range strings.Lines(gomod) {
		line = strings.TrimSpace(line)
		switch {
		case line == "require (":
			block = true
			continue
		case line == ")":
			block = false
			continue
		case strings.HasPrefix(line, "require "):
			line = strings.TrimPrefix(line, "require ")
		case !block:
			continue
		}
		words := strings.Fields(line)
		switch {
		case len(words) < 2 || strings.HasPrefix(words[0], "//"):
		case strings.HasSuffix(line, "// indirect"):
			indirect = append(indirect, words[0])
		default:
			direct = append(direct, words[0])
		}
	}
	return direct, indirect
}

// checkDependencies compares the table headed "module | why" with the direct
// requirements and returns what is wrong.
func checkDependencies(contributing string, direct []string) (wrong []string) {
	listed := map[string]int{}
	for _, row := range tableRows(contributing, "module", "why") {
		listed[row[0]]++
		if row[1] == "" {
			wrong = append(wrong, row[0]+" is listed without a reason")
		}
	}
	for _, m := range direct {
		switch listed[m] {
		case 1:
		case 0:
			wrong = append(wrong, m+" is required by go.mod and not listed in CONTRIBUTING.md")
		default:
			wrong = append(wrong, m+" is listed twice in CONTRIBUTING.md")
		}
		delete(listed, m)
	}
	for _, m := range slices.Sorted(maps.Keys(listed)) {
		wrong = append(wrong, m+" is listed in CONTRIBUTING.md and no direct requirement of go.mod")
	}
	return wrong
}
