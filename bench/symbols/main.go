// Command symbols compares the declarations that package syntax reads with
// those of each language's own compiler or parser, by kind, qualified name and
// line of the name. Run it with ".ci/extra symbols". A row of the table below
// is one language: its files, and the program that lists what is declared in
// them. What the machine lacks is skipped, and said.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/code/syntax"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	minBytes = 1 << 10 // of a file
	maxBytes = 300 << 10
	least    = 0.98 // precision and recall
	shown    = 40   // disagreements that a report lists of a row
)

// sample is how many files a row has.
var sample = flag.Int("files", 200, "files of each row")

// row is one language.
type row struct {
	name      string
	reference string            // what it is compared with, for the report
	languages map[string]string // by extension
	repos     []string          // GitHub repositories the files are taken from
	skip      *regexp.Regexp    // paths left out, nil for none
	sample    int               // files to take instead of -files, as the reference refuses many; 0 as many
	// prepare returns the command of the reference program, which reads paths
	// and prints lines of JSON, or why it cannot be run here.
	prepare func(here, scratch string) (command []string, why string)
}

// classes are what kinds come down to when they are compared.
var classes = map[string]string{
	"function": "function", "method": "function", "constructor": "function", "getter": "function", "setter": "function", "macro": "function", "operator": "function", "destructor": "function",
	"class": "type", "interface": "type", "enum": "type", "record": "type", "annotation": "type", "type": "type", "struct": "type", "trait": "type", "union": "type",
	"const": "value", "var": "value", "enumerator": "value",
	"namespace": "space", "module": "space",
}

var jsLanguages = map[string]string{".js": "javascript", ".cjs": "javascript", ".mjs": "javascript", ".jsx": "javascript"}
var tsLanguages = map[string]string{".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx"}

var rows = []row{
	{name: "JavaScript", reference: "TypeScript compiler", languages: jsLanguages, repos: []string{"fastify/fastify", "socketio/socket.io", "preactjs/preact", "eslint/eslint"}, prepare: typescript},
	{name: "TypeScript", reference: "TypeScript compiler", languages: tsLanguages, repos: []string{"vitejs/vite", "TanStack/query", "vuejs/core", "excalidraw/excalidraw"}, prepare: typescript},
	{name: "Java", reference: "javac's parser", languages: map[string]string{".java": "java"}, repos: []string{"google/gson", "apache/commons-lang", "netty/netty"}, prepare: javac},
	{name: "Python", reference: "CPython's ast", languages: map[string]string{".py": "python"}, repos: []string{"pallets/flask", "celery/celery", "networkx/networkx", "sqlalchemy/sqlalchemy"}, prepare: cpython},
	{name: "Ruby", reference: "CRuby's parser", languages: map[string]string{".rb": "ruby"}, repos: []string{"rails/rails", "puma/puma", "jekyll/jekyll", "rack/rack"}, prepare: program("ruby", "reference.rb")},
	{name: "PHP", reference: "PHP's scanner", languages: map[string]string{".php": "php"}, repos: []string{"composer/composer", "Seldaek/monolog", "guzzle/guzzle", "sebastianbergmann/phpunit"}, prepare: program("php", "reference.php")},
	{name: "Elixir", reference: "Elixir's parser", languages: map[string]string{".ex": "elixir", ".exs": "elixir"}, repos: []string{"elixir-ecto/ecto", "oban-bg/oban", "phoenixframework/phoenix", "absinthe-graphql/absinthe"}, prepare: program("elixir", "reference.exs")},
	{name: "Rust", reference: "syn", languages: map[string]string{".rs": "rust"}, repos: []string{"BurntSushi/ripgrep", "clap-rs/clap", "hyperium/hyper", "tokio-rs/axum", "serde-rs/serde"}, prepare: rust},
	{name: "C", reference: "clang", languages: map[string]string{".c": "c", ".h": "c"}, repos: cRepos, skip: generatedC, sample: 350, prepare: libclang},
}

// program runs a script beside this file with a program of the PATH.
func program(name, script string) func(here, scratch string) ([]string, string) {
	return func(here, _ string) ([]string, string) {
		if _, err := exec.LookPath(name); err != nil {
			return nil, "no program " + name + " on the PATH"
		}
		return []string{name, filepath.Join(here, script)}, ""
	}
}

func typescript(here, scratch string) ([]string, string) {
	if _, err := exec.LookPath("node"); err != nil {
		return nil, "no program node on the PATH"
	}
	dir := filepath.Join(scratch, "npm")
	if why := lab.Npm(dir, "typescript@5"); why != "" {
		return nil, why
	}
	return []string{"node", filepath.Join(here, "reference.js"), filepath.Join(dir, "node_modules", "typescript")}, ""
}

func javac(here, _ string) ([]string, string) {
	if _, err := exec.LookPath("javac"); err != nil {
		return nil, "no program javac on the PATH"
	}
	return []string{"java", "--add-modules", "jdk.compiler", filepath.Join(here, "Reference.java")}, ""
}

