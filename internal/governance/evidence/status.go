package evidence

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Status is the answer of /status.
type Status struct {
	Status   string       `json:"status"` // ok or degraded
	API      API          `json:"context_api"`
	Evidence StatusFacets `json:"evidence"`
}

// API lists the endpoints over HTTP.
type API struct {
	Endpoints []string `json:"endpoints"`
	Filters   struct {
		Findings  []string `json:"findings"`
		Rulesets  []string `json:"rulesets"`
		Platforms []string `json:"platforms"`
		Ledger    []string `json:"ledger"`
	} `json:"filters"`
	Bounds struct {
		Findings  Bound `json:"findings"`
		Rulesets  Bound `json:"rulesets"`
		Platforms Bound `json:"platforms"`
		Ledger    Bound `json:"ledger"`
	} `json:"pagination_bounds"`
}

// Bound is how many rows one page may have.
type Bound struct {
	Max int `json:"max_limit"`
}

// StatusFacets says whether there is evidence, and counts what is in it.
type StatusFacets struct {
	Path    string
	Exists  bool
	Valid   bool
	Version *string
	Note    string // why there is none; not part of the fixed format

	valid *validStatus // nil unless Valid
}

// statusHead is what comes first whether there is evidence or not.
type statusHead struct {
	Path    string  `json:"path"`
	Exists  bool    `json:"exists"`
	Present bool    `json:"present"` // the same, under its older name
	Valid   bool    `json:"valid"`
	Version *string `json:"version"`
}

// MarshalJSON writes the facets of valid evidence, or that there are none.
func (s StatusFacets) MarshalJSON() ([]byte, error) {
	head := statusHead{s.Path, s.Exists, s.Exists, s.Valid, s.Version}
	if s.valid != nil {
		return json.Marshal(struct {
			statusHead
			validStatus
		}{head, *s.valid})
	}
	return json.Marshal(struct {
		statusHead
		Count int    `json:"findings_count"`
		Note  string `json:"note,omitempty"`
	}{head, 0, s.Note})
}

// validStatus is what only valid evidence has. Order is that of the seed.
type validStatus struct {
	Timestamp *string `json:"timestamp"`
	Stage     *string `json:"stage"`
	Outcome   *string `json:"outcome"`
	findingFacets
	otherFacets
	Platforms []string `json:"platforms"` // all, detected or not
}

// Severities counts findings; a severity that nothing has is left out.
type Severities struct {
	Critical int `json:"CRITICAL,omitempty"`
	Error    int `json:"ERROR,omitempty"`
	Warn     int `json:"WARN,omitempty"`
	Info     int `json:"INFO,omitempty"`
}

type findingFacets struct {
	Has          bool           `json:"has_findings"`
	Count        int            `json:"findings_count"`
	Files        int            `json:"findings_files_count"`
	Rules        int            `json:"findings_rules_count"`
	WithLines    int            `json:"findings_with_lines_count"` // lines is an array that is not empty
	WithoutLines int            `json:"findings_without_lines_count"`
	Severities   Severities     `json:"severity_counts"`
	ByPlatform   map[string]int `json:"findings_by_platform"`
	Highest      *string        `json:"highest_severity"`
	Blocking     int            `json:"blocking_findings_count"` // CRITICAL and ERROR
}

type otherFacets struct {
	Ledger                 int            `json:"ledger_count"`
	LedgerFiles            int            `json:"ledger_files_count"`
	LedgerRules            int            `json:"ledger_rules_count"`
	LedgerByPlatform       map[string]int `json:"ledger_by_platform"`
	Rulesets               int            `json:"rulesets_count"`
	RulesetsPlatforms      int            `json:"rulesets_platforms_count"`
	RulesetsBundles        int            `json:"rulesets_bundles_count"`
	RulesetsHashes         int            `json:"rulesets_hashes_count"`
	RulesetsByPlatform     map[string]int `json:"rulesets_by_platform"`
	Fingerprint            string         `json:"rulesets_fingerprint"` // hashes by platform, bundle and hash
	Confidences            map[string]int `json:"platform_confidence_counts"`
	Suppressed             int            `json:"suppressed_findings_count"`
	SuppressedReplacements int            `json:"suppressed_replacement_rules_count"`
	SuppressedPlatforms    int            `json:"suppressed_platforms_count"`
	SuppressedFiles        int            `json:"suppressed_files_count"`
	SuppressedRules        int            `json:"suppressed_rules_count"`
	SuppressedReasons      int            `json:"suppressed_reasons_count"`
	Tracked                int            `json:"tracked_platforms_count"`
	Detected               int            `json:"detected_platforms_count"`
	NotDetected            int            `json:"non_detected_platforms_count"`
}

