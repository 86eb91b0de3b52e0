package pkgdocs

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Archive is one version of a package as files, of which nothing was changed.
type Archive struct {
	Version string
	// Zip is of a Go module what its proxy keeps, with the names that zips of
	// modules have; of an npm package its manifest, its prose with the changelog and
	// its type declarations, those of @types below "@types/".
	Zip      []byte
	Manifest []byte // go.mod of a module, which the zip of an old one lacks
	Notes    []string
}

// Get gets a version of a package to be compared with another. Errors are those
// of Fetch.
func Get(ctx context.Context, c Config) (Archive, error) {
	s := &session{Config: c, whole: &Archive{}}
	res, err := begin(ctx, s)
	if err != nil {
		return Archive{}, err
	}
	s.whole.Notes = res.Notes
	if c.Registry == "go" {
		err = s.whole.check(c.Name)
	}
	return *s.whole, err
}

// pack makes the archive of documents.
func (a *Archive) pack(version string, docs []document) error {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, d := range docs {
		w, err := z.Create(d.path)
		if err == nil {
			_, err = w.Write(d.body)
		}
		if err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	a.Version, a.Zip = version, b.Bytes()
	return nil
}

// wholeGo keeps the zip of a module, and asks for its go.mod.
func (s *session) wholeGo(ctx context.Context, base, version string, raw []byte) error {
	escaped, err := module.EscapeVersion(version)
	if err != nil {
		return err
	}
	s.whole.Version, s.whole.Zip = version, raw
	s.whole.Manifest, err = s.ask(ctx, base+"/@v/"+escaped+".mod", fmt.Sprintf("go.mod of %s@%s", s.Name, version), maxFile)
	return err
}

// check holds the zip of a module against the rules of such zips.
func (a *Archive) check(name string) error {
	f, err := os.CreateTemp("", "knowledge-module-*.zip") // the rules are checked on a file
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(a.Zip); err != nil {
		return err
	}
	checked, err := modzip.CheckZip(module.Version{Path: name, Version: a.Version}, f.Name())
	if err == nil {
		err = checked.Err()
	}
	if err != nil {
		return kb.Errorf(kb.Corrupt, "the archive of %s@%s is no module zip: %w", name, a.Version, err).
			WithHint("try again; if it stays so, check GOPROXY")
	}
	return nil
}
