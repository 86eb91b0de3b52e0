package follow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// The files that a project's stores are defined in, below its root. The second
// is that of an older plugin: it is read and never written.
const (
	DefinitionsFile = ".knowledge/stores.json"
	OlderFile       = ".bluera/bluera-knowledge/stores.config.json"
)

// Definition is one store of a project's definitions:
//
//	{"version":1,"stores":[
//	  {"name":"react","type":"repo","source":"https://github.com/facebook/react","tag":"v19.0.0"},
//	  {"name":"guides","type":"file","source":"docs/guides"},
//	  {"name":"site","type":"web","source":"https://docs.example.org/","maxPages":500,"include":["/guide/"]}]}
//
// A relative source starts at the project's root. Path and URL are other
// spellings of source, those of the older plugin's file.
type Definition struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // file (or folder), repo, web, zip
	Source string `json:"source,omitempty"`
	Branch string `json:"branch,omitempty"` // at most one of Branch, Tag and Commit
	Tag    string `json:"tag,omitempty"`
	Commit string `json:"commit,omitempty"`
	// Follows names the dependency whose locked version Tag is, "npm:react".
	Follows      string   `json:"follows,omitempty"`
	Paths        []string `json:"paths,omitempty"`
	All          bool     `json:"all,omitempty"`
	MaxFileBytes int64    `json:"maxFileBytes,omitempty"`
	Description  string   `json:"description,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	Schedule     string   `json:"schedule,omitempty"`

	Depth               int    `json:"depth,omitempty"` // of stores of type web, as the next three
	MaxPages            int    `json:"maxPages,omitempty"`
	CrawlInstructions   string `json:"crawlInstructions,omitempty"`
	ExtractInstructions string `json:"extractInstructions,omitempty"`

	Include  []string `json:"include,omitempty"` // of stores of type web, as the rest
	Exclude  []string `json:"exclude,omitempty"`
	Hosts    []string `json:"hosts,omitempty"`
	Headless string   `json:"headless,omitempty"`

	Path string `json:"path,omitempty"`
	URL  string `json:"url,omitempty"`
}

// request is what store:create would be asked for.
func (d Definition) request() app.CreateStore {
	kind := kb.Kind(d.Type)
	src := d.Source
	for _, s := range []string{d.URL, d.Path} {
		if src == "" {
			src = s
		}
	}
	return app.CreateStore{
		Name: d.Name, Kind: kind, Source: src, Branch: d.Branch, Tag: d.Tag, Commit: d.Commit, Follows: d.Follows,
		Description: d.Description, Tags: d.Tags, Paths: d.Paths, All: d.All, MaxFile: d.MaxFileBytes,
		Web: kb.Web{Depth: d.Depth, MaxPages: d.MaxPages, Crawl: d.CrawlInstructions, Extract: d.ExtractInstructions,
			Include: d.Include, Exclude: d.Exclude, Hosts: d.Hosts, Headless: d.Headless},
	}
}

// defined is one entry of a file of definitions, as far as it can be read.
type defined struct {
	Definition
	spec kb.Spec
	err  error  // why nothing can be made of it
	risk string // what a person must vouch for, "" for what is harmless
}

// definitions is one file of definitions.
type definitions struct {
	path    string // absolute
	name    string // below the root, as it is shown
	entries []defined
	trusted bool // a person vouched for the file as it is
}

// loadDefinitions reads the definitions of a project; there may be none. What
// both files name is taken from the first.
func loadDefinitions(ctx context.Context, a *app.App, c *app.Core, p project.Project) ([]*definitions, error) {
	var files []*definitions
	seen := map[string]bool{}
	for _, name := range []string{DefinitionsFile, OlderFile} {
		path := filepath.Join(p.Root, filepath.FromSlash(name))
		raw, err := app.ReadProjectFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f := &definitions{path: path, name: name}
		if f.entries, err = parseDefinitions(name, raw, name == DefinitionsFile); err != nil {
			return nil, err
		}
		if f.trusted, err = c.Trusts(ctx, path, raw); err != nil {
			return nil, err
		}
		for i := range f.entries {
			d := &f.entries[i]
			if d.err == nil && seen[d.Name] {
				if name == DefinitionsFile {
					d.err = kb.Errorf(kb.Invalid, "the name %q is defined twice", d.Name).WithHint("give each store a name of its own")
				} else {
					d.Name = "" // the newer file has it
				}
			}
			seen[d.Name] = true
			if d.err == nil && d.Name != "" {
				d.resolve(ctx, p.Root, func() bool { return admitDefined(ctx, a, c, d, p.Root) == nil })
				if d.err == nil && d.risk == "" {
					d.risk = siteRisk(c, d.spec)
				}
			}
		}
		f.entries = slices.DeleteFunc(f.entries, func(d defined) bool { return d.err == nil && d.Name == "" })
		files = append(files, f)
	}
	return files, nil
}

// parseDefinitions reads a file entry by entry, so that one that is wrong
// costs no other. strict refuses fields that there are not.
func parseDefinitions(name string, raw []byte, strict bool) ([]defined, error) {
	var file struct {
		Version *int              `json:"version"`
		Stores  []json.RawMessage `json:"stores"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, kb.Errorf(kb.Invalid, "the definitions in %s do not parse: %w", name, err).
			WithHint(`write {"version":1,"stores":[…]}; see: help stores:sync`)
	}
	if file.Version != nil && *file.Version != 1 {
		return nil, kb.Errorf(kb.Unsupported, "the definitions in %s are of version %d, and this program knows version 1", name, *file.Version).
			WithHint("update the program")
	}
	var out []defined
	for i, r := range file.Stores {
		var d defined
		dec := json.NewDecoder(bytes.NewReader(r))
		if strict {
			dec.DisallowUnknownFields()
		}
		if err := dec.Decode(&d.Definition); err != nil {
			d.err = kb.Errorf(kb.Invalid, "entry %d of %s does not parse: %w", i+1, name, err).WithHint("see: help stores:sync")
		}
		if d.Name == "" {
			d.Name = fmt.Sprintf("entry %d", i+1)
			if d.err == nil {
				d.err = kb.Errorf(kb.Invalid, "entry %d of %s has no name", i+1, name).WithHint("give it a name")
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// resolve makes the spec of an entry and finds what a person must vouch for.
// admitted says whether its source needs no such word.
func (d *defined) resolve(ctx context.Context, root string, admitted func() bool) {
	r := d.request()
	d.spec, d.err = app.SpecOf(ctx, r, root)
	switch {
	case !admitted():
		d.risk = "its source " + r.Source + " lies outside the project"
	case d.Schedule != "":
		d.risk = "it asks to run at times of its own: " + d.Schedule
	}
}

// admitDefined refuses the source of an entry that leads out of what may be
// indexed without a person's word.
func admitDefined(ctx context.Context, a *app.App, c *app.Core, d *defined, root string) error {
	if d.err == nil {
		return a.AdmitSpec(ctx, c, d.spec)
	}
	r := d.request()
	if path := source.LocalPath(r.Kind, r.Source, root); path != "" && r.Source != "" {
		return a.Admit(ctx, c, path)
	}
	return nil
}

// siteRisk says why a person must vouch for a definition of a site: it names
// a host that the user opened, or logs into, for themselves. "" for others.
func siteRisk(c *app.Core, spec kb.Spec) string {
	if !source.TraitsOf(spec.Kind).Gathered {
		return ""
	}
	hosts := slices.Clone(spec.Selection.Web.Hosts)
	if u, err := url.Parse(spec.Source); err == nil && u.Host != "" {
		hosts = append(hosts, u.Host)
	}
	mine := slices.Clone(c.Web.Allow)
	for _, h := range c.Web.Headers {
		mine = append(mine, h.Host)
	}
	for _, h := range hosts {
		name := h
		if host, _, err := net.SplitHostPort(h); err == nil {
			name = host
		}
		ip, _ := netip.ParseAddr(strings.Trim(name, "[]"))
		for _, m := range mine {
			own, _, err := net.SplitHostPort(m)
			if err != nil {
				own = strings.Trim(m, "[]")
			}
			prefix, err := netip.ParsePrefix(m)
			inside := err == nil && ip.IsValid() && prefix.Contains(ip.Unmap())
			under := strings.HasPrefix(name, "*.") && strings.HasSuffix(own, name[1:])
			if inside || under || strings.EqualFold(own, name) {
				return "its site " + h + " is one that your configuration opens or logs into"
			}
		}
	}
	return ""
}

// checkDefinitions refuses definitions that do not parse.
func checkDefinitions(p project.Project) error {
	file := definitionsOf(p)
	if !exists(file) {
		return nil
	}
	raw, err := app.ReadProjectFile(file)
	if err == nil {
		_, err = parseDefinitions(DefinitionsFile, raw, false)
	}
	return err
}

func definitionsOf(p project.Project) string {
	return filepath.Join(p.Root, filepath.FromSlash(DefinitionsFile))
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
