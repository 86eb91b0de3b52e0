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
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// define writes a store into the project's definitions, in the place of the
// one of that name if there is one. What else is in the file stays as it
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
// it has changed since, and removes a file and folder that hold
// nothing else.
func undefine(ctx context.Context, c *app.Core, path string, definition json.RawMessage) error {
	raw, err := app.ReadProjectFile(path)
	var file map[string]json.RawMessage
	var stores []json.RawMessage
	if err != nil || json.Unmarshal(raw, &file) != nil || json.Unmarshal(file["stores"], &stores) != nil {
		return nil // it is gone, or being edited: nothing of ours to take back
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
