package search

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// placeRE is a path, which may hold line ends, with a line, as hits, compilers and other searches write
// it: server.go:120, server.go:L120-140, server.go:120:7.
var placeRE = lazyregexp.New(`(?s)^(.+?):L?([0-9]{1,9})(?:[-–]L?([0-9]{1,9})|:[0-9]{1,9}|:c[0-9]+-[0-9]+)?:?$`)

// ParsePlace splits a path with a line; ok is false for anything else.
func ParsePlace(s string) (path string, line int, ok bool) {
	path, line, _, ok = ParseRange(s)
	return path, line, ok
}

// ParseRange splits a path with a line, or with the first and the last of
// several; of one line both are that. ok is false for anything else.
func ParseRange(s string) (path string, from, to int, ok bool) {
	s = strings.TrimSpace(s)
	if whole, quoted := visible.Unquote(s); quoted { // hits quote a place as a whole
		s = whole
	}
	m := placeRE.FindStringSubmatch(s)
	if m == nil || strings.Contains(m[1], "://") {
		return "", 0, 0, false
	}
	from, err := strconv.Atoi(m[2])
	if to = from; m[3] != "" && err == nil {
		to, err = strconv.Atoi(m[3])
	}
	return m[1], from, max(from, to), err == nil && from > 0
}

// datedRE is a place with the revision that it is cited at.
var datedRE = lazyregexp.New(`(?s)^(.+?)\s+@\s*([^\s,@]+)$`)

// CutRevision parts a place from the revision that it is cited at, "pay.go:12" from
// "abc1234" in "pay.go:12 @ abc1234"; ok is false for one without.
func CutRevision(s string) (place, rev string, ok bool) {
	s = strings.TrimSpace(s)
	if whole, quoted := visible.Unquote(s); quoted {
		s = whole
	}
	m := datedRE.FindStringSubmatch(s)
	if m == nil {
		return s, "", false
	}
	return m[1], m[2], true
}

// Located is a document of a target, by its number.
type Located struct {
	Target int
	Path   string
}

// most is how many candidates a message names.
const most = 5

// Asked is a path as somebody wrote it.
type Asked struct {
	Path string
	// Spellings are the paths that it may mean, the likeliest first; none is
	// Path alone.
	Spellings []string
}

// Locate returns the documents that a path means, in the order of targets: the
// first spelling that is a document of any target decides. Without one, what
// was copied from a reply does, in which characters of the path are escaped;
// and else the end of a path, "web.go" or "http/web.go", when only one path
// ends so.
// kb.NotFound names the nearest paths, kb.Invalid the candidates.
func Locate(ctx context.Context, targets []Target, a Asked) ([]Located, error) {
	asked := a.Path
	if a.Spellings == nil {
		a.Spellings = []string{asked}
	}
	var folder string
	for _, name := range a.Spellings {
		var out []Located
		for i := range targets {
			at, err := targets[i].Index.Documents(ctx, name)
			switch {
			case err != nil:
				return nil, of(i, err)
			case len(at) == 1 && at[0] == name:
				out = append(out, Located{i, name})
			case len(at) > 0 && name != "" && folder == "":
				folder = name
			}
		}
		if out != nil {
			return out, nil
		}
	}
	if folder != "" {
		return nil, kb.Errorf(kb.Invalid, "%q is a folder, not a document", folder).WithHint("list what is in it with: files {\"glob\":%q}", folder+"/**")
	}
	var paths []string
	var out, shown []Located
	var all []string
	owners := map[string]int{} // the first target that has a path
	for i := range targets {
		list, err := targets[i].Index.Documents(ctx, "")
		if err != nil {
			return nil, of(i, err)
		}
		for _, p := range list {
			if _, ok := owners[p]; !ok {
				owners[p] = i
			}
			if visible.Is(asked, p) {
				shown = append(shown, Located{i, p})
			}
			if strings.HasSuffix(p, "/"+asked) {
				out = append(out, Located{i, p})
				if !slices.Contains(paths, p) && len(paths) < 1000 {
					paths = append(paths, p)
				}
			}
		}
		all = append(all, list...)
	}
	switch {
	case len(shown) > 0 && !slices.ContainsFunc(shown, func(l Located) bool { return l.Path != shown[0].Path }):
		return shown, nil
	case len(paths) == 1:
		return out, nil
	case len(paths) > 1:
		return nil, kb.Errorf(kb.Invalid, "%d documents end in %q: %s", len(paths), asked, few(paths)).
			WithHint("give more of the path, as in: read {\"path\":%q}", paths[0])
	}
	return nil, kb.Errorf(kb.NotFound, "no document is called %q in %s", kb.Clip(asked, 80), labels(targets)).WithHint("%s", nearPath(asked, all, func(p string) string { return targets[owners[p]].Store.Name }))
}

