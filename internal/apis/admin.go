package apis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
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
		fmt.Fprintf(&b, "%s: %s at %s, ", r.API, counted(r.Tools, "tool"), r.Host)
		if r.Ready {
			b.WriteString("ready")
		} else {
			b.WriteString("not ready: " + r.Why)
		}
		if h := r.Health; h != nil {
			if h.OK {
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

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
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
				row.Why = sentence(err)
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

// untrusted parses the project's file that nobody trusts, for its problems alone.
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

// ImportAPI says what to import and how.
type ImportAPI struct {
	Source     string // file, or URL of http or https
	Format     string // recipe, openapi, or "" to look
	Code       string
	BaseURL    string
	Secret     string // ${NAME} or keyring:NAME
	Operations []string
	DryRun     bool
}

// APIImported is the reply of api:import.
type APIImported struct {
	File     string        `json:"file"` // where it was written, or would be
	Written  bool          `json:"written"`
	APIs     []ImportedAPI `json:"apis"`
	Replaced []string      `json:"replaced,omitempty"`
	Set      []string      `json:"set,omitempty"` // what a person must set before calls work
	Notes    []string      `json:"notes,omitempty"`
}

// ImportedAPI is one API in an APIImported.
type ImportedAPI struct {
	API     string   `json:"api"`
	Tools   []string `json:"tools"`
	Enabled int      `json:"enabled"`
}

// Text tells it in lines.
func (r APIImported) Text() string {
	var b strings.Builder
	for _, i := range r.APIs {
		fmt.Fprintf(&b, "%s: %s, %d enabled\n", i.API, counted(len(i.Tools), "tool"), i.Enabled)
	}
	verb := "would write"
	if r.Written {
		verb = "wrote"
	}
	fmt.Fprintf(&b, "%s %s\n", verb, r.File)
	for _, s := range r.Set {
		b.WriteString("to do: " + s + "\n")
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + n + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// ImportFrom adds APIs to the user's definitions: from a recipe or an OpenAPI
// document. Credentials that stand in it are not kept.
func ImportFrom(ctx context.Context, a *app.App, r ImportAPI) (APIImported, error) {
	path := config.APIsPath(a.Config.Env)
	if path == "" {
		return APIImported{}, kb.Errorf(kb.NotFound, "there is no place for your configuration").WithHint("set $%s to the path of a configuration file", config.Variable)
	}
	text, err := importText(ctx, a, r.Source)
	if err != nil {
		return APIImported{}, err
	}
	o := restapi.ImportOptions{Code: r.Code, BaseURL: r.BaseURL, Secret: r.Secret, Operations: r.Operations}
	if strings.Contains(r.Source, "://") {
		o.From = r.Source
	}
	name := filepath.Base(r.Source)
	var im *restapi.Imported
	if r.Format == "openapi" || r.Format == "" && restapi.IsOpenAPI(text) {
		im, err = restapi.ImportOpenAPI(name, text, o)
	} else {
		im, err = restapi.ImportRecipe(name, text, o)
	}
	if err != nil {
		return APIImported{}, err
	}
	old, _, err := readAPIFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return APIImported{}, err
	}
	out := APIImported{File: path, APIs: []ImportedAPI{}, Notes: im.Notes}
	merged, replaced, err := restapi.Merge(path, old, im)
	if err != nil {
		return out, err
	}
	out.Replaced = replaced
	f, err := restapi.Parse(path, merged)
	if err != nil {
		return out, err
	}
	for _, p := range f.Providers {
		if !slices.Contains(im.Codes, p.Code) {
			continue
		}
		i := ImportedAPI{API: p.Code, Tools: []string{}}
		for _, t := range p.Tools {
			i.Tools = append(i.Tools, t.Code)
			if t.Enabled {
				i.Enabled++
			}
		}
		out.APIs = append(out.APIs, i)
	}
	for _, who := range slices.Sorted(maps.Keys(im.Secrets)) {
		ref := im.Secrets[who]
		if ref.Env != "" && a.Config.Env(ref.Env) == "" {
			out.Set = append(out.Set, fmt.Sprintf("put the credential of %s into the environment variable %s where this program starts", who, ref.Env))
		} else if ref.Keyring != "" {
			out.Set = append(out.Set, fmt.Sprintf("put the credential of %s into the keyring of the system, service %q, user %q", who, restapi.Service, ref.Keyring))
		}
	}
	if r.DryRun {
		return out, nil
	}
	if err := writeDefinitions(path, merged); err != nil {
		return out, err
	}
	apisOf(a).current.Store(nil)
	out.Written = true
	return out, nil
}

// writeDefinitions writes the user's definitions, for nobody else to read.
func writeDefinitions(path string, text []byte) error {
	if len(text) > restapi.MaxFile {
		return kb.Errorf(kb.TooLarge, "your definitions would have %d bytes, more than the %d that are read", len(text), restapi.MaxFile).
			WithHint("import fewer operations: --operations")
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	if err := atomicfile.Write(path, text); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return kb.Errorf(kb.Denied, "%q cannot be closed to others: %w", path, err).WithHint("check its permissions")
	}
	return nil
}

// importText reads a file or fetches a URL.
func importText(ctx context.Context, a *app.App, src string) ([]byte, error) {
	if !strings.HasPrefix(src, "http://") && !strings.HasPrefix(src, "https://") {
		path := src
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.Config.Dir, path)
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil, kb.Errorf(kb.NotFound, "there is no file %q", src).WithHint("name a recipe or an OpenAPI document, or its URL")
		}
		if info.Size() > restapi.MaxOpenAPI {
			return nil, kb.Errorf(kb.TooLarge, "%q has more than %d MiB", src, restapi.MaxOpenAPI>>20).WithHint("import a part of it")
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, kb.Errorf(kb.Denied, "%q cannot be read: %w", src, err).WithHint("check its permissions")
		}
		return raw, nil
	}
	file, err := config.Load(a.Config.Env)
	if err != nil {
		return nil, err
	}
	client, err := outbound.New(outbound.Policy{
		Allow: file.APIs.Hosts, MaxBytes: restapi.MaxOpenAPI, Timeout: 2 * time.Minute, UserAgent: "knowledge/" + a.Config.Version,
		AllowHint: "if that host is yours, add it to apis.allowHosts in the configuration file",
	})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, src, nil)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "%q is not an address", clipped(src)).WithHint("write it like https://example.org/openapi.json")
	}
	resp, err := client.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, kb.Errorf(kb.Away, "%q answers %s", clipped(src), resp.Status).WithHint("check the address")
	}
	return io.ReadAll(resp.Body)
}

