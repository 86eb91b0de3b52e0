package ui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// preview is the document around the selected hit.
type preview struct {
	id     string // of the hit, "" for none yet
	first  int    // number of the first line
	lines  []string
	from   int // of the hit
	to     int
	best   int // its line that answers best, which is shown first
	scroll int // lines, from where the hit begins
	note   string
}

// spot is where a hit lies.
type spot struct {
	path     string
	from, to int    // lines, 0 for a page of the web
	best     int    // of these, the one that answers best
	written  string // path:line, of that one
}

var lines = lazyregexp.New(`:L(\d+)(?:-L?(\d+))?`)

func place(h *find.Hit) spot {
	s := spot{path: h.At, written: h.At}
	if m := lines.FindStringSubmatchIndex(h.At); m != nil && !strings.Contains(h.At[m[1]:], "/") {
		s.path = h.At[:m[0]]
		s.from, _ = strconv.Atoi(h.At[m[2]:m[3]]) // digits
		if s.to = s.from; m[4] >= 0 {
			s.to, _ = strconv.Atoi(h.At[m[4]:m[5]])
		}
		if s.best = s.from; h.Line > s.from && h.Line <= s.to {
			s.best = h.Line
		}
		s.written = fmt.Sprintf("%s:%d", s.path, s.best)
	}
	return s
}

// lines is path:from-to.
func (s spot) lines() string {
	switch {
	case s.from == 0:
		return s.written
	case s.to > s.from:
		return fmt.Sprintf("%s:%d-%d", s.path, s.from, s.to)
	}
	return fmt.Sprintf("%s:%d", s.path, s.from)
}

// storeOf is the name of a hit's store, without the commit that it shows.
func storeOf(h *find.Hit) string {
	name, _, _ := strings.Cut(h.Store, "@")
	return name
}

// load reads the document of the selected hit, unless it is read.
func (f *finder) load(ctx context.Context) {
	h := f.hit()
	if h == nil || f.preview.id == h.ID {
		return
	}
	f.preview = preview{id: h.ID}
	hit, at := *h, place(h)
	go func() {
		r, err := find.Read(ctx, f.app, storeOf(&hit), at.path, span(at), app.Waiting{})
		f.later(ctx, func() {
			if f.preview.id != hit.ID {
				return // another is selected
			}
			p := preview{id: hit.ID, first: r.Start, from: at.from, to: at.to, best: at.best, scroll: f.preview.scroll}
			if err != nil { // what the search has shown is there still
				p.note, p.first, r.Text = err.Error(), max(hit.Line, 1), hit.Code
			}
			p.lines = strings.Split(strings.TrimSuffix(r.Text, "\n"), "\n")
			f.preview = p
		})
	}()
}

// span is which lines of a document are read around a place, "" for all.
func span(at spot) string {
	if at.from == 0 {
		return ""
	}
	return fmt.Sprintf("%d-%d", max(1, at.best-around), at.best+around)
}

// editors are what takes a line in another way than "+LINE FILE".
var editors = map[string]func(file string, line int) []string{
	"code": gotoFlag, "codium": gotoFlag, "code-insiders": gotoFlag, "cursor": gotoFlag, "windsurf": gotoFlag,
	"subl": joined, "zed": joined, "hx": joined, "helix": joined, "micro": joined,
	"mate":    func(file string, line int) []string { return []string{"-l", strconv.Itoa(line), file} },
	"idea":    func(file string, line int) []string { return []string{"--line", strconv.Itoa(line), file} },
	"notepad": func(file string, _ int) []string { return []string{file} },
}

func gotoFlag(file string, line int) []string {
	return []string{"--goto", fmt.Sprintf("%s:%d", file, line)}
}

func joined(file string, line int) []string { return []string{fmt.Sprintf("%s:%d", file, line)} }

// editor is the user's, with what opens a file at a line; nil when there is none.
func editor(env func(string) string, file string, line int) *exec.Cmd {
	words := strings.Fields(env("VISUAL"))
	if len(words) == 0 {
		words = strings.Fields(env("EDITOR"))
	}
	for _, usual := range []string{"sensible-editor", "vi", "nano", "notepad"} {
		if len(words) > 0 {
			break
		}
		if _, err := exec.LookPath(usual); err == nil {
			words = []string{usual}
		}
	}
	if len(words) == 0 {
		return nil
	}
	args := []string{"+" + strconv.Itoa(max(line, 1)), file}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(words[0])), ".exe")
	if form := editors[name]; form != nil {
		args = form(file, max(line, 1))
	}
	return exec.Command(words[0], slices.Concat(words[1:], args)...)
}

// open shows the hit in the user's editor, and then the finder again.
func (f *finder) open(ctx context.Context) {
	h := f.hit()
	if h == nil {
		return
	}
	at := place(h)
	file, done, err := f.file(ctx, h, at)
	if err != nil {
		f.status = err.Error()
		return
	}
	defer done()
	cmd := editor(f.o.Getenv, file, at.best)
	if cmd == nil {
		f.status = "there is no editor: set EDITOR, or take the place with ctrl-o"
		return
	}
	if err := f.screen.Suspend(); err != nil {
		f.status = err.Error()
		return
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if e := f.screen.Resume(); e != nil {
		f.status, f.done = e.Error(), true
		return
	}
	f.screen.Sync()
	f.preview = preview{} // it may read otherwise now
	if f.status = ""; err != nil {
		f.status = cmd.Path + ": " + err.Error()
	}
}

// file is where a hit lies on this machine: its own file, or what is indexed
// of it in a file that goes with done.
func (f *finder) file(ctx context.Context, h *find.Hit, at spot) (name string, done func(), err error) {
	list, err := f.app.Stores(ctx, "", true)
	if err != nil {
		return "", nil, err
	}
	for _, r := range list.Stores {
		file := filepath.Join(r.Source, filepath.FromSlash(at.path))
		if r.Name != storeOf(h) || !filepath.IsAbs(file) {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, func() {}, nil
		}
	}
	r, err := find.Read(ctx, f.app, storeOf(h), at.path, "", app.Waiting{})
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "knowledge-ui-*")
	if err != nil {
		return "", nil, kb.Errorf(kb.Denied, "the document cannot be laid out for the editor: %w", err).WithHint("take its place with ctrl-o")
	}
	name = filepath.Join(dir, fileName(at.path))
	if err := os.WriteFile(name, []byte(r.Text+"\n"), 0o400); err != nil {
		return "", nil, err
	}
	return name, func() { _ = os.RemoveAll(dir) }, nil
}

// fileName is the last name of a path without what a shell or a file system
// would take for something else.
func fileName(p string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, path.Base(p))
	if runtime.GOOS == "windows" || strings.Trim(name, "._-") == "" || strings.HasPrefix(name, "-") {
		return "document" + path.Ext(name)
	}
	return name
}