func cpython(here, _ string) ([]string, string) {
	if _, err := exec.LookPath("python3"); err != nil {
		return nil, "no program python3 on the PATH"
	}
	return []string{"python3", filepath.Join(here, "reference.py")}, ""
}

// symbol is what is compared.
type symbol struct {
	Class, Name string
	Line        int
}

// UnmarshalJSON reads [class, qualified name, line].
func (s *symbol) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&s.Class, &s.Name, &s.Line})
}

func (s symbol) String() string { return fmt.Sprintf("%s %s, line %d", s.Class, s.Name, s.Line) }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "symbols:", err)
		os.Exit(1)
	}
}

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	mirror := flag.String("mirror", "", "folder of checkouts or git directories called OWNER+NAME, instead of github.com")
	only := flag.String("only", "", "the rows to run, by name, separated by commas")
	full := flag.Bool("all", false, "print all disagreements to standard error")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	scratch, err := lab.Scratch("symbols")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if *recording {
		return record(root, scratch, *only)
	}
	commit, err := lab.Command(root, nil, "git", "rev-parse", "--short", "HEAD")
	if err != nil {
		return err
	}
	set := &grammar.Set{Wanted: syntax.Wanted}
	defer set.Close()
	var r, rest lab.Report
	r.Printf("# Symbols against references, %s\n\nCommit %s. %s. Written by `.ci/extra symbols`.\n\n", time.Now().Format(time.DateOnly), strings.TrimSpace(commit), lab.Machine())
	r.Printf("Declarations are the same when kind (function, type, value, name space), qualified name and line of the name are. Of each row %d files of %d to %d kB, from each repository in turn, by the hash of their paths; those that the reference refuses are left out.\n\n", *sample, minBytes>>10, maxBytes>>10)
	r.Printf("| language | reference | files | refused | theirs | ours | precision | recall | verdict |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	failed := false
	for _, w := range rows {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), w.name) {
			continue
		}
		res, why := w.run(set, root, scratch, *mirror)
		if why != "" {
			fmt.Printf("skipped: %s: %s\n", w.name, why)
			r.Printf("| %s | skipped: %s | | | | | | | |\n", w.name, why)
			continue
		}
		p, c := float64(res.same)/float64(max(res.ours, 1)), float64(res.same)/float64(max(res.theirs, 1))
		verdict := "holds"
		if p < least || c < least || res.files == 0 {
			verdict, failed = "fails", true
		}
		line := fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %.4f | %.4f | %s |\n", w.name, w.reference, res.files, res.refused, res.theirs, res.ours, p, c, verdict)
		fmt.Print(line)
		r.Printf("%s", line)
		rest.Printf("\n## %s\n\nFrom %s. %d disagreements", w.name, strings.Join(res.from, ", "), len(res.differ))
		if len(res.differ) > shown {
			rest.Printf(", of which %d evenly taken", shown)
		}
		rest.Printf(":\n\n")
		for i := range min(shown, len(res.differ)) {
			rest.Printf("- %s\n", res.differ[i*len(res.differ)/min(shown, len(res.differ))])
		}
		if *full {
			fmt.Fprintln(os.Stderr, strings.Join(res.differ, "\n"))
		}
	}
	r.Printf("%s", rest.String())
	p, err := r.Write(*out, "symbols")
	if err != nil {
		return err
	}
	fmt.Println(p)
	if failed {
		return errors.New("a row is below the bound, see the report")
	}
	return nil
}

// result is what came out of a row.
type result struct {
	files, refused, theirs, ours, same int
	from, differ                       []string
}

func (w *row) run(set *grammar.Set, root, scratch, mirror string) (res result, why string) {
	command, why := w.prepare(filepath.Join(root, "bench", "symbols"), scratch)
	if why != "" {
		return res, why
	}
	files, why := w.files(&res, filepath.Join(scratch, w.name), mirror)
	if why != "" {
		return res, why
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n") + "\n")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	said, err := cmd.Output()
	if err != nil {
		return res, fmt.Sprintf("the reference fails: %v: %.300s", err, errs.String())
	}
	in := bufio.NewScanner(bytes.NewReader(said))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var x struct {
			File, Error string
			Symbols     []symbol
			Skipped     [][2]int // lines that the reference does not read
		}
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			return res, fmt.Sprintf("the reference prints no JSON: %v", err)
		}
		rel, _ := filepath.Rel(filepath.Join(scratch, w.name), x.File)
		if x.Error != "" {
			res.refused++
			fmt.Printf("refused: %s: %.100s\n", rel, x.Error)
			continue
		}
		ours, err := read(set, w.languages[filepath.Ext(x.File)], x.File)
		if kb.CodeOf(err) == kb.Unsupported {
			// What the grammar gives up at counts as missed.
			res.differ = append(res.differ, fmt.Sprintf("%s: %v", filepath.ToSlash(rel), err))
		} else if err != nil {
			return res, fmt.Sprintf("%s: %v", rel, err)
		}
		ours = slices.DeleteFunc(ours, func(s symbol) bool {
			return slices.ContainsFunc(x.Skipped, func(r [2]int) bool { return s.Line >= r[0] && s.Line <= r[1] })
		})
		res.files++
		res.theirs += len(x.Symbols)
		res.ours += len(ours)
		left := map[symbol]int{}
		for _, s := range x.Symbols {
			left[s]++
		}
		for _, s := range ours {
			left[s]--
		}
		missed := 0
		for _, s := range slices.SortedFunc(maps.Keys(left), func(a, b symbol) int { return a.Line - b.Line }) {
			n := left[s]
			if n > 0 {
				missed += n
				res.differ = append(res.differ, fmt.Sprintf("%s: only theirs: %s", filepath.ToSlash(rel), s))
			} else if n < 0 {
				res.differ = append(res.differ, fmt.Sprintf("%s: only ours: %s", filepath.ToSlash(rel), s))
			}
		}
		res.same += len(x.Symbols) - missed
	}
	return res, ""
}