// Summary is the answer of /summary.
type Summary struct {
	head
	Snapshot struct {
		Stage   *string `json:"stage"`
		Outcome *string `json:"outcome"`
		findingFacets
	} `json:"snapshot"`
	otherFacets
	Platforms []PlatformRow `json:"platforms"` // those that were detected
}

// Severity names in falling order, as the file and its readers spell them.
var severities = []string{"CRITICAL", "ERROR", "WARN", "INFO"}

// Rank orders severities, the worst first.
func Rank(severity string) int {
	if i := slices.Index(severities, severity); i >= 0 {
		return i
	}
	return len(severities)
}

func (s *Severities) of(name string) *int {
	switch name {
	case "CRITICAL":
		return &s.Critical
	case "ERROR":
		return &s.Error
	case "WARN":
		return &s.Warn
	case "INFO":
		return &s.Info
	}
	return nil
}

func (f *File) findingFacets() findingFacets {
	x := findingFacets{Has: len(f.doc.Findings) > 0, Count: len(f.doc.Findings), ByPlatform: map[string]int{}}
	for _, r := range f.doc.Findings {
		if r.listed {
			x.WithLines++
		}
		if n := x.Severities.of(strings.ToUpper(r.Severity)); n != nil {
			*n++
		}
		x.ByPlatform[PlatformOf(r.File)]++
	}
	x.WithoutLines = x.Count - x.WithLines
	x.Files = distinct(f.doc.Findings, func(r finding) string { return r.File })
	x.Rules = distinct(f.doc.Findings, func(r finding) string { return r.Rule })
	x.Blocking = x.Severities.Critical + x.Severities.Error
	for _, s := range severities {
		if *x.Severities.of(s) > 0 {
			x.Highest = &s
			break
		}
	}
	return x
}

func (f *File) otherFacets() otherFacets {
	d := &f.doc
	x := otherFacets{
		Ledger:                 len(d.Ledger),
		LedgerFiles:            distinct(d.Ledger, func(e entry) string { return e.File }),
		LedgerRules:            distinct(d.Ledger, func(e entry) string { return e.Rule }),
		LedgerByPlatform:       map[string]int{},
		Rulesets:               len(d.Rulesets),
		RulesetsPlatforms:      distinct(d.Rulesets, func(r ruleset) string { return r.Platform }),
		RulesetsBundles:        distinct(d.Rulesets, func(r ruleset) string { return r.Bundle }),
		RulesetsHashes:         distinct(d.Rulesets, func(r ruleset) string { return r.Hash }),
		RulesetsByPlatform:     map[string]int{},
		Confidences:            map[string]int{},
		Suppressed:             len(d.Suppressed),
		SuppressedReplacements: distinct(d.Suppressed, func(s suppressed) string { return s.Replacement }),
		SuppressedPlatforms:    distinct(d.Suppressed, func(s suppressed) string { return s.Platform }),
		SuppressedFiles:        distinct(d.Suppressed, func(s suppressed) string { return s.File }),
		SuppressedRules:        distinct(d.Suppressed, func(s suppressed) string { return s.Rule }),
		SuppressedReasons:      distinct(d.Suppressed, func(s suppressed) string { return s.Reason }),
		Tracked:                len(d.Platforms),
	}
	for _, e := range d.Ledger {
		x.LedgerByPlatform[PlatformOf(e.File)]++
	}
	var hashes []string
	for _, r := range d.Rulesets {
		x.RulesetsByPlatform[r.Platform]++
		hashes = append(hashes, r.Hash)
	}
	x.Fingerprint = strings.Join(hashes, "|")
	for _, p := range d.Platforms {
		if p.Confidence != "" {
			x.Confidences[p.Confidence]++
		}
		if p.Detected {
			x.Detected++
		}
	}
	x.NotDetected = x.Tracked - x.Detected
	return x
}

