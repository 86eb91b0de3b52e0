package source

import (
	"context"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Tags asks a remote repository for the names of its tags. Nothing is fetched.
func (o *Opener) Tags(ctx context.Context, source string) ([]string, error) {
	if !isRemote(source) {
		return nil, kb.Errorf(kb.Invalid, "%q is a repository on this machine", source).WithHint("list its tags with: git -C %s tag", kb.ShellWord(source))
	}
	f := &fetcher{o: o, source: source, dir: o.RepoDir(source), t: &tally{}}
	refs, err := f.list(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range refs {
		if name, ok := strings.CutPrefix(string(r.Name()), refTypes[kb.RefTag].prefix); ok && !strings.HasSuffix(name, "^{}") {
			out = append(out, name)
		}
	}
	return out, nil
}