// read returns the declarations of a file as they are compared.
func read(set *grammar.Set, language, path string) ([]symbol, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	o, err := syntax.Read(context.Background(), set, language, string(b))
	if err != nil {
		return nil, err
	}
	var out []symbol
	for _, d := range o.Decls {
		class := classes[d.Kind]
		if class == "" {
			class = d.Kind
		}
		out = append(out, symbol{class, strings.Join(append(slices.Clone(d.Path), d.Name), "."), d.Line + 1})
	}
	return out, nil
}

// files writes the sample below dir and returns its paths: from each repository
// in turn the next one, in an order that is by chance and the same every time.
func (w *row) files(res *result, dir, mirror string) (paths []string, why string) {
	type file struct{ git, repo, path string }
	var queues [][]file
	for _, repo := range w.repos {
		git, err := checkout(repo, filepath.Dir(dir), mirror)
		if err != nil {
			return nil, fmt.Sprintf("%s cannot be had: %v", repo, err)
		}
		commit, err1 := lab.Command("", nil, "git", "-C", git, "rev-parse", "--short", "HEAD")
		listed, err2 := lab.Command("", nil, "git", "-C", git, "ls-tree", "-r", "-l", "-z", "HEAD")
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Sprintf("%s cannot be read: %v", repo, err)
		}
		res.from = append(res.from, repo+" "+strings.TrimSpace(commit))
		var queue []file
		for entry := range strings.SplitSeq(listed, "\x00") {
			meta, path, _ := strings.Cut(entry, "\t")
			f := strings.Fields(meta)
			if len(f) != 4 || f[1] != "blob" || f[0] == "120000" || w.languages[filepath.Ext(path)] == "" || w.skip != nil && w.skip.MatchString(path) {
				continue
			}
			if n, err := strconv.Atoi(f[3]); err == nil && n >= minBytes && n <= maxBytes {
				queue = append(queue, file{git, strings.ReplaceAll(repo, "/", "+"), path})
			}
		}
		slices.SortFunc(queue, func(a, b file) int {
			x, y := sha256.Sum256([]byte(a.path)), sha256.Sum256([]byte(b.path))
			return bytes.Compare(x[:], y[:])
		})
		queues = append(queues, queue)
	}
	for i := 0; len(paths) < max(*sample, w.sample); i++ {
		if !slices.ContainsFunc(queues, func(q []file) bool { return len(q) > i }) {
			break
		}
		for _, q := range queues {
			if i >= len(q) || len(paths) == max(*sample, w.sample) {
				continue
			}
			text, err := exec.Command("git", "-C", q[i].git, "cat-file", "blob", "HEAD:"+q[i].path).Output()
			if err != nil {
				return nil, fmt.Sprintf("%s cannot be read: %v", q[i].path, err)
			}
			to := filepath.Join(dir, q[i].repo, filepath.FromSlash(q[i].path))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return nil, err.Error()
			}
			if err := os.WriteFile(to, text, 0o644); err != nil {
				return nil, err.Error()
			}
			paths = append(paths, to)
		}
	}
	slices.Sort(paths)
	return paths, ""
}

// checkout returns the git directory of a repository: one of the mirror, or
// cloned below scratch, once.
func checkout(repo, scratch, mirror string) (string, error) {
	name := strings.ReplaceAll(repo, "/", "+")
	if mirror != "" {
		git := filepath.Join(mirror, name)
		if _, err := os.Stat(filepath.Join(git, "repo")); err == nil {
			git = filepath.Join(git, "repo")
		}
		_, err := os.Stat(git)
		return git, err
	}
	git := filepath.Join(scratch, name+".git")
	if _, err := os.Stat(git); err == nil {
		return git, nil
	}
	_, err := lab.Command(scratch, nil, "git", "clone", "--quiet", "--bare", "--depth", "1", "https://github.com/"+repo, git)
	return git, err
}
