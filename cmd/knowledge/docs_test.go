package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Documents for users are run: every line after "$ " of a block of language
// console is typed into a shell, and what it prints, on standard output and
// standard error, must be what the document shows below it. The blocks of one
// document share a home directory and a working directory, so a document is
// one session from its first line to its last.
//
// In what is shown, numbers and ids stand for any other, "…" for the rest of a
// line, and a line that is "…" alone for any lines. A command below which
// nothing is shown must end with status 0 and may print anything.
//
// A block of language json must be JSON. Other blocks are not run; a block of
// sh needs a comment before it that says where it is tried instead:
//
//	<!-- tried by: .ci/extra release -->
var documents = []string{"README.md", "docs/GUIDE.md", "docs/troubleshooting.md"}

// Addresses on the network stand for repositories that the test makes of what
// is on this machine.
const (
	ownAddress  = "https://github.com/seed-4f2d999b/knowledge"
	cronAddress = "https://github.com/robfig/cron"
)

func TestDocuments(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents are written for a POSIX shell")
	}
	warm := t.TempDir() // what the first document has indexed
	for i, name := range documents {
		t.Run(name, func(t *testing.T) {
			text := read(t, "../..", name)
			blocks := blocksOf(text)
			if len(blocks) == 0 {
				t.Fatal("it shows nothing that could be run: the pattern is out of date")
			}
			var sh *shell
			for _, b := range blocks {
				switch b.language {
				case "console":
					if sh == nil {
						sh = newShell(t)
						copyIndexed(t, warm, sh.w.data)
					}
					for _, c := range b.commands() {
						sh.try(name, c)
					}
				case "json":
					if !json.Valid([]byte(b.text)) {
						t.Errorf("%s:%d: this is no JSON:\n%s", name, b.line, b.text)
					}
				case "sh":
					if b.tried == "" {
						t.Errorf("%s:%d: a block of sh is not run; make it console, or say with a comment where it is tried", name, b.line)
					}
				}
			}
			if i == 0 {
				sh.w.waitIdle()
				copyIndexed(t, sh.w.data, warm)
			}
		})
	}
}

// copyIndexed copies what is named by its content from one data directory to
// another. All documents ask about this repository, and indexing it again for
// each takes most of their time: the first one does it. Views are not copied:
// a first search has none and ranks without, as the documents show.
func copyIndexed(t *testing.T, from, to string) {
	t.Helper()
	for _, files := range []string{"segments/*.*", "grammars/*/*/*"} {
		names, err := filepath.Glob(filepath.Join(from, filepath.FromSlash(files)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			rel, err := filepath.Rel(from, name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, to, filepath.ToSlash(rel), []byte(read(t, filepath.Dir(name), filepath.Base(name))))
		}
	}
}

// block is one fenced block of a document.
type block struct {
	language, text string
	tried          string // where it is tried instead, from the comment before it
	line           int    // of its first line of text
}

var triedBy = regexp.MustCompile(`^<!-- tried by: (.+) -->$`)

func blocksOf(text string) []block {
	var all []block
	var open *block
	tried := ""
	for i, l := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(l, "```")
		switch {
		case isFence && open == nil:
			open = &block{language: fence, tried: tried, line: i + 2}
		case isFence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += l + "\n"
		case strings.TrimSpace(l) != "":
			tried = ""
			if m := triedBy.FindStringSubmatch(l); m != nil {
				tried = m[1]
			}
		}
	}
	return all
}

// typed is one command of a document and what is shown below it.
type typed struct {
	line    string
	shown   []string
	at      int // line of the document
	nothing bool
}

