package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/upgrade/declared"
)

// compiler is the TypeScript that judges, unless it is what is upgraded.
const compiler = "typescript@5.4.5"

// npmPairs compares the lines that we say break with those that tsc refuses with
// the new version and not with the old.
func npmPairs(r *lab.Report, work string, rows [][]string) error {
	r.Printf("## TypeScript: lines that break\n\n")
	for _, p := range []string{"npm", "node", "tar"} {
		if _, err := exec.LookPath(p); err != nil {
			r.Printf("skipped: no program %s on the PATH\n\n", p)
			return nil
		}
	}
	set := declared.NewSet(filepath.Join(work, "grammars"))
	defer set.Close()
	table := [][]string{{"project", "dependency", "from", "to", "tsc", "ours", "both", "precision", "recall"}}
	var all score
	var notes []string
	n := 0
	for i, row := range rows {
		p := npmPair{id: row[0], dep: row[1], from: row[2], to: row[3], dir: filepath.Join(work, "npm-"+strings.NewReplacer("/", "+", "@", "+").Replace(strings.Join(row, "+")))}
		s, err := p.run(set)
		fmt.Fprintf(os.Stderr, "%d of %d: %s %s: %+v %v\n", i+1, len(rows), row[0], row[1], s, err)
		if err != nil {
			notes = append(notes, fmt.Sprintf("skipped: %s, %s %s: %v", p.id, p.dep, p.to, err))
			continue
		}
		n++
		all.add(s)
		table = append(table, []string{p.id, p.dep, p.from, p.to, fmt.Sprint(s.theirs), fmt.Sprint(s.ours), fmt.Sprint(s.both), s.precision(), s.recall()})
		for _, l := range p.only {
			notes = append(notes, fmt.Sprintf("%s, %s: only ours: %s %s", p.id, p.dep, l, p.says[l]))
		}
		for _, l := range p.lacking {
			notes = append(notes, fmt.Sprintf("%s, %s: only tsc: %s %s", p.id, p.dep, l, p.said[l]))
		}
	}
	r.Table(table...)
	r.Printf("%d pairs, %d lines that tsc refuses: precision %s, recall %s (bounds 0.85, 0.60).\n\n", n, all.theirs, all.precision(), all.recall())
	for _, l := range notes {
		r.Printf("- %s\n", l)
	}
	r.Printf("\n")
	return nil
}

// npmPair is one project with one dependency.
type npmPair struct {
	id, dep, from, to, dir string
	only, lacking          []string
	said                   map[string]string // what tsc says of a line
	says                   map[string]string // what we say
}

const tsconfig = `{"compilerOptions":{"noEmit":true,"strict":true,"skipLibCheck":true,"target":"es2020","module":"esnext","moduleResolution":"bundler",
"jsx":"react-jsx","esModuleInterop":true,"experimentalDecorators":true,"resolveJsonModule":true,"lib":["es2022","dom","dom.iterable"],"types":["node"]},
"include":["project/**/*.ts","project/**/*.tsx"],"exclude":["project/**/*.d.ts","**/__tests__/**","**/test/**","**/tests/**","**/*.test.ts","**/*.test.tsx","**/*.spec.ts"]}
`

func (p *npmPair) run(set *declared.Set) (score, error) {
	var t struct {
		Skipped  string
		Old, New map[string]string
	}
	if _, err := os.Stat(p.dir + ".json"); err != nil && keptOnly {
		return score{}, errNotAsked
	}
	if text, err := os.ReadFile(p.dir + ".json"); err != nil || json.Unmarshal(text, &t) != nil {
		var why error
		if t.Old, t.New, why = p.ask(); why != nil {
			t.Skipped = why.Error()
		}
		text, err := json.Marshal(t)
		if err != nil {
			return score{}, err
		}
		if err := os.WriteFile(p.dir+".json", text, 0o644); err != nil {
			return score{}, err
		}
	}
	if t.Skipped != "" {
		return score{}, errors.New(t.Skipped)
	}
	theirs := map[string]bool{}
	for l := range t.New {
		if _, ok := t.Old[l]; !ok {
			theirs[l] = true
		}
	}
	if len(theirs) == 0 {
		return score{}, errors.New("tsc says nothing new")
	}
	if askOnly {
		return score{theirs: len(theirs)}, nil
	}
	ours, err := p.check(set)
	if err != nil {
		return score{}, err
	}
	for l := range t.Old { // what is wrong there anyway is for neither side
		delete(ours, l)
	}
	p.said = t.New
	p.only, p.lacking = differences(ours, theirs), differences(theirs, ours)
	return compare(ours, theirs), nil
}

// check is our side.
func (p *npmPair) check(set *declared.Set) (map[string]bool, error) {
	ctx := context.Background()
	open := func(version string) *declared.Package {
		modules := os.DirFS(filepath.Join(p.dir, version))
		return declared.Open(ctx, set, p.dep, declared.Installed(p.dep, os.DirFS(filepath.Join(p.dir, version, filepath.FromSlash(p.dep))), modules))
	}
	old, next := open("old"), open("new")
	// What else is installed lies beside the project, where it has none of its own.
	if err := os.Symlink(filepath.Join("..", "node_modules"), filepath.Join(p.dir, "project", "node_modules")); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	ours := map[string]bool{}
	p.says = map[string]string{}
	err := declared.NewProject(ctx, set, os.DirFS(filepath.Join(p.dir, "project")), old, next).Sites(func(file string, sites []declared.Site) {
		if !judged(file) {
			return
		}
		for _, s := range sites {
			if line := fmt.Sprintf("%s:%d", s.Path, s.Line); !s.Warns && !ours[line] {
				ours[line] = true
				p.says[line] = s.Says
			}
		}
	})
	return ours, err
}

