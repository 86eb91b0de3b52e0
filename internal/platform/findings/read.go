package findings

import (
	"bytes"
	"encoding/xml"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The bounds on what is read of a file of another checker.
const (
	MaxBytes    = 64 << 20
	MaxFindings = 50_000
	maxMessage  = 1000 // characters
	maxRule     = 200
	maxCovered  = 100_000 // files whose coverage is kept
)

// Import is what another checker wrote.
type Import struct {
	Format   string // sarif, checkstyle, junit, eslint, golangci-lint, lcov, cobertura, go-cover
	Tool     string // what wrote it, as it says; "" where it does not
	Version  string
	Findings []Finding
	Coverage []Coverage
	Left     int // rows that are about no file of the project, or more than is kept
}

// Coverage says how much of a file was run.
type Coverage struct {
	File    string `json:"file"`
	Covered int    `json:"covered"` // lines, of Go statements
	Total   int    `json:"total"`
}

// reader makes an Import of the rows of one file.
type reader struct {
	Import
	root    string // of the project
	placed  map[string]string
	covered map[string]int // index into Coverage
}

// Read reads a file in any of the forms of Import.Format, which its content
// tells. Paths become those of the project at root.
func Read(raw []byte, root string) (Import, error) {
	r := &reader{root: root, placed: map[string]string{}, covered: map[string]int{}}
	unknown := kb.Errorf(kb.Invalid, "this is no report in a form that is known").
		WithHint("SARIF 2.1.0, Checkstyle, JUnit, ESLint JSON, golangci-lint JSON, lcov, Cobertura and Go coverage are read")
	if len(raw) > MaxBytes {
		return Import{}, kb.Errorf(kb.TooLarge, "the report has more than %d MiB", MaxBytes>>20).WithHint("import a part of it")
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	var err error
	switch {
	case len(text) == 0:
		return Import{}, unknown
	case text[0] == '{' && bytes.Contains(text, []byte(`"runs"`)):
		err = r.sarif(text)
	case text[0] == '{' && bytes.Contains(text, []byte(`"Issues"`)):
		err = r.golangci(text)
	case text[0] == '[' && (len(text) < 8 || bytes.Contains(text, []byte(`"filePath"`))):
		err = r.eslint(text)
	case text[0] == '<':
		err = r.xml(text)
	case bytes.HasPrefix(text, []byte("mode:")):
		err = r.goCover(text)
	case bytes.HasPrefix(text, []byte("SF:")) || bytes.Contains(text, []byte("\nSF:")):
		err = r.lcov(text)
	default:
		return Import{}, unknown
	}
	if err != nil {
		if r.Format == "" {
			return Import{}, unknown
		}
		return Import{}, kb.Errorf(kb.Invalid, "the report reads like %s and is not: %w", r.Format, err).WithHint("have the tool write it again")
	}
	Sort(r.Findings)
	return r.Import, nil
}

// add keeps a finding about a file of the project.
func (r *reader) add(f Finding) {
	f.File = r.place(f.File)
	if f.File == "" || f.Severity == Off || len(r.Findings) == MaxFindings {
		r.Left++
		return
	}
	f.Rule, f.Message, f.Line = kb.Clip(f.Rule, maxRule), kb.Clip(strings.TrimSpace(f.Message), maxMessage), max(f.Line, 0)
	r.Findings = append(r.Findings, f)
}

// cover counts lines of a file, some of which were run.
func (r *reader) cover(file string, covered, total int) {
	if file = r.place(file); file == "" {
		r.Left++
		return
	}
	i, ok := r.covered[file]
	if !ok {
		if len(r.Coverage) == maxCovered {
			r.Left++
			return
		}
		i = len(r.Coverage)
		r.covered[file] = i
		r.Coverage = append(r.Coverage, Coverage{File: file})
	}
	r.Coverage[i].Covered += covered
	r.Coverage[i].Total += total
}

// place returns a path of a report as one of the project, "" for any other.
// Reports are often written elsewhere, in a container or on a runner: then the
// end of the path that there is in the project is meant.
func (r *reader) place(name string) string {
	if at, ok := r.placed[name]; ok {
		return at
	}
	at := r.find(name)
	if len(r.placed) < maxCovered {
		r.placed[name] = at
	}
	return at
}

const mostFolders = 30 // of a path that are taken off its beginning

func (r *reader) find(name string) string {
	p := strings.TrimSpace(name)
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		if u, err := url.PathUnescape(rest); err == nil {
			rest = u
		}
		p = rest
	}
	if p == "" || len(p) > 4096 || strings.ContainsRune(p, 0) || strings.Contains(p, "://") {
		return ""
	}
	p = strings.ReplaceAll(p, `\`, "/")
	root := strings.TrimSuffix(filepath.ToSlash(r.root), "/")
	absolute := strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
	if rest, ok := strings.CutPrefix(p, root+"/"); ok {
		p, absolute = rest, false
	}
	p = path.Clean(strings.TrimLeft(p, "/"))
	there := func(p string) bool {
		if p == "." || !filepath.IsLocal(filepath.FromSlash(p)) {
			return false
		}
		info, err := os.Lstat(filepath.Join(r.root, filepath.FromSlash(p)))
		return err == nil && info.Mode().IsRegular()
	}
	rest := p
	for range mostFolders {
		if there(rest) {
			return rest
		}
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			break
		}
		rest = after
	}
	if absolute || !filepath.IsLocal(filepath.FromSlash(p)) || p == "." {
		return ""
	}
	return p // it may have been deleted meanwhile
}

// xml reads what has a root element that is known.
func (r *reader) xml(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		t, err := d.Token()
		if err != nil {
			return err
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "checkstyle":
			return r.checkstyle(d)
		case "testsuites", "testsuite":
			return r.junit(d)
		case "coverage":
			return r.cobertura(d)
		}
		return errForm
	}
}

// attribute returns an attribute of an element.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