// Below returns the spelling of a path at or below which documents lie.
// kb.NotFound names the nearest folders and documents.
func Below(ctx context.Context, targets []Target, a Asked) (string, error) {
	if a.Spellings == nil {
		a.Spellings = []string{a.Path}
	}
	for _, name := range a.Spellings {
		for i := range targets {
			at, err := targets[i].Index.Documents(ctx, name)
			if err != nil {
				return "", of(i, err)
			}
			if len(at) > 0 {
				return strings.TrimPrefix(name, "."), nil
			}
		}
	}
	seen := map[string]bool{}
	var all []string
	for i := range targets {
		list, err := targets[i].Index.Documents(ctx, "")
		if err != nil {
			return "", of(i, err)
		}
		for _, p := range list {
			for ; p != "." && !seen[p]; p = path.Dir(p) {
				seen[p] = true
				all = append(all, p)
			}
		}
	}
	e := kb.Errorf(kb.NotFound, "no document lies at or below %q in %s", kb.Clip(a.Path, 80), labels(targets))
	return "", e.WithHint("%slist the paths there are with: files", kb.DidYouMean(a.Path, all))
}

func few(names []string) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// nearPath says which paths are like one that does not exist: those with
// nearly that name, wherever they lie, else those that are nearly that path.
// store names the store of a path, "" for that of the folder one is in.
func nearPath(asked string, all []string, store func(path string) string) string {
	var bases []string
	at := map[string][]string{}
	for _, p := range all {
		b := path.Base(p)
		if at[b] == nil {
			bases = append(bases, b)
		}
		at[b] = append(at[b], p)
	}
	var near []string
	for _, b := range kb.NearestFew(path.Base(asked), bases, 3) {
		near = append(near, kb.NearestFew(asked, at[b], 1)...)
		if len(near) == 0 {
			near = append(near, at[b][0])
		}
	}
	if len(near) == 0 {
		return "list the paths there are with: files"
	}
	args := fmt.Sprintf("{\"path\":%q}", near[0])
	if name := store(near[0]); name != "" {
		args = fmt.Sprintf("{\"store\":%q,\"path\":%q}", name, near[0])
	}
	return fmt.Sprintf("did you mean %s? read it with: read %s", strings.Join(near, " or "), args)
}

// checkLine refuses a line that a document does not have.
func checkLine(d *kb.DocumentText, line int) error {
	n := strings.Count(strings.TrimSuffix(d.Body, "\n"), "\n") + 1
	if line <= n {
		return nil
	}
	return kb.Errorf(kb.Invalid, "%q has %d lines; line %d is beyond its end", d.Path, n, line).
		WithHint("see its end with: read {\"path\":%q,\"lines\":\"%d-%d\"}", d.Path, max(1, n-20), n)
}

// ShowAt returns everything about the place at the lines from one to another of
// a document, as Show does of an id.
func ShowAt(ctx context.Context, targets []Target, a Asked, line, to int) (Context, error) {
	found, err := Locate(ctx, targets, a)
	if err != nil {
		return Context{}, err
	}
	at := found[0]
	t := &targets[at.Target]
	d, err := t.Index.Document(ctx, at.Path)
	if err != nil {
		return Context{}, of(at.Target, err)
	}
	if err := checkLine(&d, line); err != nil {
		return Context{}, err
	}
	if len(d.Chunks) == 0 {
		return Context{}, kb.Errorf(kb.Invalid, "%q is empty", d.Path).WithHint("list the others with: files")
	}
	k := chunkAt(&d, line)
	p := kb.Resolved{Place: kb.Place{Path: at.Path, Chunk: k}, ID: d.IDs[k]}
	c, err := show(ctx, t, p, shownLines{at: line, to: to})
	if err == nil && c.End < line { // a long declaration, cut before the line
		c, err = show(ctx, t, p, shownLines{at: line, to: to, from: line})
	}
	if err == nil && len(found) > 1 {
		c.Note = strings.TrimPrefix(c.Note+"; "+alsoIn(targets, found[1:], line), "; ")
	}
	return c, of(at.Target, err)
}

// alsoIn names the other stores that have a document of that path.
func alsoIn(targets []Target, others []Located, line int) string {
	var names []string
	for _, o := range others {
		names = append(names, targets[o.Target].Store.Label())
	}
	return fmt.Sprintf("this path is also in %s: get_full_context {\"resultId\":%q}", few(names), fmt.Sprintf("%s:%s:%d", names[0], others[0].Path, line))
}
