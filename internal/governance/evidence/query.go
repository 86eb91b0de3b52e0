package evidence

import (
	"encoding/json"
	"strings"
)

// MaxPage is how many rows one page has at most, when a limit is asked for.
const MaxPage = 100

// Page asks for a part of a list. Without a limit it is everything.
type Page struct {
	Limit  *int // at least 0
	Offset int  // at least 0
}

// Pagination says which part of a list this is.
type Pagination struct {
	Requested *int  `json:"requested_limit"`
	Max       int   `json:"max_limit"`
	Limit     *int  `json:"limit"`
	Offset    int   `json:"offset"`
	More      *bool `json:"has_more,omitempty"` // only when there was a limit
}

// part returns the part that p asks for of those that pass, and how many pass.
func part[T any](all []T, p Page, pass func(T) bool) ([]T, int, Pagination) {
	rest := []T{}
	for _, v := range all {
		if pass(v) {
			rest = append(rest, v)
		}
	}
	total := len(rest)
	out := Pagination{Requested: p.Limit, Max: MaxPage, Offset: p.Offset}
	rest = rest[min(p.Offset, total):]
	if p.Limit != nil {
		n := min(*p.Limit, MaxPage)
		out.Limit = &n
		out.More = new(n < len(rest))
		rest = rest[:min(n, len(rest))]
	}
	return rest, total, out
}

// head is what every answer begins with.
type head struct {
	Version   string  `json:"version"`
	Timestamp *string `json:"timestamp"`
}

func (f *File) head() head { return head{f.Version, f.doc.Timestamp} }

// Snapshot is the answer of /snapshot.
type Snapshot struct {
	head
	Snapshot struct {
		Stage    *string           `json:"stage"`
		Outcome  *string           `json:"outcome"`
		Count    int               `json:"findings_count"`
		Findings []json.RawMessage `json:"findings"`
	} `json:"snapshot"`
}

// Snapshot returns every finding.
func (f *File) Snapshot() Snapshot {
	s := Snapshot{head: f.head()}
	s.Snapshot.Stage, s.Snapshot.Outcome = f.doc.Stage, f.doc.Outcome
	s.Snapshot.Count = len(f.doc.Findings)
	s.Snapshot.Findings = raws(f.doc.Findings, func(r finding) json.RawMessage { return r.raw })
	return s
}

// FindingsQuery asks for findings. Filters are exact but for case; "" is none.
type FindingsQuery struct {
	Severity, Rule, Platform string
	File                     string // not part of the fixed format
	Page
}

// Findings is the answer of /findings.
type Findings struct {
	head
	Snapshot struct {
		Stage   *string `json:"stage"`
		Outcome *string `json:"outcome"`
	} `json:"snapshot"`
	Count   int `json:"findings_count"` // on this page
	Total   int `json:"total_count"`    // that pass the filters
	Filters struct {
		Severity *string `json:"severity"`
		Rule     *string `json:"ruleId"`
		Platform *string `json:"platform"`
		File     *string `json:"file,omitempty"`
	} `json:"filters"`
	Pagination Pagination        `json:"pagination"`
	Findings   []json.RawMessage `json:"findings"`
}

// Findings returns those that pass the filters.
func (f *File) Findings(q FindingsQuery) Findings {
	out := Findings{head: f.head()}
	out.Snapshot.Stage, out.Snapshot.Outcome = f.doc.Stage, f.doc.Outcome
	out.Filters.Severity, out.Filters.Rule, out.Filters.Platform = echo(q.Severity), echo(q.Rule), echo(q.Platform)
	if q.File != "" {
		out.Filters.File = &q.File
	}
	kept, total, page := part(f.doc.Findings, q.Page, func(r finding) bool {
		return is(q.Severity, r.Severity) && is(q.Rule, r.Rule) && is(q.Platform, PlatformOf(r.File)) &&
			(q.File == "" || slashed(r.File) == slashed(q.File))
	})
	out.Total, out.Pagination = total, page
	out.Count = len(kept)
	out.Findings = raws(kept, func(r finding) json.RawMessage { return r.raw })
	return out
}

// RulesetsQuery asks for rule sets, as FindingsQuery for findings.
type RulesetsQuery struct {
	Platform, Bundle string
	Page
}

// Rulesets is the answer of /rulesets.
type Rulesets struct {
	head
	Total   int `json:"total_count"`
	Filters struct {
		Platform *string `json:"platform"`
		Bundle   *string `json:"bundle"`
	} `json:"filters"`
	Pagination Pagination        `json:"pagination"`
	Rulesets   []json.RawMessage `json:"rulesets"`
}

