// Package evidence reads the file in which a governance tool keeps what it
// found in a repository, .ai_evidence.json version 2.1, and answers questions
// about it: status, summary, findings, rule sets, platforms, ledger.
//
// Everything is a pure function of that one file. It was written by another
// program, and may come with a stranger's repository, so it is read
// defensively: its only test of validity is that it is a JSON object whose
// version is "2.1", sections that are missing or of another type are empty,
// rows that are no objects are left out, its size is bounded, and a link that
// leads out of the repository is not followed. Nothing is ever written.
//
// The names and the order of members are those of the seed that fixed this
// wire format; rows are returned as they are in the file, in an order that
// does not depend on the file's.
package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// Name is the file's name, at the root of the repository.
const Name = ".ai_evidence.json"

// Version is the only version that is valid.
const Version = "2.1"

// MaxBytes bounds the file. The largest seen in the wild have a few megabytes.
const MaxBytes = 32 << 20

// Kind is the state of the file.
type Kind string

// The kinds.
const (
	Missing Kind = "missing"
	Invalid Kind = "invalid"
	Valid   Kind = "valid"
)

// File is what was read at one moment. It is never changed afterwards.
type File struct {
	Path string // absolute
	Kind Kind
	Why  string // why it is invalid, one clause; "" otherwise
	// Version is that of the file, if it is a string; "" otherwise.
	Version string

	raw json.RawMessage // the whole file, compact; nil unless valid
	doc document
}

// document is what is used of the file. Lists hold raw rows, as they are
// returned as they are.
type document struct {
	Timestamp    *string
	Stage        *string
	Outcome      *string
	Findings     []finding
	Ledger       []entry
	Platforms    []PlatformRow // sorted by name
	Rulesets     []ruleset
	GateStatus   *string // ai_gate.status
	MetricStatus *string // severity_metrics.gate_status
	Coverage     *Coverage
	Repo         *Repo
	Suppressed   []suppressed
}

// Coverage is snapshot.rules_coverage.
type Coverage struct {
	Stage           string
	Unevaluated     int
	UnsupportedAuto int
	Ratio           *float64
}

// Repo is repo_state, as far as a gate compares it.
type Repo struct {
	Root   string
	Branch string
}

// Read reads the evidence of the repository whose work tree is root. It never
// fails: what cannot be read is invalid, and Why says so.
func Read(root string) *File {
	f := &File{Path: filepath.Join(root, Name), Kind: Missing}
	raw, err := load(root, f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f
	case err != nil:
		f.Kind, f.Why = Invalid, err.Error()
		return f
	}
	f.parse(raw)
	return f
}

// load returns the file's bytes. A link is followed within the repository only.
func load(root, path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, plain(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, errors.New("it is a link to nothing")
		}
		base, err := filepath.EvalSymlinks(root)
		if err != nil {
			return nil, plain(err)
		}
		if !project.Within(base, real) {
			return nil, errors.New("it is a link out of the repository")
		}
		path = real
		if info, err = os.Lstat(path); err != nil {
			return nil, plain(err)
		}
	}
	// Asked before opening: opening a pipe would wait for a writer.
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, plain(err)
	}
	if len(raw) > MaxBytes {
		return nil, fmt.Errorf("it has more than %d MiB", MaxBytes>>20)
	}
	return raw, nil
}

// plain drops the operation and path around the cause of a failure.
func plain(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		if errors.Is(err, fs.ErrNotExist) {
			return fs.ErrNotExist
		}
		return fmt.Errorf("it cannot be read: %w", e.Err)
	}
	return err
}

func (f *File) parse(raw []byte) {
	f.Kind = Invalid
	top := object(raw)
	switch {
	case !json.Valid(raw):
		f.Why = "it is not JSON"
		return
	case top == nil:
		f.Why = "it is not a JSON object"
		return
	}
	if v := text(top["version"]); v != nil {
		f.Version = *v
	}
	if f.Version != Version {
		f.Why = fmt.Sprintf("its version is not %q", Version)
		return
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		f.Why = "it is not JSON"
		return
	}
	// A finding may quote the very credential that it is about.
	f.Kind, f.raw = Valid, secret.MaskJSON(Name, b.Bytes())
	f.doc = read(object(f.raw))
}

// object returns the members of a JSON object, nil for anything else.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// rows returns the objects of a JSON array; anything else has none.
func rows(raw json.RawMessage) []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	kept := all[:0]
	for _, r := range all {
		if len(r) > 0 && r[0] == '{' {
			kept = append(kept, r)
		}
	}
	return kept
}

// text returns a JSON string, nil for anything else.
func text(raw json.RawMessage) *string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return &s
}

