package source

import (
	"archive/zip"
	"context"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// Walk implements kb.Snapshot. The rules are those of a repository: packed
// files count, .gitignore or not.
func (z *zipped) Walk(ctx context.Context, fn func(kb.Entry) error) error {
	z.startWalk()
	for _, b := range z.bad {
		if z.sel.wants(strings.TrimSuffix(b.path, "/"), false) {
			z.skip(b.reason)
			if b.says != "" {
				z.trouble(b.says, b.path)
			}
		}
	}
	w := zipWalker{z: z, fn: fn, budget: gitignore.NewBudget(rulesBudget)}
	if err := w.walk(ctx, z.files, "", w.budget.Level()); err != nil {
		return err
	}
	z.noteBounds(w.budget)
	for _, p := range z.sel.paths {
		if !z.has(p) {
			z.trouble("was asked for and does not exist", p)
		}
	}
	return nil
}

// has reports whether p is a file or directory of the archive.
func (z *zipped) has(p string) bool {
	return slices.ContainsFunc(z.files, func(f *zip.File) bool { return f.Name == p || strings.HasPrefix(f.Name, p+"/") })
}

type zipWalker struct {
	z      *zipped
	fn     func(kb.Entry) error
	budget *gitignore.Budget
}

// walk lists the directory rel, "" or ending in a slash, whose files, at
// whatever depth, are files. In byte order those of a directory lie together.
func (w *zipWalker) walk(ctx context.Context, files []*zip.File, rel string, own *ignoreLevel) error {
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	own = own.In(rel)
	if text := w.z.rulesOf(rel); text != "" {
		own = w.z.own.parse(own, rel, text)
	}
	var data project.DataSigns
	for rest := files; len(rest) > 0; {
		name, _, n := group(rest, rel)
		data.See(name)
		rest = rest[n:]
	}
	if data.Data() && rel != "" {
		w.z.skip(reasonData)
		return nil
	}
	for len(files) > 0 {
		name, isDir, n := group(files, rel)
		here := files[:n]
		files = files[n:]
		if data.Data() && project.Own(name) || w.leaves(rel+name, isDir, own) {
			continue
		}
		var err error
		if isDir {
			err = w.walk(ctx, here, rel+name+"/", own)
		} else if f := here[0]; f.UncompressedSize64 > uint64(w.z.sel.maxBytes) {
			w.z.skip(reasonTooLarge)
		} else {
			err = w.fn(kb.Entry{Path: f.Name, Size: int64(f.UncompressedSize64), Stamp: stampOf(f)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// group returns the first name in the directory rel, and how many of the files
// it has: one, or those of a directory.
func group(files []*zip.File, rel string) (name string, isDir bool, n int) {
	name, _, isDir = strings.Cut(files[0].Name[len(rel):], "/")
	if !isDir {
		return name, false, 1
	}
	dir := rel + name + "/"
	return name, true, sort.Search(len(files), func(i int) bool { return !strings.HasPrefix(files[i].Name, dir) })
}

// leaves reports whether the rules leave out the file or directory p, which is
// then counted.
func (w *zipWalker) leaves(p string, isDir bool, own *ignoreLevel) bool {
	z, name := w.z, path.Base(p)
	if silentDirs[name] || !z.sel.wants(p, isDir) {
		return true
	}
	w.budget.Earn(rulesPerEntry)
	file, out, kept := own.Decides(p, isDir)
	switch _, _, spent := w.budget.Spent(); {
	case spent && !z.sel.named(p):
		z.skip(reasonCostly)
		return true
	case out && !z.sel.named(p):
		z.skip(reasonOwnRule)
		return true
	case kept:
		z.keeps(z.sel, p, z.own.vouched[file])
	}
	if isDir {
		return z.leaves(z.sel, p, dirReason(name, z.sel.all))
	}
	return z.leaves(z.sel, p, fileReason(name, z.sel.all))
}