// Remove takes an API out of the user's definitions.
func Remove(_ context.Context, a *app.App, code string) (string, error) {
	path := config.APIsPath(a.Config.Env)
	if path == "" {
		return "", kb.Errorf(kb.NotFound, "you have declared no APIs").WithHint("there is no place for your configuration: set $%s", config.Variable)
	}
	raw, _, err := readAPIFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", kb.Errorf(kb.NotFound, "you have declared no APIs").WithHint("those of a project stand in its %s", projectAPIs)
	}
	if err != nil {
		return "", err
	}
	text, err := restapi.Remove(path, raw, code)
	if err != nil {
		return "", err
	}
	if err := writeDefinitions(path, text); err != nil {
		return "", err
	}
	apisOf(a).current.Store(nil)
	return fmt.Sprintf("removed %s from %s; its credential, if it has one, is where it was", code, path), nil
}

// LastCalls returns the last n calls, oldest first.
func LastCalls(ctx context.Context, a *app.App, n int) ([]LogEntry, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	apisOf(a).mu.Lock()
	mine := apisOf(a).log
	apisOf(a).mu.Unlock()
	if err := mine.Flush(); err != nil {
		return nil, err
	}
	log := restapi.Log{Path: filepath.Join(c.Dir, callLog)}
	return log.Recent(n)
}