func (b block) commands() []typed {
	var all []typed
	more := false
	for i, l := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		switch cmd, ok := strings.CutPrefix(l, "$ "); {
		case ok:
			all = append(all, typed{line: cmd, at: b.line + i})
			more = strings.HasSuffix(cmd, `\`)
		case len(all) == 0:
			all = append(all, typed{at: b.line + i, shown: []string{l}}) // no prompt: fails
		case more:
			c := &all[len(all)-1]
			c.line += "\n" + l
			more = strings.HasSuffix(l, `\`)
		default:
			c := &all[len(all)-1]
			c.shown = append(c.shown, l)
		}
	}
	for i, c := range all {
		all[i].nothing = strings.TrimSpace(strings.Join(c.shown, "")) == ""
	}
	return all
}

// shell is the session of one document: one shell that lives from its first
// command to its last.
type shell struct {
	w     *world
	in    io.Writer
	ended *bufio.Reader // the status of each command, a line each
	out   *os.File      // what all print
	read  int64         // how much of it was looked at
	say   *strings.Replacer
}

// newShell makes an empty home with the program on the PATH. A program that
// writes to no terminal prints for programs, so it is told to print as for one.
func newShell(t *testing.T) *shell {
	w := newWorld(t)
	w.data = filepath.Join(w.home, ".local", "share", "knowledge")
	if runtime.GOOS == "darwin" {
		w.data = filepath.Join(w.home, "Library", "Application Support", "knowledge")
	}
	bin := w.dir("bin")
	write(t, bin, "knowledge", []byte(`#!/bin/sh
case " $* " in *" --json "* | *" --format"*) exec "$KNOWLEDGE_TRIED" "$@" ;; esac
[ "$1" != search ] || set -- "$@" --wait # a slow machine answers from a part of this repository
exec "$KNOWLEDGE_TRIED" --format table --quiet "$@"
`))
	if err := os.Chmod(filepath.Join(bin, "knowledge"), 0o755); err != nil {
		t.Fatal(err)
	}
	own, cron := filepath.Join(w.root, "github", "knowledge"), filepath.Join(w.root, "github", "cron")
	ownRepository(t, w, own)
	cronRepository(t, w, cron)
	sh := &shell{w: w, say: strings.NewReplacer(
		"go run -v ./cmd/knowledge", "knowledge", // .ci/run has this very line
		"bin/knowledge", "knowledge",
		"go install ./cmd/knowledge", ":", // .ci/extra release
		"go test ./...", ":", // it is what runs this
		ownAddress, own, cronAddress, cron)}

	cmd := w.command(w.dir("home/src"))
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh"}
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "KNOWLEDGE_DATA_DIR=") })
	cmd.Env = append(cmd.Env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "KNOWLEDGE_TRIED="+program, "KNOWLEDGE_CONFIG="+os.DevNull)
	var err error
	if sh.out, err = os.OpenFile(filepath.Join(w.root, "printed"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, ends, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = sh.out, sh.out, []*os.File{ends}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ends.Close()
	sh.in, sh.ended = in, bufio.NewReader(r)
	t.Cleanup(func() {
		io.WriteString(in, "kill $(jobs -p) 2>/dev/null; wait\n")
		in.Close()
		late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		cmd.Wait()
		late.Stop()
		r.Close()
		sh.out.Close()
	})
	return sh
}

// ownRepository makes a repository of the files of this one, as they are.
func ownRepository(t *testing.T, w *world, dir string) {
	t.Helper()
	out, err := exec.Command("git", "-C", "../..", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("this is no checkout of git: ", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if strings.Contains(name, "testdata/") || strings.HasPrefix(name, "bench/runs/") {
			continue // large, and no document needs them
		}
		if b, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name))); err == nil {
			write(t, dir, name, b)
		}
	}
	commit(t, w, dir, "v0.1.0")
}

// cronRepository makes one of a module that this program is built with.
func cronRepository(t *testing.T, w *world, dir string) {
	t.Helper()
	const module = "github.com/robfig/cron/v3"
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	from := strings.TrimSpace(string(out))
	if err != nil || from == "" {
		t.Skip("the sources of ", module, " are not on this machine")
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(p, 0o755) // those of the module cache are read-only
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	commit(t, w, dir, "v3.0.1")
}

func commit(t *testing.T, w *world, dir, tag string) {
	t.Helper()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A", "-f"},
		{"-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", "all"}, {"tag", tag},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, w.command(dir).Env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

// try types one command and compares what it prints with what is shown.
func (sh *shell) try(document string, c typed) {
	t := sh.w.t
	t.Helper()
	if c.line == "" {
		t.Errorf("%s:%d: a block of console begins with no command", document, c.at)
		return
	}
	// The command has no input, and what it leaves in the background holds
	// nothing of ours but its output.
	fmt.Fprintf(sh.in, "{ %s\n} </dev/null 3>&-\necho $? >&3\n", sh.say.Replace(c.line))
	status, err := sh.ended.ReadString('\n')
	if err != nil {
		t.Fatalf("%s:%d: %s ends the shell", document, c.at, c.line)
	}
	if strings.HasSuffix(c.line, "&") {
		time.Sleep(2 * time.Second) // what it prints first
	}
	printed, err := io.ReadAll(io.NewSectionReader(sh.out, sh.read, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	sh.read += int64(len(printed))
	if defect.Match(printed) {
		t.Errorf("%s:%d: %s met a defect:\n%s", document, c.at, c.line, printed)
	}
	got := strings.Split(strings.TrimRight(string(printed), "\n"), "\n")
	switch {
	case c.nothing && strings.TrimSpace(status) != "0":
		t.Errorf("%s:%d: %s: status %s%s", document, c.at, c.line, status, printed)
	case !c.nothing && !shows(c.shown, got):
		t.Errorf("%s:%d: %s\nprints\n%s\nand the document shows\n%s", document, c.at, c.line,
			indented(got), indented(c.shown))
	}
}

func indented(lines []string) string { return "    " + strings.Join(lines, "\n    ") }

// shows reports whether lines that a document shows stand for those printed.
func shows(shown, printed []string) bool {
	var pattern strings.Builder
	for _, l := range shown {
		l = strings.TrimSpace(l)
		switch l {
		case "":
			continue
		case "…":
			pattern.WriteString(`(.*\n)*`)
			continue
		}
		for i, part := range strings.Split(alike(l), "…") {
			if i > 0 {
				pattern.WriteString(`.*`)
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
		pattern.WriteString(`\n`)
	}
	var text strings.Builder
	for _, l := range printed {
		if l = strings.TrimSpace(l); l != "" {
			fmt.Fprintln(&text, alike(l))
		}
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(text.String())
}

var (
	numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	ids     = regexp.MustCompile(`\b([a-z2-7]{11}|[a-z2-7]{16})\b`)
	spaces  = regexp.MustCompile(`[ \t]+`)
)

// alike makes one of all lines that differ in numbers, ids and widths only.
func alike(l string) string {
	return spaces.ReplaceAllString(numbers.ReplaceAllString(ids.ReplaceAllString(l, "ID"), "0"), " ")
}

func TestShows(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"a.go:L1-2  F  0.93  own  abcdefghij2", "a.go:L10-20  F  1.00  own  zzzzzzzzzz7", true},
		{"a.go:L1-2  F", "b.go:L1-2  F", false},
		{"one\n…\nfour", "one\ntwo\nthree\nfour", true},
		{"one\n…\nfour", "one\nfour", true},
		{"one", "one\ntwo", false},
		{"knowledge: cannot …", "knowledge: cannot do 3 things", true},
		{"a   b", "a b\n", true},
	} {
		if got := shows(strings.Split(c.shown, "\n"), strings.Split(c.printed, "\n")); got != c.want {
			t.Errorf("%q shows %q: %t", c.shown, c.printed, got)
		}
	}
}
