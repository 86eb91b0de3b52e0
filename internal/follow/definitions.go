package follow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
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

// define writes a store into the project's definitions, in the place of the
// one of that name if there is one. What else stands in the file stays as it
// is. Trust in the file goes on: the change is the user's own. It returns the
// entry when the file had none of that name.
func define(ctx context.Context, a *app.App, c *app.Core, p project.Project, d Definition) (added json.RawMessage, err error) {
	path := definitionsOf(p)
	raw, err := app.ReadProjectFile(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err != nil && !fresh {
		return nil, err
	}
	file := map[string]json.RawMessage{"version": json.RawMessage("1")}
	var stores []json.RawMessage
	trusted := false
	if !fresh {
		if _, err := parseDefinitions(DefinitionsFile, raw, false); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &file); err != nil {
			return nil, kb.Errorf(kb.Invalid, "the definitions in %s do not parse: %w", DefinitionsFile, err).WithHint("repair the file")
		}
		if s := file["stores"]; s != nil {
			if err := json.Unmarshal(s, &stores); err != nil {
				return nil, kb.Errorf(kb.Invalid, "the stores in %s do not parse: %w", DefinitionsFile, err).WithHint("repair the file")
			}
		}
		if trusted, err = c.Trusts(ctx, path, raw); err != nil {
			return nil, err
		}
	}
	entry, err := json.Marshal(d)
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "encode a definition: %w", err)
	}
	i := slices.IndexFunc(stores, func(r json.RawMessage) bool {
		var have struct{ Name string }
		return json.Unmarshal(r, &have) == nil && have.Name == d.Name
	})
	if i < 0 {
		stores = append(stores, entry)
		added = entry
	} else {
		stores[i] = entry
	}
	text, err := renderDefinitions(file, stores)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(text, raw) {
		return nil, nil
	}
	if err := writeStores(path, text); err != nil {
		return nil, err
	}
	if trusted {
		_, err = a.Trust(ctx, path, false)
	}
	return added, err
}

// writeStores writes the file of definitions; it is the project's, not ours.
func writeStores(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return kb.Errorf(kb.Denied, "%q cannot be made: %w", filepath.Dir(path), err).WithHint("check its permissions")
	}
	if err := atomicfile.Write(path, text); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o644); err != nil {
		return kb.Errorf(kb.Denied, "the mode of %q cannot be set: %w", path, err).WithHint("check its permissions")
	}
	return nil
}

// undefine takes a definition out of the file that define wrote it into, unless
// somebody has changed it since, and removes a file and folder that hold
// nothing else.
func undefine(ctx context.Context, c *app.Core, path string, definition json.RawMessage) error {
	raw, err := app.ReadProjectFile(path)
	var file map[string]json.RawMessage
	var stores []json.RawMessage
	if err != nil || json.Unmarshal(raw, &file) != nil || json.Unmarshal(file["stores"], &stores) != nil {
		return nil // it is gone, or somebody is at it: nothing of ours to take back
	}
	left := slices.DeleteFunc(slices.Clone(stores), func(r json.RawMessage) bool {
		var have bytes.Buffer
		return json.Compact(&have, r) == nil && bytes.Equal(have.Bytes(), definition)
	})
	if len(left) == len(stores) {
		return nil
	}
	if len(left) == 0 && len(file) == 2 {
		if err := os.Remove(path); err != nil {
			return kb.Errorf(kb.Denied, "%q cannot be removed: %w", path, err).WithHint("check its permissions")
		}
		_ = os.Remove(filepath.Dir(path)) // unless something else lies in it
		return nil
	}
	text, err := renderDefinitions(file, left)
	if err != nil {
		return err
	}
	trusted, err := c.Trusts(ctx, path, raw)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	if err := writeStores(path, text); err != nil || !trusted {
		return err
	}
	sum := sha256.Sum256(text)
	return c.Catalog.Trust(ctx, real, hex.EncodeToString(sum[:]))
}

// renderDefinitions writes one store a line.
func renderDefinitions(file map[string]json.RawMessage, stores []json.RawMessage) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\n  \"version\": ")
	b.Write(file["version"])
	for _, k := range slices.Sorted(maps.Keys(file)) {
		if k != "version" && k != "stores" {
			fmt.Fprintf(&b, ",\n  %q: %s", k, file[k])
		}
	}
	b.WriteString(",\n  \"stores\": [")
	for i, s := range stores {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		if err := json.Compact(&b, s); err != nil {
			return nil, kb.Errorf(kb.Internal, "write a definition: %w", err)
		}
	}
	if len(stores) > 0 {
		b.WriteString("\n  ")
	}
	b.WriteString("]\n}\n")
	return b.Bytes(), nil
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

// remember keeps how a store came to be: in the project's definitions when
// they exist or are asked for, and what it follows. Of a definition that is new
// it returns the text and the file.
func remember(ctx context.Context, a *app.App, c *app.Core, p project.Project, r app.CreateStore, st kb.Store) (added json.RawMessage, file string, err error) {
	save := r.Save || exists(definitionsOf(p))
	if save {
		src := st.Spec.Source
		if filepath.IsAbs(src) {
			if project.Within(p.Root, src) {
				rel, err := filepath.Rel(p.Root, src)
				if err != nil {
					return nil, "", kb.Errorf(kb.Internal, "the place of %q in the project: %w", src, err)
				}
				src = filepath.ToSlash(rel)
			}
		}
		d := Definition{
			Name: st.Name, Type: app.TypeOf(st.Spec.Kind), Source: src, Follows: r.Follows,
			Paths: st.Spec.Selection.Paths, All: r.All, MaxFileBytes: r.MaxFile, Description: st.Description, Tags: st.Tags,
		}
		w := st.Spec.Selection.Web
		d.Depth, d.MaxPages, d.CrawlInstructions, d.ExtractInstructions = w.Depth, w.MaxPages, w.Crawl, w.Extract
		d.Include, d.Exclude, d.Hosts, d.Headless = w.Include, w.Exclude, w.Hosts, w.Headless
		switch st.Spec.Ref.Type {
		case kb.RefBranch:
			d.Branch = st.Spec.Ref.Name
		case kb.RefTag:
			d.Tag = st.Spec.Ref.Name
		case kb.RefCommit:
			d.Commit = st.Spec.Ref.Name
		}
		if added, err = define(ctx, a, c, p, d); err != nil {
			return nil, "", err
		}
	}
	if !save && r.Follows == "" {
		// Made by hand now, however a store of that name came to be before.
		return nil, "", c.Catalog.UnsetDefined(ctx, p.ID, st.Name)
	}
	return added, definitionsOf(p), c.Catalog.SetDefined(ctx, p.ID, catalog.Defined{Name: st.Name, Store: st.ID, ByFile: save, Follows: r.Follows})
}

func definitionsOf(p project.Project) string {
	return filepath.Join(p.Root, filepath.FromSlash(DefinitionsFile))
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