var leftOutRE = regexp.MustCompile(`\.d\.ts$|(^|/)(__tests__|tests?)/|\.(test|spec)\.tsx?$`)

// judged reports whether tsc reads a file.
func judged(file string) bool {
	return regexp.MustCompile(`\.tsx?$`).MatchString(file) && !leftOutRE.MatchString(file)
}

// ask has tsc look at the project with both versions.
func (p *npmPair) ask() (old, now map[string]string, err error) {
	if err := os.RemoveAll(p.dir); err != nil {
		return nil, nil, err
	}
	project := filepath.Join(p.dir, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		return nil, nil, err
	}
	out, err := program(p.dir, 3*time.Minute, "npm", "pack", "--silent", p.id)
	if err != nil {
		return nil, nil, fmt.Errorf("it cannot be got: %s", kept(out))
	}
	packed := strings.Fields(out)
	if out, err := program(p.dir, time.Minute, "tar", "-xzf", packed[len(packed)-1], "-C", project, "--strip-components=1"); err != nil {
		return nil, nil, fmt.Errorf("it cannot be unpacked: %s", kept(out))
	}
	sources := 0
	_ = filepath.WalkDir(project, func(at string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(project, at); err == nil && !d.IsDir() && judged(filepath.ToSlash(rel)) {
			sources++
		}
		return nil
	})
	if sources == 0 {
		return nil, nil, errors.New("it ships no sources in TypeScript")
	}
	if err := p.manifest(project); err != nil {
		return nil, nil, err
	}
	for _, v := range []struct{ version, keep string }{{p.from, "old"}, {p.to, "new"}} {
		found, err := p.errors(v.version, v.keep)
		if err != nil {
			return nil, nil, err
		}
		if old == nil {
			old = found
		} else {
			now = found
		}
	}
	return old, now, nil
}

// manifest writes what the project needs, without what only its own build does.
func (p *npmPair) manifest(project string) error {
	text, err := os.ReadFile(filepath.Join(project, "package.json"))
	if err != nil {
		return err
	}
	var m struct {
		Dependencies, PeerDependencies, DevDependencies map[string]string
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	need := map[string]string{}
	for _, list := range []map[string]string{m.PeerDependencies, m.Dependencies} {
		for n, v := range list {
			if !strings.Contains(v, ":") {
				need[n] = v
			}
		}
	}
	for n, v := range m.DevDependencies {
		if strings.HasPrefix(n, "@types/") && !strings.Contains(v, ":") {
			need[n] = v
		}
	}
	delete(need, p.dep)
	delete(need, "typescript")
	need["@types/node"] = "20"
	text, err = json.Marshal(map[string]any{"name": "judged", "private": true, "dependencies": need})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.dir, "package.json"), text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, "tsconfig.json"), []byte(tsconfig), 0o644)
}

var tscRE = regexp.MustCompile(`(?m)^project/(.+?)\((\d+),\d+\): error (TS\d+: .*)$`)

// errors installs a version, keeps its declarations, and returns what tsc says by line.
func (p *npmPair) errors(version, keep string) (map[string]string, error) {
	install := []string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", "--loglevel=error", p.dep + "@" + version}
	tsc := filepath.Join("node_modules", ".bin", "tsc")
	if p.dep == "typescript" { // the compiler that judges lies elsewhere
		tsc = filepath.Join(p.dir, "judge", "node_modules", ".bin", "tsc")
		if why := lab.Npm(filepath.Join(p.dir, "judge"), compiler); why != "" {
			return nil, errors.New(why)
		}
	} else {
		install = append(install, compiler)
	}
	if out, err := program(p.dir, 4*time.Minute, "npm", install...); err != nil {
		return nil, fmt.Errorf("npm install of %s does not work: %s", version, kept(out))
	}
	typed := "@types/" + strings.Replace(strings.TrimPrefix(p.dep, "@"), "/", "__", 1)
	major, _, _ := strings.Cut(version, ".")
	if keep == "old" {
		// Many have none; what matters is whether tsc knows the package.
		_, _ = program(p.dir, 2*time.Minute, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", "--loglevel=error", typed+"@"+major)
	}
	for _, name := range []string{p.dep, typed} {
		from := filepath.Join(p.dir, "node_modules", filepath.FromSlash(name))
		if _, err := os.Stat(from); err != nil {
			continue
		}
		if err := os.CopyFS(filepath.Join(p.dir, keep, filepath.FromSlash(name)), os.DirFS(from)); err != nil {
			return nil, err
		}
	}
	out, err := program(p.dir, 4*time.Minute, tsc, "-p", ".", "--pretty", "false")
	found := map[string]string{}
	out = strings.ReplaceAll(out, p.dir+"/", "")
	for _, m := range tscRE.FindAllStringSubmatch(out, -1) {
		if l := m[1] + ":" + m[2]; found[l] == "" {
			found[l] = fmt.Sprintf("%.100s", m[3])
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if err != nil && len(found) == 0 {
		return nil, fmt.Errorf("tsc: %s", kept(out))
	}
	return found, nil
}
