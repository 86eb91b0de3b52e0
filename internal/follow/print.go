package follow

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// printSynced prints a line for each store and what became of it.
func printSynced(p *printer.Printer, r Synced) {
	t := p.Table("store", "result", "detail")
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
			t.Row(n, l.result, detail[n])
		}
	}
	for _, f := range r.Failed {
		t.Row(f.Name, "failed", strings.TrimSuffix(f.Error+"; "+f.Hint, "; "))
	}
	t.Flush()
	for _, u := range r.Untrusted {
		p.Remark("not trusted: " + u)
	}
	if r.DryRun {
		p.Remark("nothing was done: this is what a sync would do")
	}
	p.Remark(r.Note)
}

func printSuggested(p *printer.Printer, r Suggested) {
	t := p.Table("dependency", "version", "files", "repository", "at", "store", "from")
	for _, x := range r.Suggestions {
		at := x.Tag
		if at == "" {
			at = printer.Short(x.Commit)
		}
		t.Row(x.Ecosystem+":"+x.Name, x.Version, x.Files, x.Repository, at, x.Store, x.From)
	}
	t.Flush()
	for _, f := range r.Failed {
		p.Remark(f.Name + ": " + f.Error)
	}
	if len(r.Unknown) > 0 {
		p.Remark("from a repository that nothing here tells: " + strings.Join(r.Unknown, ", "))
	}
	for _, n := range r.Notes {
		p.Remark(n)
	}
	if len(r.Suggestions) > 0 && len(r.Added) == 0 && p.Terminal {
		p.Remark(fmt.Sprintf("%s and %s in %.0f ms; add them with: knowledge suggest --add", kb.Count(r.Manifests, "manifest"), kb.Count(r.SourceFiles, "source file"), r.Ms))
	}
}

func printDefaults(p *printer.Printer, r Defaults) {
	t := p.Table("name", "source", "store", "description")
	for _, d := range r.Defaults {
		t.Row(d.Name, d.Source, d.Store, d.Description)
	}
	t.Flush()
	for _, f := range r.Failed {
		p.Remark(f.Name + ": " + f.Error)
	}
}

func printSchedules(p *printer.Printer, r ScheduleList) {
	t := p.Table("store", "schedule", "next", "last", "status", "note", "id").None("no schedules; make one: knowledge store:schedule STORE @daily")
	for _, row := range r.Schedules {
		t.Row(row.Store, row.Cron, printer.At(row.Next), printer.At(row.Last), row.Status, row.Note, row.ID)
	}
	if r.Note != "" {
		t.None("")
	}
	t.Flush()
	p.Remark(r.Note)
}

func printSchedule(p *printer.Printer, r ScheduleRow) {
	p.Facts("store", r.Store, "schedule", r.Cron, "next", printer.At(r.Next))
	p.Remark(r.Note)
}
