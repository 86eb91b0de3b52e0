package source

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// cancelGrace is how long a fetch may take to notice that it was cancelled
// before it is left behind to end on its own, lock in hand.
const cancelGrace = 500 * time.Millisecond

// RepoDir returns the bare repository below ReposDir that holds what was
// fetched from a canonical URL; "" for local paths, of which nothing is kept.
func (o *Opener) RepoDir(source string) string {
	if !isRemote(source) {
		return ""
	}
	sum := sha256.Sum256([]byte(source))
	return filepath.Join(o.ReposDir, kb.IDEncoding.EncodeToString(sum[:10]))
}

// fetched is what a fetch ends in: a hash in the bare repository at dir.
type fetched struct {
	dir  string
	hash plumbing.Hash
}

// openRemote fetches what the spec asks for and opens it.
func (o *Opener) openRemote(ctx context.Context, spec kb.Spec, sel *selector) (kb.Snapshot, error) {
	r := &repo{sel: sel, copied: spec.Source}
	// One of the copy, or of the fuller one beside it, that an earlier run found damaged.
	if marks, _ := filepath.Glob(o.RepoDir(spec.Source) + "*" + damagedSuffix); len(marks) > 0 {
		r.note("the copy of %q was damaged and was fetched anew", spec.Source)
		if err := o.discard(ctx, spec.Source); err != nil {
			return nil, err
		}
	}
	for attempt := 0; ; attempt++ {
		got, err := o.update(ctx, spec, &r.tally)
		if err != nil {
			return nil, err
		}
		r.dirs = gitDirs{own: got.dir, common: got.dir}
		objs := openObjects(r.dirs)
		if err = r.init(objs, got.hash, spec); err == nil {
			if _, err = object.GetTree(objs, r.tree); err == nil {
				return r, nil
			}
			err = corrupt(spec.Source, err)
		}
		objs.Close()
		if kb.CodeOf(err) != kb.Corrupt || attempt > 0 {
			return nil, err
		}
		// The copy is ours and can be had again.
		r.note("the copy of %q was damaged and was fetched anew", spec.Source)
		if err := o.discard(ctx, spec.Source); err != nil {
			return nil, err
		}
	}
}