// distinct counts the values that are not empty.
func distinct[T any](all []T, of func(T) string) int {
	seen := map[string]bool{}
	for _, v := range all {
		if s := of(v); s != "" {
			seen[s] = true
		}
	}
	return len(seen)
}

// Status describes the file. route is where the evidence is served over
// HTTP, which the list of endpoints names.
func (f *File) Status(route string) Status {
	s := Status{Status: "degraded", API: api(route)}
	e := &s.Evidence
	e.Path, e.Exists = f.Path, f.Kind != Missing
	if f.Version != "" {
		e.Version = &f.Version
	}
	if f.Kind != Valid {
		e.Note = "no program has left evidence about this project, and nothing depends on it"
		if e.Exists {
			e.Note = "the file is not used: " + f.Why
		}
		return s
	}
	s.Status, e.Valid = "ok", true
	e.valid = &validStatus{Timestamp: f.doc.Timestamp, Stage: f.doc.Stage, Outcome: f.doc.Outcome,
		findingFacets: f.findingFacets(), otherFacets: f.otherFacets(), Platforms: []string{}}
	for _, p := range f.doc.Platforms {
		e.valid.Platforms = append(e.valid.Platforms, p.Platform)
	}
	return s
}

// Line returns it in one line, for a person.
func (s Status) Line() string {
	v := s.Evidence.valid
	if v == nil {
		return s.Evidence.Path + ": " + s.Evidence.Note
	}
	or := func(s *string) string {
		if s == nil {
			return "unknown"
		}
		return *s
	}
	line := fmt.Sprintf("%s: %s at %s, %s, %d findings", s.Evidence.Path, or(v.Outcome), or(v.Stage), or(v.Timestamp), v.Count)
	for _, name := range severities {
		if n := *v.Severities.of(name); n > 0 {
			line += fmt.Sprintf(", %d %s", n, name)
		}
	}
	return line
}

// DefaultRoute is where the evidence is served over HTTP by default.
const DefaultRoute = "/ai-evidence"

// Views are the parts of the evidence that have an endpoint of their own.
var Views = []string{"summary", "snapshot", "findings", "rulesets", "platforms", "ledger"}

func api(route string) (a API) {
	a.Endpoints = []string{"/health", "/status", route}
	for _, v := range Views {
		a.Endpoints = append(a.Endpoints, route+"/"+v)
	}
	// maxLimit is listed as by the originals, and has no effect.
	page := []string{"limit", "offset", "maxLimit"}
	a.Filters.Findings = slices.Concat([]string{"severity", "ruleId", "platform"}, page)
	a.Filters.Rulesets = slices.Concat([]string{"platform", "bundle"}, page)
	a.Filters.Platforms = slices.Concat([]string{"detectedOnly", "confidence"}, page)
	a.Filters.Ledger = slices.Concat([]string{"lastSeenAfter", "lastSeenBefore"}, page)
	b := Bound{MaxPage}
	a.Bounds.Findings, a.Bounds.Rulesets, a.Bounds.Platforms, a.Bounds.Ledger = b, b, b, b
	return a
}

// Summary counts what is in the file.
func (f *File) Summary() Summary {
	s := Summary{head: f.head(), otherFacets: f.otherFacets(), Platforms: []PlatformRow{}}
	s.Snapshot.Stage, s.Snapshot.Outcome, s.Snapshot.findingFacets = f.doc.Stage, f.doc.Outcome, f.findingFacets()
	for _, p := range f.doc.Platforms {
		if p.Detected {
			s.Platforms = append(s.Platforms, p)
		}
	}
	return s
}
