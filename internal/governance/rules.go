package governance

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/governance/imported"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// readRules reads the rules of the project at root. A file that is there and
// does not count is a reason to stop, since it may have asked for more.
func readRules(ctx context.Context, a *app.App, root string) (own gate.Own, err error) {
	path := filepath.Join(root, filepath.FromSlash(gate.RulesFile))
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return own, nil
	}
	refuse := func(code, why string) (gate.Own, error) { return gate.Own{Code: code, Why: why}, nil }
	if err != nil || !info.Mode().IsRegular() || info.Size() > app.MaxTrusted {
		return refuse(gate.RulesInvalid, gate.RulesFile+" is no small regular file.")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return refuse(gate.RulesInvalid, gate.RulesFile+" cannot be read.")
	}
	c, err := a.Open(ctx)
	if err != nil {
		return own, err
	}
	if ok, err := c.Trusts(ctx, path, raw); err != nil || !ok {
		if err != nil {
			return own, err
		}
		return refuse(gate.RulesUntrusted, "Nobody has vouched for "+gate.RulesFile+": knowledge trust "+gate.RulesFile)
	}
	rules, err := gate.ParseRules(raw)
	if err != nil {
		why := strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:")), " ")
		return refuse(gate.RulesInvalid, gate.RulesFile+" cannot be read: "+why)
	}
	return gate.Own{Rules: rules}, nil
}

// ownRules gathers the project's own rules and what they look at: the evidence,
// what was imported, and the reports that the rules name.
func ownRules(ctx context.Context, a *app.App, root string, f *evidence.File) (gate.Own, error) {
	own, err := readRules(ctx, a, root)
	if err != nil || own.Rules == nil {
		return own, err
	}
	if f.Kind == evidence.Valid {
		for file, list := range f.ByFile() {
			for _, x := range list {
				own.Found = append(own.Found, gate.Found{Severity: x.Severity, Rule: x.Rule, File: file})
			}
		}
	}
	var reports []imported.Import
	if path, _, err := importsOf(ctx, a); err == nil {
		if _, err := imported.Load(path); err != nil {
			return gate.Own{Code: gate.RulesInvalid, Why: "What was imported cannot be read: " + err.Error()}, nil
		}
		reports, _, _ = importCacheOf(a).get(path, root)
	}
	watched, err := watchedReports(root, own.Rules.Reports)
	if err != nil {
		return gate.Own{Code: gate.RulesInvalid, Why: "A report that " + gate.RulesFile + " names cannot be read: " + err.Error()}, nil
	}
	for _, x := range slices.Concat(watched, reports) {
		if slices.ContainsFunc(watched, func(w imported.Import) bool { return w.Source == x.Source && !w.At.Equal(x.At) }) {
			continue // imported as well
		}
		own.Ran = append(own.Ran, gate.Ran{Check: x.Tool, Written: x.Modified})
		for _, y := range x.Findings {
			own.Found = append(own.Found, gate.Found{Severity: severityName[y.Severity], Rule: y.Rule, File: y.File})
		}
	}
	return own, nil
}

// mostWatched bounds the reports that rules name.
const mostWatched = 100

// watchedReports reads the reports below root that globs name.
func watchedReports(root string, globs []string) ([]imported.Import, error) {
	var out []imported.Import
	now := time.Now()
	for _, g := range globs {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(g)))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if file = project.RealPath(file); !project.Within(project.RealPath(root), file) {
				continue
			}
			if slices.ContainsFunc(out, func(x imported.Import) bool { return x.Source == file }) || len(out) == mostWatched {
				continue
			}
			x, err := imported.Read(file, root, now)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	return out, nil
}