// discard removes the copies of a URL.
func (o *Opener) discard(ctx context.Context, source string) error {
	dir := o.RepoDir(source)
	unlock, err := lock(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	var errs []error
	for _, d := range []string{dir, dir + fullSuffix} {
		errs = append(errs, os.RemoveAll(d), os.RemoveAll(d+damagedSuffix)) // the mark goes last
	}
	return errors.Join(errs...)
}

// update brings the bare repository up to date. The work goes on in a
// goroutine of its own: parts of it cannot be interrupted.
func (o *Opener) update(ctx context.Context, spec kb.Spec, t *tally) (fetched, error) {
	type result struct {
		got fetched
		err error
	}
	done := make(chan result, 1)
	go func() {
		got, err := o.updateLocked(ctx, spec, t)
		done <- result{got, err}
	}()
	var res result
	select {
	case res = <-done:
	case <-ctx.Done():
		select {
		case res = <-done:
		case <-time.After(cancelGrace):
			return fetched{}, canceled(ctx.Err())
		}
	}
	if res.err != nil && ctx.Err() != nil {
		return fetched{}, canceled(ctx.Err())
	}
	return res.got, res.err
}

func (o *Opener) updateLocked(ctx context.Context, spec kb.Spec, t *tally) (fetched, error) {
	dir := o.RepoDir(spec.Source)
	unlock, err := lock(ctx, dir)
	if err != nil {
		return fetched{}, err
	}
	defer unlock()
	f := &fetcher{o: o, source: spec.Source, dir: dir, t: t}
	first := !isDir(dir)
	if err := initBare(dir); err != nil {
		return fetched{}, diskError(dir, err)
	}
	var got fetched
	if spec.Ref.Type == kb.RefCommit {
		got, err = f.commit(ctx, spec.Ref.Name)
	} else {
		got, err = f.named(ctx, spec.Ref)
	}
	if err != nil && first {
		// Nothing was fetched, and nothing is to be left of the try.
		if e := os.RemoveAll(dir); e != nil {
			f.t.note("%q, which is empty, could not be removed: %v", dir, cause(e))
		}
	}
	return got, err
}

// fetcher fetches from one URL.
type fetcher struct {
	o      *Opener
	source string
	dir    string
	t      *tally
	won    *attempt // what worked last
}

// named fetches a branch, a tag, or the default branch.
func (f *fetcher) named(ctx context.Context, ref kb.Ref) (fetched, error) {
	src, dst := "HEAD", local(ref)
	if ref != (kb.Ref{}) {
		src = refTypes[ref.Type].prefix + ref.Name
	}
	phase := "clone"
	if _, ok := have(f.dir, dst); ok {
		phase = "fetch"
	}
	err := f.fetch(ctx, phase, f.dir, 1, refspec(src, dst))
	if errors.Is(err, errNoRef) {
		return fetched{}, f.noRef(ctx, ref)
	}
	if err != nil {
		return fetched{}, err
	}
	h, ok := have(f.dir, dst)
	if !ok {
		// The reference is there and its objects are not: a damaged copy.
		return fetched{f.dir, h}, nil
	}
	return fetched{f.dir, h}, nil
}

// noRef names the missing ref, and the nearest that exists.
func (f *fetcher) noRef(ctx context.Context, ref kb.Ref) error {
	if ref == (kb.Ref{}) {
		return kb.Errorf(kb.NotFound, "the repository %q has no default branch", f.source).WithHint("name a branch or tag")
	}
	var names []string
	if refs, err := f.list(ctx); err == nil {
		for _, r := range refs {
			names = append(names, string(r.Name()))
		}
	}
	return noRef(f.source, ref, names, "git ls-remote "+kb.ShellWord(f.source))
}

// fullSuffix marks the bare repository that holds the whole history of a URL,
// kept apart from the shallow one: it is made only where a server gives no
// single commits, or a short hash has to be looked up.
const fullSuffix = ".full"

// commit fetches one commit. A commit never changes: what is there is not
// asked for again.
func (f *fetcher) commit(ctx context.Context, digits string) (fetched, error) {
	dst := local(kb.Ref{Type: kb.RefCommit, Name: digits})
	for _, dir := range []string{f.dir, f.dir + fullSuffix} {
		if h, ok := have(dir, dst); ok {
			return fetched{dir, h}, nil
		}
	}
	if len(digits) == 40 {
		err := f.fetch(ctx, "clone", f.dir, 1, refspec(digits, dst))
		if err == nil {
			if h, ok := have(f.dir, dst); ok {
				return fetched{f.dir, h}, nil
			}
		} else if !errors.Is(err, errNoExact) && !errors.Is(err, errNoRef) {
			return fetched{}, err
		}
	}
	refs, err := f.list(ctx)
	if err != nil {
		return fetched{}, err
	}
	for _, r := range refs { // the tip of something
		if r.Type() != plumbing.HashReference || !strings.HasPrefix(r.Hash().String(), digits) {
			continue
		}
		name := strings.TrimSuffix(string(r.Name()), "^{}")
		if err := f.fetch(ctx, "clone", f.dir, 1, refspec(name, dst)); err != nil {
			return fetched{}, err
		}
		if h, ok := have(f.dir, dst); ok {
			return fetched{f.dir, h}, nil
		}
	}
	return f.search(ctx, digits)
}

// search fetches the whole history and looks the commit up.
func (f *fetcher) search(ctx context.Context, digits string) (fetched, error) {
	full := f.dir + fullSuffix
	if err := initBare(full); err != nil {
		return fetched{}, diskError(full, err)
	}
	if got, err := f.lookup(full, digits); err == nil || kb.CodeOf(err) == kb.Invalid {
		return got, err
	}
	err := f.fetch(ctx, "clone", full, 0, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
	if err != nil {
		return fetched{}, err
	}
	got, err := f.lookup(full, digits)
	if err == nil {
		f.t.note("the server does not hand out single commits by %q: the whole history was fetched to find it", digits)
	}
	return got, err
}

func (f *fetcher) lookup(dir, digits string) (fetched, error) {
	objs := openObjects(gitDirs{own: dir, common: dir})
	defer objs.Close()
	hs, err := objs.withPrefix(digits)
	switch {
	case err != nil:
		return fetched{}, corrupt(f.source, err)
	case len(hs) == 0:
		return fetched{}, kb.Errorf(kb.NotFound, "the repository %q has no commit %q on any branch or tag", f.source, digits).
			WithHint("check the hash; commits that nothing leads to cannot be fetched")
	case len(hs) > 1:
		return fetched{}, ambiguous(digits, hs)
	}
	name := local(kb.Ref{Type: kb.RefCommit, Name: digits})
	if err := objs.SetReference(plumbing.NewHashReference(name, hs[0])); err != nil {
		return fetched{}, diskError(dir, err)
	}
	return fetched{dir, hs[0]}, nil
}

// fetch fetches refspecs into the bare repository at dir; depth 0 is everything.
func (f *fetcher) fetch(ctx context.Context, phase, dir string, depth int, specs ...config.RefSpec) error {
	kb.Report(ctx, kb.Progress{Phase: phase})
	return f.try(ctx, method{
		gogit: func(ctx context.Context, a attempt) error {
			s := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
			defer s.Close()
			remote := git.NewRemote(s, &config.RemoteConfig{Name: "origin", URLs: []string{a.url}})
			err := remote.FetchContext(ctx, &git.FetchOptions{
				RemoteName: "origin", RefSpecs: specs, Depth: depth, Auth: a.auth,
				Tags: git.NoTags, Force: true, Progress: &sideband{ctx: ctx, phase: phase},
			})
			if errors.Is(err, git.NoErrAlreadyUpToDate) {
				return nil
			}
			return err
		},
		exec: func(env []string, url string) error {
			args := []string{"--git-dir=" + dir, "fetch", "--progress", "--force", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules"}
			if depth > 0 {
				args = append(args, fmt.Sprintf("--depth=%d", depth))
			}
			args = append(args, "--", url)
			for _, s := range specs {
				args = append(args, string(s))
			}
			_, err := runGit(ctx, env, "", &sideband{ctx: ctx, phase: phase}, args...)
			return err
		},
	})
}

// list returns the references that the remote advertises, tags with what they
// point at as NAME^{}.
func (f *fetcher) list(ctx context.Context) (refs []*plumbing.Reference, err error) {
	err = f.try(ctx, method{
		gogit: func(ctx context.Context, a attempt) error {
			s := filesystem.NewStorage(osfs.New(f.dir), cache.NewObjectLRUDefault())
			remote := git.NewRemote(s, &config.RemoteConfig{Name: "origin", URLs: []string{a.url}})
			refs, err = remote.ListContext(ctx, &git.ListOptions{Auth: a.auth, PeelingOption: git.AppendPeeled})
			return err
		},
		exec: func(env []string, url string) error {
			out, err := runGit(ctx, env, "", nil, "ls-remote", "--", url)
			if err != nil {
				return err
			}
			refs = nil
			for line := range strings.SplitSeq(string(out), "\n") {
				if hash, name, ok := strings.Cut(line, "\t"); ok && plumbing.IsHash(hash) {
					refs = append(refs, plumbing.NewReferenceFromStrings(name, hash))
				}
			}
			return nil
		},
	})
	return refs, err
}
