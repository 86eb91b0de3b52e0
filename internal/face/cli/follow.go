package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
)

// starter is a result of a command that starts several jobs.
type starter interface{ Started() []app.Started }

// waitAll sees jobs to their ends. What fails is told as it is known; the
// first failure is the outcome.
func (s *session) waitAll(ctx context.Context, a *app.App, jobs []app.Started) (first error) {
	for i := range jobs {
		done, err := wait(ctx, a, jobs[i])
		if ctx.Err() != nil {
			return err
		}
		jobs[i] = done // the reply shares the slice: it tells how the jobs ended
		if err == nil {
			continue
		}
		if first == nil {
			first = err
		}
		s.remark(jobs[i].Store + ": " + err.Error())
	}
	return first
}

// synced prints a line for each store and what became of it.
func (s *session) synced(r app.Synced) {
	t := s.table("store", "result", "detail")
	detail := map[string]string{}
	for _, c := range r.Changes {
		name, what, _ := strings.Cut(c, ": ")
		detail[name] = what
	}
	for _, j := range r.Jobs {
		if detail[j.Store] == "" {
			detail[j.Store] = strings.TrimSuffix(j.Status+": "+j.Note, ": ")
		}
	}
	for _, l := range []struct {
		result string
		names  []string
	}{{"created", r.Created}, {"updated", r.Updated}, {"unchanged", r.Skipped}, {"orphan", r.Orphans}, {"pruned", r.Pruned}} {
		for _, n := range l.names {
			t.row(n, l.result, detail[n])
		}
	}
	for _, f := range r.Failed {
		t.row(f.Name, "failed", strings.TrimSuffix(f.Error+"; "+f.Hint, "; "))
	}
	t.flush()
	for _, u := range r.Untrusted {
		s.remark("not trusted: " + u)
	}
	if r.DryRun {
		s.remark("nothing was done: this is what a sync would do")
	}
	s.remark(r.Note)
}

func (s *session) suggested(r app.Suggested) {
	t := s.table("dependency", "version", "files", "repository", "at", "store", "from")
	for _, x := range r.Suggestions {
		at := x.Tag
		if at == "" {
			at = short(x.Commit)
		}
		t.row(x.Ecosystem+":"+x.Name, x.Version, x.Files, x.Repository, at, x.Store, x.From)
	}
	t.flush()
	for _, f := range r.Failed {
		s.remark(f.Name + ": " + f.Error)
	}
	if len(r.Unknown) > 0 {
		s.remark("from a repository that nothing here tells: " + strings.Join(r.Unknown, ", "))
	}
	for _, n := range r.Notes {
		s.remark(n)
	}
	if len(r.Suggestions) > 0 && len(r.Added) == 0 && s.env.Terminal {
		s.remark(fmt.Sprintf("%s and %s in %.0f ms; add them with: knowledge suggest --add", plural(r.Manifests, "manifest"), plural(r.SourceFiles, "source file"), r.Ms))
	}
}

func (s *session) defaults(r app.Defaults) {
	t := s.table("name", "source", "store", "description")
	for _, d := range r.Defaults {
		t.row(d.Name, d.Source, d.Store, d.Description)
	}
	t.flush()
	for _, f := range r.Failed {
		s.remark(f.Name + ": " + f.Error)
	}
}
