package gitignore

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each case is one .gitignore at the root (others by path), a path, and
// whether git ignores it. A path that ends in a slash is a directory.
var ignoreCases = []struct {
	files map[string]string // "" is the root's .gitignore
	path  string
	want  bool
}{
	{map[string]string{"": "foo"}, "foo", true},
	{map[string]string{"": "foo"}, "a/foo", true},
	{map[string]string{"": "foo"}, "foo/bar", true},
	{map[string]string{"": "foo"}, "foobar", false},
	{map[string]string{"": "foo/"}, "foo", false},
	{map[string]string{"": "foo/"}, "foo/", true},
	{map[string]string{"": "foo/"}, "a/foo/x", true},
	{map[string]string{"": "/foo"}, "foo", true},
	{map[string]string{"": "/foo"}, "a/foo", false},
	{map[string]string{"": "a/foo"}, "a/foo", true},
	{map[string]string{"": "a/foo"}, "b/a/foo", false},
	{map[string]string{"": "*.log"}, "x.log", true},
	{map[string]string{"": "*.log"}, "a/b/x.log", true},
	{map[string]string{"": "*.log"}, "x.logs", false},
	{map[string]string{"": "*.log\n!keep.log"}, "keep.log", false},
	{map[string]string{"": "*.log\n!keep.log"}, "other.log", true},
	{map[string]string{"": "!keep.log\n*.log"}, "keep.log", true},
	{map[string]string{"": "build/\n!build/keep"}, "build/keep", true},
	{map[string]string{"": "build/*\n!build/keep"}, "build/keep", false},
	{map[string]string{"": "build/*\n!build/keep"}, "build/drop", true},
	{map[string]string{"": "build/*\n!build/keep"}, "build/sub/keep", true},
	{map[string]string{"": "build/**\n!build/**/\n!build/**/keep"}, "build/a/b/keep", false},
	{map[string]string{"": "*\n!*.go"}, "a.go", false},
	{map[string]string{"": "*\n!*.go"}, "d/a.go", true},
	{map[string]string{"": "*\n!*/\n!*.go"}, "d/a.go", false},
	{map[string]string{"": "*\n!*/\n!*.go"}, "d/a.txt", true},
	{map[string]string{"": "**/foo"}, "foo", true},
	{map[string]string{"": "**/foo"}, "a/b/foo", true},
	{map[string]string{"": "**/foo/bar"}, "x/foo/bar", true},
	{map[string]string{"": "**/foo/bar"}, "x/foo/y/bar", false},
	{map[string]string{"": "abc/**"}, "abc/x/y", true},
	{map[string]string{"": "abc/**"}, "abc/", false},
	{map[string]string{"": "a/**/b"}, "a/b", true},
	{map[string]string{"": "a/**/b"}, "a/x/b", true},
	{map[string]string{"": "a/**/b"}, "a/x/y/b", true},
	{map[string]string{"": "a/**/b"}, "ab", false},
	{map[string]string{"": "a/**/b/c"}, "a/b/x/b/c", true},
	{map[string]string{"": "foo**bar"}, "fooxbar", true},
	{map[string]string{"": "x/foo**bar"}, "x/foo/bar", false},
	{map[string]string{"": "foo*/x"}, "foobar/x", true},
	{map[string]string{"": "a/*/c"}, "a/b/c", true},
	{map[string]string{"": "a/*/c"}, "a/b/b/c", false},
	{map[string]string{"": "a?c"}, "abc", true},
	{map[string]string{"": "x/a?c"}, "x/a/c", false},
	{map[string]string{"": "[abc].txt"}, "b.txt", true},
	{map[string]string{"": "[!abc].txt"}, "b.txt", false},
	{map[string]string{"": "[!abc].txt"}, "d.txt", true},
	{map[string]string{"": "[^abc].txt"}, "d.txt", true},
	{map[string]string{"": "[a-c]x"}, "bx", true},
	{map[string]string{"": "[]-]x"}, "]x", true},
	{map[string]string{"": "[[:digit:]]x"}, "7x", true},
	{map[string]string{"": "[[:digit:]]x"}, "ax", false},
	{map[string]string{"": "[a"}, "[a", false},
	{map[string]string{"": "a[/]b"}, "a/b", false},
	{map[string]string{"": "# comment"}, "# comment", false},
	{map[string]string{"": `\#hash`}, "#hash", true},
	{map[string]string{"": `\!bang`}, "!bang", true},
	{map[string]string{"": "trail   "}, "trail", true},
	{map[string]string{"": `trail\ `}, "trail ", true},
	{map[string]string{"": " lead"}, " lead", true},
	{map[string]string{"": " lead"}, "lead", false},
	{map[string]string{"": "crlf\r\nother\r\n"}, "crlf", true},
	{map[string]string{"": "\ufefffoo"}, "foo", true},
	{map[string]string{"": `f\oo`}, "foo", true},
	{map[string]string{"": `foo\`}, "foo", false},
	{map[string]string{"": "/"}, "foo", false},
	{map[string]string{"": "*.o", "a": "!keep.o"}, "a/keep.o", false},
	{map[string]string{"": "*.o", "a": "!keep.o"}, "keep.o", true},
	{map[string]string{"": "!x.o", "a": "*.o"}, "a/x.o", true},
	{map[string]string{"a": "/x"}, "a/x", true},
	{map[string]string{"a": "/x"}, "a/b/x", false},
	{map[string]string{"a": "b/x"}, "a/b/x", true},
	{map[string]string{"": "a/", "a": "!x"}, "a/x", true},
	{map[string]string{"": "/*\n!/a\n/a/*\n!/a/b"}, "a/b/c", false},
	{map[string]string{"": "/*\n!/a\n/a/*\n!/a/b"}, "a/c", true},
	{map[string]string{"": "ü*"}, "übung", true},
}

// askIgnore answers as a walk from the root would, which says where it is; one
// that does not say so gets the same answer.
func askIgnore(t *testing.T, files map[string]string, p string) bool {
	t.Helper()
	ignored := askAsWalk(files, p, true)
	if askAsWalk(files, p, false) != ignored {
		t.Errorf("%q: ignored(%q) = %v only when the level knows where it is", files, p, ignored)
	}
	return ignored
}

func askAsWalk(files map[string]string, p string, say bool) bool {
	level := Parse(nil, "", files[""])
	isDir := strings.HasSuffix(p, "/")
	p = strings.TrimSuffix(p, "/")
	for i := 0; i < len(p); i++ {
		if p[i] == '/' {
			if level.Ignored(p[:i], true) {
				return true
			}
			if say {
				level = level.In(p[:i+1])
			}
			level = Parse(level, p[:i+1], files[p[:i]])
		}
	}
	return level.Ignored(p, isDir)
}

func TestIgnore(t *testing.T) {
	for _, c := range ignoreCases {
		if got := askIgnore(t, c.files, c.path); got != c.want {
			t.Errorf("%q: ignored(%q) = %v, want %v", c.files, c.path, got, c.want)
		}
	}
}

// gitIgnores asks git about many paths of one repository.
func gitIgnores(t *testing.T, files map[string]string, paths []string) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Stdin = strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 1 {
			t.Fatalf("git %v: %v\n%s", args, err, &errs)
		}
		return string(out)
	}
	git("", "init", "-q")
	for _, p := range paths {
		full := filepath.Join(dir, p)
		if strings.HasSuffix(p, "/") {
			os.MkdirAll(full, 0o755)
			continue
		}
		os.MkdirAll(filepath.Dir(full), 0o755)
		os.WriteFile(full, nil, 0o644)
	}
	for d, text := range files {
		os.MkdirAll(filepath.Join(dir, d), 0o755)
		if err := os.WriteFile(filepath.Join(dir, d, ".gitignore"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ask := make([]string, len(paths)) // git sees what is a directory; a slash would take part in the match
	for i, p := range paths {
		ask[i] = strings.TrimSuffix(p, "/")
	}
	out := git(strings.Join(ask, "\x00"), "check-ignore", "-z", "--stdin")
	ignored := map[string]bool{}
	for _, p := range strings.Split(out, "\x00") {
		ignored[p] = true
	}
	got := map[string]bool{}
	for i, p := range paths {
		got[p] = ignored[ask[i]]
	}
	return got
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git installed")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
}

func TestIgnoreAgreesWithGitOnTheTable(t *testing.T) {
	needGit(t)
	groups := map[string][]int{}
	for i, c := range ignoreCases {
		key := fmt.Sprint(c.files) // cases of the same rules share a repository
		groups[key] = append(groups[key], i)
	}
	for _, is := range groups {
		for _, i := range is {
			c := ignoreCases[i]
			if got := gitIgnores(t, c.files, []string{c.path})[c.path]; got != c.want {
				t.Errorf("git says %v for %q with %q, the table %v", got, c.path, c.files, c.want)
			}
		}
	}
}

// TestIgnoreAgreesWithGitAtRandom draws rules from an alphabet in which
// everything special is frequent.
func TestIgnoreAgreesWithGitAtRandom(t *testing.T) {
	needGit(t)
	rnd := rand.New(rand.NewSource(1))
	pick := func(s ...string) string { return s[rnd.Intn(len(s))] }
	var paths []string
	for _, a := range []string{"a", "b", "ab", "a.x"} {
		paths = append(paths, "f"+a)
		for _, b := range []string{"a", "b", "ab"} {
			paths = append(paths, a+"/f"+b)
			for _, c := range []string{"a", "b.x", "]", "a-"} {
				paths = append(paths, a+"/"+b+"/"+c)
			}
		}
	}
	rounds := 25
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		files := map[string]string{}
		for _, d := range []string{"", "", "a", "a/b"} {
			var lines []string
			for range 1 + rnd.Intn(4) {
				var b strings.Builder
				b.WriteString(pick("", "", "", "!", "/", "!/"))
				for range 1 + rnd.Intn(4) {
					b.WriteString(pick("a", "b", "f", "*", "**", "/", "/**/", "?", "[ab]", "[!a]", "[^f]", "[]a]", "[a-", ".x", `\a`, "*/", "/*"))
				}
				lines = append(lines, b.String()+pick("", "", "/", " ", "\r"))
			}
			files[d] = strings.Join(lines, "\n")
		}
		want := gitIgnores(t, files, paths)
		for _, p := range paths {
			if got := askIgnore(t, files, p); got != want[p] {
				t.Fatalf("round %d: ignored(%q) = %v, git says %v, with %q", round, p, got, want[p], files)
			}
		}
	}
}

func TestGlobIsNotExponential(t *testing.T) {
	g := Compile(strings.Repeat("*a", 200)+"b", false)
	if g.Match(strings.Repeat("a", 4000)) {
		t.Error("matched")
	}
}

// TestStepsGrowWithTheTreeAlone walks a chain of directories below a file of
// three thousand patterns of each kind that is expensive elsewhere: what the
// automata do is counted, and twice as deep is twice as much.
func TestStepsGrowWithTheTreeAlone(t *testing.T) {
	const rules = 3000
	for kind, pattern := range map[string]string{
		"in any directory":        "**/a*b*c*d*e*f%d*g*h",
		"in a directory anywhere": "**/x/a*b*c%d",
		"below any two":           "**/d/**/d/**/a*b*c%d",
		"by ending":               "**/*a*b*c*%d",
		"stars":                   "d*/**/*d*d*d*e%d",
		"directories":             "d/**/a*%d/",
		"names":                   "a*b*c*d*e%d",
		"literal paths":           "/d/d/d/d/d/a%d",
		"literal names":           "a%d",
		"endings":                 "*.a%d",
	} {
		steps := func(depth int) int {
			var text strings.Builder
			for i := range rules {
				fmt.Fprintf(&text, pattern+"\n", i)
			}
			level := Parse(nil, "", text.String())
			n := 0
			level.file.steps = &n
			dir := ""
			for range depth {
				if level.Ignored(dir+"d", true) || level.Ignored(dir+"some.go", false) {
					t.Fatalf("%s: ignored below %q", kind, dir)
				}
				dir += "d/"
				level = level.In(dir)
			}
			return n
		}
		short, long := steps(100), steps(200)
		if long > 2*short+short/10 {
			t.Errorf("%s: %d steps to a depth of 100, %d to 200", kind, short, long)
		}
		if most := 200 * rules * 40; long > most { // about ten bytes a directory, a few states each
			t.Errorf("%s: %d steps, want at most %d", kind, long, most)
		}
	}
}

// TestBudget: what rules cost is counted and comes to an end, and it is said
// whose they were; until then they say what they said.
func TestBudget(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "**/x/a*b*c%d\n", i)
	}
	const most = 3_000_000
	b := NewBudget(most)
	level := ParseFile(b.Level(), "", "cheap", "*.log\n")
	level = Parse(level, "", text.String())
	dir, depth := "", 0
	for ; depth < 10_000; depth++ {
		if _, _, spent := b.Spent(); spent {
			break
		}
		if depth < 2 && (!level.Ignored(dir+"x.log", false) || !level.Ignored(dir+"x/abc7", false)) {
			t.Errorf("not ignored at depth %d", depth)
		}
		dir += "d/"
		level = level.In(dir)
	}
	// Each rule costs at least heldCost a directory.
	if file, rules, spent := b.Spent(); !spent || file != ".gitignore" || rules != 3000 || depth < 3 || depth > most/(3000*heldCost) {
		t.Errorf("at depth %d: %q, %d rules, %v", depth, file, rules, spent)
	}
	if over := -b.left.Load(); over > most {
		t.Errorf("%d steps more were taken than %d", over, most)
	}
	b.Earn(2 * most)
	if !level.Ignored(dir+"x.log", false) {
		t.Error("with more to spend the rules do not hold again")
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("a/**/b", "a/x/b")
	f.Add("[[:alpha:]-z]*", "a")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern)+len(text) > 2000 {
			return
		}
		g := Compile(pattern, true)
		g.Match(text)
		Parse(nil, "", pattern).IgnoredPath(text, false)
	})
}