// word is text, with "" for anything else.
func word(raw json.RawMessage) string {
	if s := text(raw); s != nil {
		return *s
	}
	return ""
}

// number returns a JSON number that is a whole one, 0 for anything else.
func number(raw json.RawMessage) int {
	var n float64
	if json.Unmarshal(raw, &n) != nil || n != float64(int(n)) {
		return 0
	}
	return int(n)
}

func read(top map[string]json.RawMessage) document {
	snapshot := object(top["snapshot"])
	d := document{
		Timestamp:    text(top["timestamp"]),
		Stage:        text(snapshot["stage"]),
		Outcome:      text(snapshot["outcome"]),
		Findings:     findingsOf(snapshot["findings"]),
		Ledger:       entriesOf(top["ledger"]),
		Platforms:    platformsOf(top["platforms"]),
		Rulesets:     rulesetsOf(top["rulesets"]),
		GateStatus:   text(object(top["ai_gate"])["status"]),
		MetricStatus: text(object(top["severity_metrics"])["gate_status"]),
		Suppressed:   suppressedOf(object(top["consolidation"])["suppressed"]),
	}
	if c := object(snapshot["rules_coverage"]); c != nil {
		counts := object(c["counts"])
		d.Coverage = &Coverage{
			Stage:           word(c["stage"]),
			Unevaluated:     max(number(counts["unevaluated"]), len(texts(c["unevaluated_rule_ids"]))),
			UnsupportedAuto: max(number(counts["unsupported_auto"]), len(texts(c["unsupported_auto_rule_ids"]))),
		}
		var ratio float64
		if raw := c["coverage_ratio"]; len(raw) > 0 && json.Unmarshal(raw, &ratio) == nil {
			d.Coverage.Ratio = &ratio
		}
	}
	if r := object(top["repo_state"]); r != nil {
		d.Repo = &Repo{Root: word(r["repo_root"]), Branch: word(object(r["git"])["branch"])}
	}
	return d
}

// texts returns the strings of a JSON array.
func texts(raw json.RawMessage) []string {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	var out []string
	for _, r := range all {
		if s := text(r); s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// Timestamp returns when the file says that it was made; nil if it does not.
func (f *File) Timestamp() *string { return f.doc.Timestamp }

// GateStatus returns ai_gate.status, MetricStatus severity_metrics.gate_status
// and Outcome snapshot.outcome; nil where the file has none.
func (f *File) GateStatus() *string   { return f.doc.GateStatus }
func (f *File) MetricStatus() *string { return f.doc.MetricStatus }
func (f *File) Outcome() *string      { return f.doc.Outcome }

// Coverage returns snapshot.rules_coverage; nil where the file has none.
func (f *File) Coverage() *Coverage { return f.doc.Coverage }

// Repo returns repo_state; nil where the file has none.
func (f *File) Repo() *Repo { return f.doc.Repo }

// Whole returns the file, compact; without the section of suppressed findings
// when compact is set. nil unless the file is valid.
func (f *File) Whole(compact bool) json.RawMessage {
	if !compact || f.raw == nil {
		return f.raw
	}
	d := json.NewDecoder(bytes.NewReader(f.raw))
	if _, err := d.Token(); err != nil {
		return f.raw
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for d.More() {
		key, err := d.Token()
		var v json.RawMessage
		if err != nil || d.Decode(&v) != nil {
			return f.raw
		}
		name, ok := key.(string)
		if !ok || name == "consolidation" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		k, err := json.Marshal(name)
		if err != nil {
			return f.raw
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// Check returns nil for a valid file, else the error with what is wrong
// and who could mend it: this program never writes evidence.
func (f *File) Check() error {
	switch f.Kind {
	case Valid:
		return nil
	case Missing:
		return kb.Errorf(kb.NotFound, "this project has no evidence file: there is no %q", f.Path).
			WithHint("nothing depends on it; a governance tool that checks the repository writes one, knowledge never does")
	default:
		return kb.Errorf(kb.Invalid, "the evidence file %q is invalid: %s", f.Path, f.Why).
			WithHint("have the governance tool that wrote it check the repository again")
	}
}

// PlatformOf says which platform a file belongs to, by its path.
func PlatformOf(path string) string {
	p := strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	in := func(dir string) bool { return strings.HasPrefix(p, dir) || strings.Contains(p, "/"+dir) }
	switch {
	case in("apps/ios/") || strings.HasSuffix(p, ".swift"):
		return "ios"
	case in("apps/backend/"):
		return "backend"
	case in("apps/frontend/"):
		return "frontend"
	case in("apps/android/") || strings.HasSuffix(p, ".kt") || strings.HasSuffix(p, ".kts"):
		return "android"
	}
	return "generic"
}