// Rulesets returns those that pass the filters.
func (f *File) Rulesets(q RulesetsQuery) Rulesets {
	out := Rulesets{head: f.head()}
	out.Filters.Platform, out.Filters.Bundle = echo(q.Platform), echo(q.Bundle)
	kept, total, page := part(f.doc.Rulesets, q.Page, func(r ruleset) bool { return is(q.Platform, r.Platform) && is(q.Bundle, r.Bundle) })
	out.Total, out.Pagination = total, page
	out.Rulesets = raws(kept, func(r ruleset) json.RawMessage { return r.raw })
	return out
}

// PlatformsQuery asks for platforms. Detected leaves out those that were not detected.
type PlatformsQuery struct {
	Detected   bool
	Confidence string
	Page
}

// Platforms is the answer of /platforms.
type Platforms struct {
	head
	Total   int `json:"total_count"`
	Filters struct {
		Detected   bool    `json:"detectedOnly"`
		Confidence *string `json:"confidence"`
	} `json:"filters"`
	Pagination Pagination    `json:"pagination"`
	Platforms  []PlatformRow `json:"platforms"`
}

// Platforms returns those that pass the filters.
func (f *File) Platforms(q PlatformsQuery) Platforms {
	out := Platforms{head: f.head()}
	out.Filters.Detected, out.Filters.Confidence = q.Detected, echo(q.Confidence)
	out.Platforms, out.Total, out.Pagination = part(f.doc.Platforms, q.Page, func(p PlatformRow) bool { return (p.Detected || !q.Detected) && is(q.Confidence, p.Confidence) })
	return out
}

// LedgerQuery asks for entries of the ledger that were last seen between two
// times, inclusive, compared as strings.
type LedgerQuery struct {
	After, Before string
	Page
}

// Ledger is the answer of /ledger.
type Ledger struct {
	head
	Total   int `json:"total_count"`
	Filters struct {
		After  *string `json:"lastSeenAfter"`
		Before *string `json:"lastSeenBefore"`
	} `json:"filters"`
	Pagination Pagination        `json:"pagination"`
	Ledger     []json.RawMessage `json:"ledger"`
}

// Ledger returns the entries within the times.
func (f *File) Ledger(q LedgerQuery) Ledger {
	out := Ledger{head: f.head()}
	out.Filters.After, out.Filters.Before = echo(q.After), echo(q.Before)
	// What is compared is what is echoed: lower-case on both sides.
	after, before := norm(q.After), norm(q.Before)
	kept, total, page := part(f.doc.Ledger, q.Page, func(e entry) bool {
		last := strings.ToLower(e.Last)
		return (after == "" || last >= after) && (before == "" || last <= before)
	})
	out.Total, out.Pagination = total, page
	out.Ledger = raws(kept, func(e entry) json.RawMessage { return e.raw })
	return out
}

// Finding is an open finding of one file, as other parts of the program show it.
type Finding struct {
	Severity string `json:"severity"`
	Rule     string `json:"ruleId"`
	Message  string `json:"message"`
	Lines    []int  `json:"lines,omitempty"`
	// Source is what found it, and when, of findings that were imported.
	Source string `json:"source,omitempty"`
}

// Covered says how many lines of a file tests run.
type Covered struct {
	Lines  int    `json:"covered"`
	Of     int    `json:"total"`
	Source string `json:"source"`
}

// ByFile returns the open findings of each file, by its path with slashes.
func (f *File) ByFile() map[string][]Finding {
	out := map[string][]Finding{}
	for _, r := range f.doc.Findings {
		if r.File != "" {
			p := slashed(r.File)
			out[p] = append(out[p], Finding{Severity: strings.ToUpper(r.Severity), Rule: r.Rule, Message: r.Message, Lines: r.Lines})
		}
	}
	return out
}

// slashed spells a path of the repository as documents of a store are.
func slashed(path string) string {
	return strings.TrimPrefix(strings.ReplaceAll(path, `\`, "/"), "./")
}

func norm(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// echo is how a filter is repeated: lower-case, null when there is none.
func echo(s string) *string {
	if s = norm(s); s == "" {
		return nil
	}
	return &s
}

func is(want, have string) bool {
	want = norm(want)
	return want == "" || want == strings.ToLower(have)
}

func raws[T any](all []T, of func(T) json.RawMessage) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(all))
	for _, v := range all {
		out = append(out, of(v))
	}
	return out
}
