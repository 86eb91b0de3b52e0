package apis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// CheckReply is the reply of api:check.
type CheckReply struct {
	APIs     []CheckRow        `json:"apis"`
	Problems []restapi.Problem `json:"problems"`
	Notes    []string          `json:"notes,omitempty"`
}

// CheckRow is one API in an APICheck.
type CheckRow struct {
	API    string          `json:"api"`
	Host   string          `json:"host"`
	Tools  int             `json:"tools"` // enabled
	File   string          `json:"file"`
	Ready  bool            `json:"ready"`
	Why    string          `json:"why,omitempty"` // it is not
	Health *restapi.Health `json:"health,omitempty"`
}

// Text returns a line for each API and each problem.
func (c CheckReply) Text() string {
	var b strings.Builder
	for _, r := range c.APIs {
		fmt.Fprintf(&b, "%s: %s at %s, ", r.API, kb.Count(r.Tools, "tool"), r.Host)
		if r.Ready {
			b.WriteString("ready")
		} else {
			b.WriteString("not ready: " + r.Why)
		}
		if h := r.Health; h != nil {
			if h.OK && h.Status == 0 {
				b.WriteString("; its server answers")
			} else if h.OK {
				fmt.Fprintf(&b, "; its host answered %d after %d ms", h.Status, h.Millis)
			} else {
				b.WriteString("; its host: " + h.Problem)
			}
		}
		b.WriteByte('\n')
	}
	for _, p := range c.Problems {
		b.WriteString(p.String() + "\n")
	}
	for _, n := range c.Notes {
		b.WriteString(n + "\n")
	}
	if b.Len() == 0 {
		return "no APIs are declared"
	}
	return strings.TrimRight(b.String(), "\n")
}

// Check reads definitions and says what is wrong: those of the user and
// the project, trusted or not, or those of one file. live asks each host that
// may be called whether it is there, without credentials.
func Check(ctx context.Context, a *app.App, file string, live bool) (CheckReply, error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return CheckReply{}, err
	}
	out := CheckReply{APIs: []CheckRow{}, Problems: d.problems, Notes: slices.DeleteFunc(d.notes, func(s string) bool { return strings.HasPrefix(s, "some definitions") })}
	if live && file == "" {
		if d, err = learn(ctx, a, d, "", true); err != nil {
			return CheckReply{}, err
		}
	}
	all := d.all
	if file != "" {
		path := file
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.Config.Dir, path)
		}
		raw, _, err := readAPIFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return out, kb.Errorf(kb.NotFound, "there is no file %q", file).WithHint("name a file of definitions, such as %s", projectAPIs)
		}
		if err != nil {
			return out, err
		}
		f, err := restapi.Parse(file, raw)
		if err != nil {
			return out, err
		}
		all, out.Problems, out.Notes = f.Providers, f.Problems, nil
		if live {
			return out, kb.Errorf(kb.Invalid, "live is for what is declared, and this is only a file").WithHint("leave live out")
		}
	} else if f := untrusted(ctx, a); f != nil {
		out.Problems = append(slices.Clone(out.Problems), f.Problems...)
	}
	for _, p := range all {
		row := CheckRow{API: p.Code, Host: p.Host(), File: p.File}
		for _, t := range p.Tools {
			if t.Enabled {
				row.Tools++
			}
		}
		if file == "" {
			err := apiReady(a, d, p)
			if row.Ready = err == nil; err != nil {
				row.Why = kb.Said(err, "; ")
			}
		} else {
			row.Ready, row.Why = false, "this checks the file only"
		}
		out.APIs = append(out.APIs, row)
	}
	if out.Problems == nil {
		out.Problems = []restapi.Problem{}
	}
	if live {
		err = checkLive(ctx, a, d, out.APIs)
	}
	return out, err
}

// untrusted parses the project's file that is not trusted, for its problems alone.
func untrusted(ctx context.Context, a *app.App) *restapi.File {
	p, err := a.Where()
	if err != nil || p.Root == "" {
		return nil
	}
	path := filepath.Join(p.Root, filepath.FromSlash(projectAPIs))
	raw, err := app.ReadProjectFile(path)
	if err != nil {
		return nil
	}
	if ok, err := trustsAPIs(ctx, a, path, raw); ok || err != nil {
		return nil
	}
	f, err := restapi.Parse(projectAPIs, raw)
	if err != nil {
		return &restapi.File{Problems: []restapi.Problem{{File: projectAPIs, Text: err.Error(), Hint: kb.HintOf(err)}}}
	}
	return f
}

// checkLive asks the hosts of enabled APIs, a few at a time.
func checkLive(ctx context.Context, a *app.App, d *declared, rows []CheckRow) error {
	caller, err := apiCaller(ctx, a, d)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range rows {
		p := d.all[i]
		if !p.Enabled {
			continue
		}
		if p.Server != nil { // it has just been asked
			h := restapi.Health{API: p.Code, OK: true}
			if err := apisOf(a).servers.Why(p); err != nil {
				h.OK, h.Problem = false, err.Error()
			}
			rows[i].Health = &h
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			h := caller.Check(ctx, p)
			rows[i].Health = &h
			if h.OK {
				apisOf(a).outcome(p.Code, nil)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
