package revisions

import (
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// mostRevision bounds what a revision is written as, in bytes.
const mostRevision = 250

// resolved remembers what revisions meant: to walk back 500 commits and to open the
// packs of a repository takes longer than the search itself.
type resolved struct {
	mu    sync.Mutex
	known map[string]dated
}

type dated struct {
	commit plumbing.Hash
	when   time.Time
}

// mostKnown bounds what is remembered.
const mostKnown = 500

// of is resolve, from memory where the reference that it begins with has not moved.
func (k *resolved) of(repo *source.Repository, common, rev string, now time.Time) (x dated, err error) {
	tip, ok := repo.Tip(rev)
	if t, isTime := source.ParseTime(rev, now); isTime {
		tip, err = repo.Head()
		ok = err == nil && t.Format(time.DateOnly) == rev // else it is another time at each question
	} else if !ok && commitRE.MatchString(strings.ToLower(rev)) {
		ok = true // the beginning of a hash
	}
	key := common + "\x00" + tip.String() + "\x00" + rev
	k.mu.Lock()
	x, there := k.known[key]
	k.mu.Unlock()
	if ok && there {
		return x, nil
	}
	if x.commit, x.when, err = resolve(repo, rev, now); err != nil || !ok {
		return x, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) >= mostKnown {
		k.known = map[string]dated{}
	}
	k.known[key] = x
	return x, nil
}

const forms = "name a branch, a tag, a commit or what is before one, HEAD~20, a day, 2026-11-01, or how long ago, 3w"

// checked returns a revision as it is looked for. kb.Invalid for what git would
// take for no revision, or for an option.
func checked(rev string) (string, error) {
	rev = strings.TrimSpace(rev)
	refused := kb.Errorf(kb.Invalid, "%q names no revision", kb.Clip(rev, 80)).WithHint(forms).About("at")
	switch {
	case strings.Contains(rev, "..") && rev[0] != '-' && !strings.ContainsFunc(rev, unicode.IsControl):
		return "", kb.Errorf(kb.Invalid, "%q are two revisions, and one is searched at a time", kb.Clip(rev, 80)).
			WithHint("what differs between two is told by: changed {\"since\":%q}", kb.Clip(rev, 80)).About("at")
	case rev == "" || rev == "@" || rev[0] == '-' || len(rev) > mostRevision || strings.ContainsFunc(rev, unicode.IsControl),
		strings.ContainsAny(rev, ` :?*[\{`):
		return "", refused
	}
	return rev, nil
}

// resolve returns the commit that a checked revision names in a repository, and
// when it was made.
func resolve(repo *source.Repository, rev string, now time.Time) (h plumbing.Hash, when time.Time, err error) {
	head, err := repo.Head()
	if err != nil {
		return h, when, err
	}
	t, isTime := source.ParseTime(rev, now)
	if isTime {
		h, err = repo.Before(head, t)
	} else {
		h, err = repo.Revision(rev)
	}
	if code := kb.CodeOf(err); err != nil && (code == kb.NotFound || errors.Is(err, plumbing.ErrObjectNotFound)) {
		why := "the repository has no revision " + quoted(rev)
		if isTime {
			why = "the repository has no commit before " + t.UTC().Format("2006-01-02 15:04") + " UTC"
		}
		if repo.Shallow() {
			return h, when, kb.Errorf(kb.NotFound, "%s: the clone is shallow, and what is older is not in it", why).
				WithHint("get it with: git fetch --unshallow").About("at")
		}
		if hint := kb.HintOf(err); hint != "" {
			return h, when, kb.Errorf(kb.NotFound, "%s", why).WithHint("%s", hint).About("at")
		}
		return h, when, kb.Errorf(kb.NotFound, "%s", why).WithHint("the first ones are listed by: git log --oneline --reverse").About("at")
	}
	if err != nil {
		return h, when, err
	}
	c, err := repo.Commit(h)
	if err != nil {
		return h, when, kb.Errorf(kb.NotFound, "%s is not a commit that this clone has", quoted(rev)).WithHint(forms).About("at")
	}
	return h, c.Committer.When, nil
}

func quoted(rev string) string { return `"` + kb.Clip(rev, 80) + `"` }
