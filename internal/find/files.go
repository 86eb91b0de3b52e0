package find

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const defaultFiles = 200

// Files lists the paths of a store's documents; glob understands * ? [] {} and **.
func Files(ctx context.Context, a *app.App, store, glob string, limit int, w app.Waiting) (FileList, error) {
	return files(ctx, a, glob, limit, func() (*app.Shelves, error) { return a.One(ctx, store, w) })
}

// FilesHere is Files of the folder of the work tree that asks.
func FilesHere(ctx context.Context, a *app.App, glob string, limit int, w app.Waiting) (FileList, error) {
	if w.Person {
		glob = fromHere(a, glob)
	}
	return files(ctx, a, glob, limit, func() (*app.Shelves, error) { return a.Here(ctx, w) })
}

func files(ctx context.Context, a *app.App, glob string, limit int, open func() (*app.Shelves, error)) (FileList, error) {
	match, err := globMatcher(glob)
	if err != nil {
		return FileList{}, err
	}
	if limit, err = app.CheckLimit(limit, defaultFiles); err != nil {
		return FileList{}, err
	}
	s, err := open()
	if err != nil {
		return FileList{}, err
	}
	defer s.Release()
	t, missing := &s.Targets[0], s.Notes
	paths, err := t.Index.Documents(ctx, "")
	if err != nil {
		return FileList{}, err
	}
	r := FileList{Store: t.Label, Files: []string{}}
	// A folder means what lies below it.
	if folder := app.PlainPath(glob); glob != "" && !strings.ContainsAny(glob, "*?[") && !slices.Contains(paths, folder) {
		below, err := t.Index.Documents(ctx, folder)
		if err != nil {
			return FileList{}, err
		}
		if len(below) > 0 {
			paths, match = below, func(string) bool { return true }
		}
	}
	for _, p := range paths {
		if match(p) {
			if r.Total++; len(r.Files) < limit {
				r.Files = append(r.Files, p)
			}
		}
	}
	if r.Total > len(r.Files) {
		missing = append(missing, fmt.Sprintf("the first %d of %d; narrow the glob or raise limit", len(r.Files), r.Total))
	}
	switch {
	case r.Total > 0:
	case len(paths) == 0 && app.Barren(t.Store) != "":
		missing = append(missing, app.Barren(t.Store))
	default:
		missing = append(missing, fmt.Sprintf("no path of %s matches %q", t.Label, glob))
	}
	r.Note = strings.Join(missing, "; ")
	return r, nil
}

// fromHere turns a pattern that begins with ./ or ../, which a person wrote as
// seen from the working directory, into one of the folder's own paths.
func fromHere(a *app.App, glob string) string {
	if !strings.HasPrefix(glob, "./") && !strings.HasPrefix(glob, "../") {
		return glob
	}
	as := a.Asked(glob, true)
	return as.Spellings[0]
}

// globMatcher compiles a pattern: ** is any number of directories, * and ?
// stay within one, [a-z] and [!a-z] are classes, {go,md} is either. A pattern
// without a slash matches the last element anywhere.
func globMatcher(glob string) (func(string) bool, error) {
	if glob == "" || glob == "**" {
		return func(string) bool { return true }, nil
	}
	if len(glob) > 1000 {
		return nil, kb.Errorf(kb.TooLarge, "the glob has %d bytes", len(glob)).WithHint("use a shorter pattern")
	}
	glob = strings.TrimPrefix(glob, "./")
	var b strings.Builder
	b.WriteString("^")
	if !strings.Contains(glob, "/") {
		b.WriteString("(?:.*/)?")
	}
	open := 0 // braces
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '*':
			if strings.HasPrefix(glob[i:], "**/") {
				b.WriteString("(?:.*/)?")
				i += 2
			} else if strings.HasPrefix(glob[i:], "**") {
				b.WriteString(".*")
				i++
			} else {
				b.WriteString("[^/]*")
			}
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			j := strings.IndexByte(glob[i:], ']')
			if j < 2 {
				return nil, kb.Errorf(kb.Invalid, "the glob %q has a [ without its ]", glob).WithHint("close the class, or write [[] for the sign itself")
			}
			cls := glob[i+1 : i+j]
			if cls[0] == '!' {
				cls = "^" + cls[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(cls, `\`, `\\`) + "]")
			i += j
		case c == '{':
			b.WriteString("(?:")
			open++
		case c == '}' && open > 0:
			b.WriteString(")")
			open--
		case c == ',' && open > 0:
			b.WriteString("|")
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1])) // of other letters a byte at a time
		}
	}
	if open > 0 {
		return nil, kb.Errorf(kb.Invalid, "the glob %q has a { without its }", glob).WithHint("close it, as in *.{go,md}, or write [{] for the sign itself")
	}
	b.WriteString("$")
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "the glob %q does not parse", glob).WithHint("use * ? [] {} and **, as in src/**/*.{go,md}")
	}
	return re.MatchString, nil
}
