package follow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// rename gives the entry of the project's definitions that is named old another
// name, and reports whether there is one. All else in the file stays as it is,
// and trust in it goes on: the change is the user's own. An entry that has the
// name already is refused.
func rename(ctx context.Context, a *app.App, c *app.Core, p project.Project, old, name string) (bool, error) {
	path := definitionsOf(p)
	raw, err := app.ReadProjectFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := parseDefinitions(DefinitionsFile, raw, false); err != nil {
		return false, err
	}
	var file map[string]json.RawMessage
	var stores []json.RawMessage
	if err = json.Unmarshal(raw, &file); err == nil && file["stores"] != nil {
		err = json.Unmarshal(file["stores"], &stores)
	}
	if err != nil {
		return false, kb.Errorf(kb.Invalid, "the definitions in %s do not parse: %w", DefinitionsFile, err).
			WithHint("repair the file")
	}
	at := -1
	for i, r := range stores {
		var have struct{ Name string }
		switch err := json.Unmarshal(r, &have); {
		case err != nil:
		case have.Name == name:
			return false, kb.Errorf(kb.Exists, "%s defines a store %q already", DefinitionsFile, name).
				WithHint("choose another name, or take that entry out of the file")
		case have.Name == old && at < 0:
			at = i
		}
	}
	if at < 0 {
		return false, nil
	}
	if stores[at], err = renamed(stores[at], name); err != nil {
		return false, err
	}
	if file["version"] == nil {
		file["version"] = json.RawMessage("1")
	}
	text, err := renderDefinitions(file, stores)
	if err != nil {
		return false, err
	}
	trusted, err := c.Trusts(ctx, path, raw)
	if err != nil {
		return false, err
	}
	if err := writeStores(path, text); err != nil {
		return false, err
	}
	if trusted {
		_, err = a.Trust(ctx, path, false)
	}
	return true, err
}

// renamed returns an entry with another name. Its fields keep their order, and
// those that this version does not know stay.
func renamed(entry json.RawMessage, name string) (json.RawMessage, error) {
	refuse := func(err error) (json.RawMessage, error) {
		return nil, kb.Errorf(kb.Invalid, "an entry of %s does not parse: %w", DefinitionsFile, err).
			WithHint("repair the file")
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return refuse(err)
	}
	dec := json.NewDecoder(bytes.NewReader(entry))
	if _, err := dec.Token(); err != nil {
		return refuse(err)
	}
	var start, end int // of the value; the last one counts, as in Definition
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return refuse(err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return refuse(err)
		}
		if field, ok := key.(string); ok && strings.EqualFold(field, "name") {
			end = int(dec.InputOffset())
			start = end - len(value)
		}
	}
	return slices.Concat(entry[:start], quoted, entry[end:]), nil
}
