package stores

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func printStore(p *printer.Printer, r app.StoreInfo) {
	masked := ""
	if r.Masked > 0 {
		masked = fmt.Sprintf("secrets in %s", kb.Count(r.Masked, "document"))
	}
	p.Facts(
		"name", r.Name, "id", r.ID, "type", r.Kind, "source", r.Source, "ref", r.Ref, "commit", r.Commit, "path", r.Path,
		"description", r.Description, "tags", strings.Join(r.Tags, ", "), "scope", r.Scope, "status", r.Status,
		"documents", r.Documents, "chunks", r.Chunks, "text", printer.Size(r.TextBytes), "index", printer.Size(r.IndexBytes), "on disk", printer.Size(r.DiskBytes), "follows", r.Follows, "pages", narrowed(r.Web),
		"segments", r.Segments, "generation", r.Generation, "embedder", r.Embedder, "engine", r.Engine, "indexed", p.When(r.Indexed),
		"languages", printer.Counts(r.Languages), "skipped", printer.Counts(r.Skipped), "masked", masked, "last error", r.LastError)
	if r.Job != nil {
		p.Facts("job", r.Job.ID, "job status", r.Job.Now(), "progress", printer.Percent(r.Job.Progress))
	}
	for _, n := range r.Notes {
		p.Remark(n)
	}
}

func printJob(p *printer.Printer, j kb.Job) {
	rate, eta := "", ""
	if !j.State.Ended() && j.Progress.Rate > 0 {
		rate = fmt.Sprintf("%.0f/s", j.Progress.Rate)
	}
	if !j.State.Ended() && j.Progress.ETA >= 1 {
		eta = (time.Duration(j.Progress.ETA) * time.Second).String()
	}
	p.Facts(
		"job", j.ID, "type", j.Type, "store", cmp.Or(j.Name, string(j.Store)), "status", j.Now(), "phase", j.Progress.Phase,
		"progress", soFar(j), "rate", rate, "left", eta, "message", j.Message, "hint", p.Words(j.Hint),
		"created", p.When(j.Created), "updated", p.When(j.Updated))
}

func printStores(p *printer.Printer, r app.StoreList) {
	t := p.Table("name", "type", "documents", "chunks", "status", "scope", "commit", "source", "id")
	for _, row := range r.Stores {
		t.Row(row.Name, row.Kind, row.Documents, row.Chunks, row.Status, row.Scope, printer.Short(row.Commit), printer.Name(source(row)), row.ID)
	}
	t.Flush()
	p.Remark(r.Note)
}

func printStarted(p *printer.Printer, r app.Started) {
	if p.Terminal {
		p.Line(strings.TrimSuffix(fmt.Sprintf("%s: %s. %s", r.Store, r.Status, p.Words(r.Note)), ". "))
		return
	}
	t := p.Table("store", "id", "job", "status")
	t.Row(r.Store, r.ID, r.Job, r.Status)
	t.Flush()
	p.Remark(r.Note)
}

func printDeleted(p *printer.Printer, r app.Deleted) {
	p.Facts(
		"store", r.Store,
		"index", map[bool]string{true: "removed", false: "kept: others use it"}[r.Removed],
		"used by", strings.Join(r.UsedBy, ", "))
	p.Remark(r.Note)
}

func printRenamed(p *printer.Printer, r app.Renamed) {
	p.Facts("store", r.Store, "was", r.Was, "id", r.ID)
	p.Remark(r.Note)
}

func printJobs(p *printer.Printer, r app.JobList) {
	t := p.Table("job", "type", "store", "status", "progress", "updated", "message").None("no jobs; indexing is one: knowledge store:index STORE")
	for _, j := range r.Jobs {
		t.Row(j.ID, j.Type, cmp.Or(j.Name, string(j.Store)), j.Now(), soFar(j), p.When(j.Updated), j.Message)
	}
	t.Flush()
	p.Remark(r.Note)
}

func source(r app.StoreRow) string {
	if r.Ref == "" || r.Ref == string(kb.RefDefault) {
		return r.Source
	}
	return r.Source + " (" + r.Ref + ")"
}

// soFar is how far a job has come. One that is done has done all of it,
// whatever it reported last.
func soFar(j kb.Job) string {
	if j.State == kb.JobCompleted && j.Progress.Total > 0 {
		j.Progress.Done = j.Progress.Total
	}
	return printer.Percent(j.Progress)
}

// narrowed writes what narrows the pages of a site; "" for nothing.
func narrowed(w *kb.Web) string {
	if w == nil {
		return ""
	}
	var parts []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			parts = append(parts, name+" "+value)
		}
	}
	add("depth", fmt.Sprint(w.Depth))
	add("max pages", fmt.Sprint(w.MaxPages))
	add("include", strings.Join(w.Include, " "))
	add("exclude", strings.Join(w.Exclude, " "))
	add("hosts", strings.Join(w.Hosts, " "))
	add("headless", w.Headless)
	add("pages wanted:", w.Crawl)
	add("sections wanted:", w.Extract)
	return strings.Join(parts, ", ")
}
