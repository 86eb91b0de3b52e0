package care

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/transfer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Exported is the reply of export.
type Exported struct {
	File      string `json:"file"`
	Store     string `json:"store"`
	ID        string `json:"id"`
	Documents int    `json:"documents"`
	Bytes     int64  `json:"bytes"`  // of the file
	SHA256    string `json:"sha256"` // of the file, in hexadecimal
	Note      string `json:"note"`
}

// Text is the reply for people.
func (e Exported) Text() string {
	return fmt.Sprintf("%s: %s of %s, %s\nsha256: %s\nnote: %s\nelsewhere: knowledge import %s",
		e.File, kb.Count(e.Documents, "document"), e.Store, app.BytesOf(e.Bytes), e.SHA256, e.Note, kb.ShellWord(filepath.Base(e.File)))
}

// Imported is the reply of import.
type Imported struct {
	Store     string `json:"store"` // the name it goes by now
	ID        string `json:"id"`
	Scope     string `json:"scope"`
	Kind      string `json:"type"`
	Source    string `json:"source"`
	Ref       string `json:"ref,omitempty"`
	Commit    string `json:"commit,omitempty"`
	Documents int    `json:"documents"`
	Chunks    int    `json:"chunks"`
	Segments  int    `json:"segments"`
	Shared    int    `json:"shared"` // segments that were here already
	Bytes     int64  `json:"bytes"`  // written
	Note      string `json:"note,omitempty"`
}

// Text is the reply for people.
func (i Imported) Text() string {
	text := fmt.Sprintf("%s: %s, %s of %s", i.Store, kb.Count(i.Documents, "document"), kb.Count(i.Chunks, "chunk"), i.Source)
	if i.Shared > 0 {
		text += fmt.Sprintf(" (%d of %s were here already)", i.Shared, kb.Count(i.Segments, "segment"))
	}
	if i.Note != "" {
		text += "\nnote: " + i.Note
	}
	return text + "\nsearch it: knowledge search -s " + i.Store + " WORDS"
}

func place(c *app.Core, version string) transfer.Place {
	return transfer.Place{Dir: c.Dir, Catalog: c.Catalog, Indexer: c.Indexer, Pool: c.Pool, Opener: c.Opener, Program: version}
}

// Export writes what a store consists of now into one file.
func Export(ctx context.Context, a *app.App, store, file string, force bool) (Exported, error) {
	path, err := exportPath(a, store, file, force)
	if err != nil {
		return Exported{}, err
	}
	c, st, err := a.Lookup(ctx, store)
	var e *kb.Error
	if store == "." && kb.CodeOf(err) == kb.NotFound && errors.As(err, &e) {
		err = e.WithHint("the first search in it indexes it: knowledge search hello")
	}
	if err != nil {
		return Exported{}, err
	}
	name := st.Name
	if name == "" {
		name = app.NameFrom(st.Label())
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return Exported{}, err
	}
	defer f.Abort()
	sum := sha256.New()
	size := &countWriter{}
	m, err := place(c, a.Version()).Export(ctx, st, name, io.MultiWriter(f, sum, size))
	if err != nil {
		return Exported{}, err
	}
	if err := f.Commit(); err != nil {
		return Exported{}, err
	}
	return Exported{
		File: path, Store: name, ID: string(st.ID), Documents: m.Head.Documents, Bytes: size.n, SHA256: hex.EncodeToString(sum.Sum(nil)),
		Note: fmt.Sprintf("the file holds the text of all these documents and the address %s; give it to nobody who may not read them", st.Spec.Source),
	}, nil
}

type countWriter struct{ n int64 }

func (w *countWriter) Write(p []byte) (int, error) {
	w.n += int64(len(p))
	return len(p), nil
}

// exportPath returns where an export goes, if it may.
func exportPath(a *app.App, store, file string, force bool) (string, error) {
	if file == "-" || strings.TrimSpace(file) == "" {
		return "", kb.Errorf(kb.Invalid, "an export needs the name of a file").WithHint("name one: knowledge export . project.kbx")
	}
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Config.Dir, path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return "", kb.Errorf(kb.NotFound, "there is no folder %q", filepath.Dir(path)).WithHint("make it first: mkdir -p %s", kb.ShellWord(filepath.Dir(path)))
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", kb.Errorf(kb.Denied, "cannot look at %q: %w", path, err).WithHint("name another file")
	case !info.Mode().IsRegular():
		return "", kb.Errorf(kb.Invalid, "%q is no plain file", path).WithHint("name another file")
	case !force:
		return "", kb.Errorf(kb.Exists, "the file %q exists", path).WithHint("name another one, or replace it: knowledge export %s %s --force", kb.ShellWord(store), kb.ShellWord(file))
	}
	return path, nil
}

