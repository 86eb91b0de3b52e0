package apis

import (
	"bytes"
	"context"
	"encoding/json"
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
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/apis/finder"
	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// ImportAPI says what to import and how.
type ImportAPI struct {
	Source     string // file, or URL of http or https
	Format     string // recipe, openapi, graphql, or "" to look
	Code       string
	BaseURL    string
	Secret     string // ${NAME} or keyring:NAME
	Operations []string
	Query      string // only what is found with these words
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
	// Losses are what of operations could not be carried over.
	Losses []restapi.Loss `json:"losses,omitempty"`
}

// ImportedAPI is one API in an APIImported.
type ImportedAPI struct {
	API     string   `json:"api"`
	Tools   []string `json:"tools"`
	Enabled int      `json:"enabled"`
	Server  bool     `json:"server,omitempty"` // of the Model Context Protocol, whose tools are not declared
}

// Text is the reply in lines.
func (r APIImported) Text() string {
	var b strings.Builder
	for _, i := range r.APIs {
		if i.Server {
			fmt.Fprintf(&b, "%s: a server, which lists its tools itself\n", i.API)
			continue
		}
		fmt.Fprintf(&b, "%s: %s, %d enabled\n", i.API, kb.Count(len(i.Tools), "tool"), i.Enabled)
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
	for _, l := range r.Losses {
		b.WriteString("lost: " + l.String() + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// ImportFrom adds APIs to the user's definitions: from a recipe or an OpenAPI
// document. Credentials in it are not kept.
func ImportFrom(ctx context.Context, a *app.App, r ImportAPI) (APIImported, error) {
	path := config.APIsPath(a.Config.Env)
	if path == "" {
		return APIImported{}, kb.Errorf(kb.NotFound, "there is no place for your configuration").WithHint("set $%s to the path of a configuration file", config.Variable)
	}
	text, err := importText(ctx, a, r.Source, r.Format == "graphql")
	if err != nil {
		return APIImported{}, err
	}
	o := restapi.ImportOptions{Code: r.Code, BaseURL: r.BaseURL, Secret: r.Secret, Operations: r.Operations}
	if strings.Contains(r.Source, "://") {
		o.From = r.Source
	}
	name := filepath.Base(r.Source)
	var im *restapi.Imported
	if r.Format == "graphql" || r.Format == "" && restapi.IsGraphQL(text) {
		im, err = restapi.ImportGraphQL(name, text, o)
	} else if r.Format == "openapi" || r.Format == "" && restapi.IsOpenAPI(text) {
		im, err = restapi.ImportOpenAPI(name, text, o)
	} else {
		im, err = restapi.ImportRecipe(name, text, o)
	}
	if err != nil {
		return APIImported{}, err
	}
	if r.Query != "" {
		if err := onlyFound(ctx, a, name, im, r.Query); err != nil {
			return APIImported{}, err
		}
	}
	old, _, err := readAPIFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return APIImported{}, err
	}
	out := APIImported{File: path, APIs: []ImportedAPI{}, Notes: im.Notes, Losses: im.Losses}
	merged, replaced, err := restapi.Merge(path, old, im)
	if err != nil {
		return out, err
	}
	out.Replaced = replaced
	for _, p := range im.Merged.Providers {
		if !slices.Contains(im.Codes, p.Code) {
			continue
		}
		if p.Program() {
			if o.From != "" {
				return out, kb.Errorf(kb.Denied, "%s would start a program here, which a document of the network may not say", p.Code).
					WithHint("read it, save it as a file, and import that")
			}
			out.Notes = append(out.Notes, p.Code+" is a program that is started when its tools are asked for: "+strings.Join(p.Server.Command, " "))
		}
		i := ImportedAPI{API: p.Code, Tools: []string{}, Server: p.Server != nil}
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

// mostChosen is how many operations are imported of those that words find.
const mostChosen = 40

// onlyFound leaves of what is imported the operations that words find.
func onlyFound(ctx context.Context, a *app.App, name string, im *restapi.Imported, words string) error {
	f, err := im.File(name)
	if err != nil {
		return err
	}
	c, err := a.Open(ctx)
	if err != nil {
		return err
	}
	hits, err := finder.New(f.Providers).Find(ctx, c.Embedder, words)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, h := range hits[:min(len(hits), mostChosen)] {
		keep[h.Tool.Code] = true
	}
	if len(keep) == 0 {
		return kb.Errorf(kb.NotFound, "no operation of %s has anything of these words", name).WithHint("try others, or choose with --operations")
	}
	im.Only(func(code string) bool { return keep[code] })
	im.Notes = append(im.Notes, fmt.Sprintf("of its operations the %d that fit the words best were taken", len(keep)))
	return nil
}

// importText reads a file or fetches a URL; a service of GraphQL is asked for its schema.
func importText(ctx context.Context, a *app.App, src string, ask bool) ([]byte, error) {
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
		return nil, kb.Errorf(kb.Invalid, "%q is not an address", kb.Clip(src, 60)).WithHint("write it like https://example.org/openapi.json")
	}
	if ask {
		body, err := json.Marshal(map[string]string{"query": restapi.Introspection})
		if err != nil {
			return nil, err
		}
		req.Method, req.Body = http.MethodPost, io.NopCloser(bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, kb.Errorf(kb.Away, "%q answers %s", kb.Clip(src, 60), resp.Status).WithHint("check the address")
	}
	return io.ReadAll(resp.Body)
}
