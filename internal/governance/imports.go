package governance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/governance/imported"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/findings"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// importsOf returns the file in which the imports of the project are kept, and
// the project's root.
func importsOf(ctx context.Context, a *app.App) (path, root string, err error) {
	p, err := a.Where()
	if err != nil {
		return "", "", err
	}
	if p.ID == "" {
		return "", "", kb.Errorf(kb.Invalid, "there is no project here whose files a report could be about").WithHint("name one with --project")
	}
	c, err := a.Open(ctx)
	if err != nil {
		return "", "", err
	}
	return imported.Path(c.Dir, p.ID), p.Root, nil
}

// ImportRow is one imported report, as it is listed.
type ImportRow struct {
	Source   string         `json:"source"` // within the project where it lies there
	Format   string         `json:"format"`
	Tool     string         `json:"tool"`
	Version  string         `json:"version,omitempty"`
	SHA256   string         `json:"sha256"`
	Written  time.Time      `json:"written_at"`
	Imported time.Time      `json:"imported_at"`
	Findings int            `json:"findings"`
	Counts   map[string]int `json:"severity_counts"`
	Covered  int            `json:"covered_files"`
	Left     int            `json:"left_out,omitempty"` // rows about no file of the project
}

func rowOf(x imported.Import, root string) ImportRow {
	r := ImportRow{Source: shortened(x.Source, root), Format: x.Format, Tool: x.Tool, Version: x.Version, SHA256: x.SHA256, Written: x.Modified.Truncate(time.Second),
		Imported: x.At.Truncate(time.Second), Findings: len(x.Findings), Counts: map[string]int{}, Covered: len(x.Coverage), Left: x.Left}
	for _, f := range x.Findings {
		r.Counts[severityName[f.Severity]]++
	}
	return r
}

// shortened returns a path within the project from its root.
func shortened(path, root string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// severityName are the severities as evidence has them.
var severityName = map[findings.Severity]string{findings.Error: "ERROR", findings.Warning: "WARN", findings.Note: "INFO"}

// ImportReply is the reply of evidence:import.
type ImportReply struct {
	ImportRow
	Forgotten bool `json:"forgotten,omitempty"`
}

// Import keeps what a report says of the files of the project, in place of
// what it said before; forget lets it go.
func Import(ctx context.Context, a *app.App, file string, forget bool) (ImportReply, error) {
	path, root, err := importsOf(ctx, a)
	if err != nil {
		return ImportReply{}, err
	}
	p, err := a.Where()
	if err != nil {
		return ImportReply{}, err
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.Dir, file)
	}
	file = project.RealPath(file)
	reports, err := imported.Load(path)
	if err != nil {
		return ImportReply{}, err
	}
	if forget {
		rest, there := reports.Drop(file)
		if !there {
			return ImportReply{}, kb.Errorf(kb.NotFound, "no report %q was imported", shortened(file, root)).WithHint("list them with: evidence:imports")
		}
		return ImportReply{ImportRow: ImportRow{Source: shortened(file, root), Counts: map[string]int{}}, Forgotten: true}, rest.Save(path)
	}
	x, err := imported.Read(file, root, time.Now())
	if err != nil {
		return ImportReply{}, err
	}
	if reports, err = reports.Put(x); err == nil {
		err = reports.Save(path)
	}
	return ImportReply{ImportRow: rowOf(x, root)}, err
}

// importCache keeps what was imported for a project, for as long as neither
// that nor one of the reports changes.
type importCache struct {
	mu      sync.Mutex
	path    string
	stamp   string
	reports []imported.Import
	byFile  map[string][]evidence.Finding
	covered map[string][]evidence.Covered
}

func importCacheOf(a *app.App) *importCache {
	return app.State(a, func() *importCache { return &importCache{} })
}