// ImportRequest says what to import, and as what.
type ImportRequest struct {
	File  string
	Name  string // "" is the name in the file
	User  bool   // name it for every project
	Force bool   // replace a newer generation
}

// Import makes a store of an exported file. It needs neither the source nor
// the network.
func Import(ctx context.Context, a *app.App, r ImportRequest) (Imported, error) {
	path := r.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Config.Dir, path)
	}
	f, err := os.Open(path)
	if err != nil {
		code, hint := kb.Denied, "make it readable for you"
		if errors.Is(err, fs.ErrNotExist) {
			code, hint = kb.NotFound, "look what there is: ls "+kb.ShellWord(filepath.Dir(path))
		}
		return Imported{}, kb.Errorf(code, "cannot read %q: %w", path, reason(err)).WithHint("%s", hint)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return Imported{}, kb.Errorf(kb.Invalid, "%q is a folder, not an export", path).WithHint("to index a folder: knowledge add-folder %s", kb.ShellWord(path))
	}
	c, err := a.Open(ctx)
	if err != nil {
		return Imported{}, err
	}
	p, err := a.Where()
	if err != nil {
		return Imported{}, err
	}
	project, scope := p.ID, "project"
	if r.User || project == "" {
		project, scope = "", "user"
	} else if err := c.Catalog.NoteProject(ctx, project, p.Root); err != nil {
		return Imported{}, err
	}
	done, err := place(c, a.Version()).Import(ctx, f, transfer.Request{Project: project, Name: r.Name, Force: r.Force})
	if err != nil {
		return Imported{}, withFile(err, r.File)
	}
	a.Again(c)
	st := done.Store
	out := Imported{
		Store: st.Name, ID: string(st.ID), Scope: scope, Kind: string(st.Spec.Kind), Source: st.Spec.Source,
		Segments: done.Segments, Shared: done.Shared, Bytes: done.Bytes,
	}
	if st.Spec.Ref.Type != "" {
		out.Ref = st.Spec.Ref.String()
	}
	var notes []string
	switch {
	case done.Same:
		notes = append(notes, "the same generation was here already")
	case done.Replaced:
		notes = append(notes, "it replaces what was indexed here before")
	}
	if done.Embedded {
		notes = append(notes, "its vectors were made anew, the file's are another embedder's")
	}
	if h := st.Head; h != nil {
		out.Commit, out.Documents, out.Chunks = h.Commit, h.Documents, h.Chunks
		if !done.Same {
			notes = append(notes, afterImport(ctx, c, st)...)
		}
	}
	notes = append(notes, sourceNote(st))
	out.Note = strings.Join(notes, "; ")
	return out, nil
}

// afterImport resolves references; what fails there can be had later.
func afterImport(ctx context.Context, c *app.Core, st kb.Store) []string {
	c.Library.Forget(st.ID)
	var err error
	if code.LinksAtOnce(c, st) {
		_, err = code.Link(ctx, c, st.ID)
	} else {
		_, err = code.SubmitLink(ctx, c, st.ID)
	}
	if err != nil {
		return []string{"who uses what is resolved when it is asked for: " + err.Error()}
	}
	return nil
}

// sourceNote says what bringing an imported store up to date would read.
func sourceNote(st kb.Store) string {
	if !filepath.IsAbs(st.Spec.Source) && !strings.Contains(st.Spec.Source, ":") {
		return "it is answered from the file's content; " + st.Spec.Source + " is no address of this machine"
	}
	if filepath.IsAbs(st.Spec.Source) {
		if info, err := os.Stat(st.Spec.Source); err != nil || !info.IsDir() {
			return "it is answered from the file's content: " + st.Spec.Source + " is not on this machine, so it stays as it is"
		}
	}
	return "bringing it up to date reads " + st.Spec.Source + ", as the file says"
}

// withFile puts the name of the file into what is said of it.
func withFile(err error, file string) error {
	var e *kb.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	if rest, ok := strings.CutPrefix(c.Message, "the file "); ok {
		c.Message = fmt.Sprintf("%q %s", file, rest)
	}
	c.Hint = strings.ReplaceAll(c.Hint, "import FILE", "import "+kb.ShellWord(file))
	return &c
}

// reason is what a path error says beside operation and path.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
