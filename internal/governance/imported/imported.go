// Package imported keeps what other checkers found in a project, as a person
// imported it: one file for each project in the data directory, which says of
// every report where it came from.
package imported

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/findings"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// Import is one report, with its provenance.
type Import struct {
	Source   string              `json:"source"` // path of the report, absolute
	Format   string              `json:"format"`
	Tool     string              `json:"tool"`
	Version  string              `json:"version,omitempty"` // of the tool
	SHA256   string              `json:"sha256"`            // of the report
	Size     int64               `json:"size"`
	Modified time.Time           `json:"modified"` // when the report was written
	At       time.Time           `json:"imported_at"`
	Findings []findings.Finding  `json:"findings"`
	Coverage []findings.Coverage `json:"coverage"`
	Left     int                 `json:"left_out,omitempty"` // rows about no file of the project
}

// Reports are the imports of a project, in the order of their sources.
type Reports struct {
	Format  int      `json:"version"`
	Imports []Import `json:"imports"`
}

const (
	// Dir is the folder in the data directory.
	Dir     = "evidence"
	version = 1
	most    = 100 // reports of one project
)

// Path returns the file of a project.
func Path(dataDir, project string) string { return filepath.Join(dataDir, Dir, project+".json") }

// Load reads the reports of a project; none where there is no file.
func Load(path string) (Reports, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Reports{Format: version}, nil
	}
	var r Reports
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err == nil && r.Format != version {
		err = kb.Errorf(kb.Unsupported, "they were kept by another version of this program")
	}
	if err != nil {
		return Reports{}, kb.Errorf(kb.Corrupt, "what was imported cannot be read: %w", err).WithHint("remove %s and import again", path)
	}
	return r, nil
}

// Save writes the reports of a project; without any the file goes.
func (r Reports) Save(path string) error {
	if len(r.Imports) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return kb.Errorf(kb.Denied, "%q cannot be removed: %w", path, err).WithHint("check its permissions")
		}
		return nil
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	return atomicfile.Write(path, raw)
}

// Put adds a report, in place of an older one of the same source.
func (r Reports) Put(x Import) (Reports, error) {
	out, _ := r.Drop(x.Source)
	if len(out.Imports) == most {
		return r, kb.Errorf(kb.TooLarge, "there are %d reports of this project already", most).WithHint("forget one: knowledge evidence:import FILE --forget")
	}
	out.Format, out.Imports = version, append(out.Imports, x)
	slices.SortFunc(out.Imports, func(a, b Import) int {
		switch {
		case a.Source < b.Source:
			return -1
		case a.Source > b.Source:
			return 1
		}
		return 0
	})
	return out, nil
}

// Drop returns the reports without that of a source, and whether there was one.
func (r Reports) Drop(source string) (Reports, bool) {
	rest := slices.DeleteFunc(slices.Clone(r.Imports), func(x Import) bool { return x.Source == source })
	return Reports{r.Format, rest}, len(rest) < len(r.Imports)
}

// Read reads a report about the project at root. Secrets in it are masked.
func Read(path, root string, now time.Time) (Import, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Import{}, kb.Errorf(kb.NotFound, "there is no report %q", path).WithHint("name a file that a checker wrote")
	case err != nil:
		return Import{}, kb.Errorf(kb.Denied, "the report %q cannot be read: %w", path, err).WithHint("check its permissions")
	case !info.Mode().IsRegular(): // opening a pipe would wait for a writer
		return Import{}, kb.Errorf(kb.Invalid, "%q is no regular file", path).WithHint("name a file that a checker wrote")
	}
	f, err := os.Open(path)
	if err != nil {
		return Import{}, kb.Errorf(kb.Denied, "the report %q cannot be read: %w", path, err).WithHint("check its permissions")
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, findings.MaxBytes+1))
	if err != nil {
		return Import{}, kb.Errorf(kb.Denied, "the report %q cannot be read: %w", path, err).WithHint("check its permissions")
	}
	got, err := findings.Read(raw, root)
	if err != nil {
		return Import{}, err
	}
	sum := sha256.Sum256(raw)
	x := Import{Source: path, Format: got.Format, Tool: kb.Clip(got.Tool, 100), Version: kb.Clip(got.Version, 40), SHA256: hex.EncodeToString(sum[:]), Size: info.Size(),
		Modified: info.ModTime().UTC(), At: now.UTC(), Findings: got.Findings, Coverage: got.Coverage, Left: got.Left}
	for i := range x.Findings {
		x.Findings[i].Message, _ = secret.Mask("", x.Findings[i].Message)
	}
	return x, nil
}

// Again reads a report again if its file has changed since, and returns it as
// it was where that is gone or is no report any more.
func (x Import) Again(root string, now time.Time) Import {
	info, err := os.Stat(x.Source)
	if err != nil || info.Size() == x.Size && info.ModTime().Equal(x.Modified) {
		return x
	}
	if fresh, err := Read(x.Source, root, now); err == nil {
		return fresh
	}
	return x
}