// get brings the cache up to date. Where nothing was imported it costs one stat.
func (c *importCache) get(path, root string) ([]imported.Import, map[string][]evidence.Finding, map[string][]evidence.Covered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, nil
	}
	stamp := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	if c.path != path || c.stamp != stamp {
		r, err := imported.Load(path)
		if err != nil {
			return nil, nil, nil // the commands about imports say so
		}
		c.path, c.stamp, c.reports, c.byFile = path, stamp, r.Imports, nil
	}
	for i, x := range c.reports {
		if y := x.Again(root, time.Now()); y.SHA256 != x.SHA256 || !y.Modified.Equal(x.Modified) {
			c.reports = slices.Clone(c.reports)
			c.reports[i], c.byFile = y, nil
		}
	}
	if c.byFile == nil {
		c.byFile, c.covered = map[string][]evidence.Finding{}, map[string][]evidence.Covered{}
		for _, x := range c.reports {
			from := provenance(x, root)
			for _, f := range x.Findings {
				e := evidence.Finding{Severity: severityName[f.Severity], Rule: f.Rule, Message: f.Message, Source: from}
				if f.Line > 0 {
					e.Lines = []int{f.Line}
				}
				c.byFile[f.File] = append(c.byFile[f.File], e)
			}
			for _, v := range x.Coverage {
				c.covered[v.File] = append(c.covered[v.File], evidence.Covered{Lines: v.Covered, Of: v.Total, Source: from})
			}
		}
	}
	return c.reports, c.byFile, c.covered
}

// provenance says in a few words where findings come from.
func provenance(x imported.Import, root string) string {
	return fmt.Sprintf("%s, %s of %s", strings.TrimSpace(x.Tool+" "+x.Version), shortened(x.Source, root), x.Modified.UTC().Format(time.DateOnly))
}

// importedOf returns what was imported about the files of the project.
func importedOf(a *app.App) (map[string][]evidence.Finding, map[string][]evidence.Covered) {
	path, root, err := importsOf(context.Background(), a)
	if err != nil {
		return nil, nil // what needs a project says so
	}
	_, byFile, covered := importCacheOf(a).get(path, root)
	return byFile, covered
}

// ImportsReply is the reply of evidence:imports.
type ImportsReply struct {
	Imports  []ImportRow        `json:"imports"`
	Findings []evidence.Finding `json:"findings,omitempty"` // of the file that was asked for
	Coverage []evidence.Covered `json:"coverage,omitempty"`
}

// Imports lists what was imported, and what it says of a file.
func Imports(ctx context.Context, a *app.App, file string) (ImportsReply, error) {
	path, root, err := importsOf(ctx, a)
	if err != nil {
		return ImportsReply{}, err
	}
	if _, err := imported.Load(path); err != nil {
		return ImportsReply{}, err
	}
	out := ImportsReply{Imports: []ImportRow{}}
	reports, byFile, covered := importCacheOf(a).get(path, root)
	for _, x := range reports {
		out.Imports = append(out.Imports, rowOf(x, root))
	}
	if file != "" {
		file = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(file)), "./")
		out.Findings, out.Coverage = byFile[file], covered[file]
	}
	return out, nil
}

// ExportReply is the reply of evidence:export.
type ExportReply struct {
	Findings int    `json:"findings"`
	Text     string `json:"text"`
}

// Export writes the evidence and what was imported as one SARIF log: a run for
// each origin.
func Export(ctx context.Context, a *app.App) (ExportReply, error) {
	var reports []findings.Report
	f, err := Evidence(ctx, a)
	if err != nil {
		return ExportReply{}, err
	}
	if f.Kind == evidence.Valid {
		r := findings.Report{Tool: evidence.Name, Version: evidence.Version}
		for file, list := range f.ByFile() {
			for _, x := range list {
				y := findings.Finding{Rule: x.Rule, Severity: severityAs(x.Severity), File: file, Message: x.Message}
				if len(x.Lines) > 0 {
					y.Line = x.Lines[0]
				}
				r.Findings = append(r.Findings, y)
			}
		}
		findings.Sort(r.Findings)
		reports = append(reports, r)
	}
	if path, root, err := importsOf(ctx, a); err == nil {
		kept, _, _ := importCacheOf(a).get(path, root)
		for _, x := range kept {
			if len(x.Findings) > 0 {
				reports = append(reports, findings.Report{Tool: x.Tool, Version: x.Version, Findings: x.Findings})
			}
		}
	}
	if len(reports) == 0 {
		return ExportReply{}, kb.Errorf(kb.NotFound, "there is no evidence about this project").WithHint("import a report of a checker: knowledge evidence:import FILE")
	}
	var out ExportReply
	for _, r := range reports {
		out.Findings += len(r.Findings)
	}
	out.Text, err = findings.SARIF(reports)
	return out, err
}

// severityAs reads a severity as evidence has it.
func severityAs(s string) findings.Severity {
	switch strings.ToUpper(s) {
	case "CRITICAL", "ERROR":
		return findings.Error
	case "INFO":
		return findings.Note
	}
	return findings.Warning
}
