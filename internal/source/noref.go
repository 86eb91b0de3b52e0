package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// NoRefError is the cause of an error about a branch, tag or commit that a
// repository does not have.
type NoRefError struct {
	Meant kb.Ref // that probably was meant; the zero Ref when nothing is like it
}

func (e *NoRefError) Error() string { return "no such reference" }

// noRef says that a repository lacks ref. refs are the full names of those
// that it has, list is the command line that lists them.
func noRef(repository string, ref kb.Ref, refs []string, list string) error {
	why := &NoRefError{}
	e := &kb.Error{Code: kb.NotFound, Message: fmt.Sprintf("the repository %q has no %s named %q", repository, refTypes[ref.Type].say, ref.Name), Err: why}
	if ref.Type == kb.RefCommit {
		return e.WithHint("list them with: %s", list)
	}
	for _, t := range []kb.RefType{kb.RefTag, kb.RefBranch} {
		if t != ref.Type && slices.Contains(refs, refTypes[t].prefix+ref.Name) {
			why.Meant = kb.Ref{Type: t, Name: ref.Name}
			return e.WithHint("there is a %s of that name: ask for %s %s", refTypes[t].say, t, ref.Name)
		}
	}
	var names []string
	for _, r := range refs {
		if n, ok := strings.CutPrefix(r, refTypes[ref.Type].prefix); ok && !strings.HasSuffix(n, "^{}") {
			names = append(names, n)
		}
	}
	near := nearest(ref.Name, names, 5)
	if m := meant(ref.Name, names); m != "" {
		why.Meant = kb.Ref{Type: ref.Type, Name: m}
		return e.WithHint("did you mean %s? it has: %s", m, strings.Join(near, ", "))
	}
	if len(near) > 0 {
		return e.WithHint("it has: %s", strings.Join(near, ", "))
	}
	return e.WithHint("list the names with: %s", list)
}

// meant returns the name that want is short for, "v1.18" for "v1.18.0", or that
// a slip of the finger made it of; "" when there is none.
func meant(want string, names []string) string {
	bare := strings.TrimPrefix(want, "v")
	for _, n := range []string{want + ".0", want + ".0.0", "v" + bare, bare, "v" + bare + ".0", bare + ".0", "v" + bare + ".0.0", bare + ".0.0"} {
		if n != want && slices.Contains(names, n) {
			return n
		}
	}
	var ends []string // tags of one module of several: tool/v1.2, tool-v1.2
	for _, n := range names {
		if strings.HasSuffix(n, "/"+want) || strings.HasSuffix(n, "-"+want) {
			ends = append(ends, n)
		}
	}
	if len(ends) == 1 {
		return ends[0]
	}
	return kb.Nearest(want, names)
}

// listings list, of a repository on this machine, what a ref of a type may be.
var listings = map[kb.RefType]string{kb.RefBranch: "branch --all", kb.RefTag: "tag", kb.RefCommit: "log --oneline --all"}

func noLocalRef(objs *objects, spec kb.Spec) error {
	var names []string
	if refs, err := objs.IterReferences(); err == nil {
		_ = refs.ForEach(func(r *plumbing.Reference) error { // what cannot be listed is not suggested
			name := string(r.Name())
			if origin, ok := strings.CutPrefix(name, "refs/remotes/origin/"); ok {
				name = refTypes[kb.RefBranch].prefix + origin
			}
			names = append(names, name)
			return nil
		})
	}
	return noRef(spec.Source, spec.Ref, names, "git -C "+kb.ShellWord(spec.Source)+" "+listings[spec.Ref.Type])
}

func ambiguous(digits string, hs []plumbing.Hash) error {
	return kb.Errorf(kb.Invalid, "%d commits begin with %q", len(hs), digits).WithHint("give more digits: %s or %s", hs[0], hs[1])
}
