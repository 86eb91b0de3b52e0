package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// finding is a row of snapshot.findings.
type finding struct {
	Rule, Severity, Code, Message, File string
	Lines                               []int
	listed                              bool // lines is an array with something in it
	raw                                 json.RawMessage
}

// entry is a row of the ledger.
type entry struct {
	Rule, File, First, Last string
	Lines                   []int
	raw                     json.RawMessage
}

type ruleset struct {
	Platform, Bundle, Hash string
	raw                    json.RawMessage
}

type suppressed struct {
	Rule, File, Platform, Reason, Replacement string
}

// PlatformRow is a member of platforms, with its name.
type PlatformRow struct {
	Platform   string `json:"platform"`
	Detected   bool   `json:"detected"`
	Confidence string `json:"confidence"`
}

// linesOf reads lines, which may be 12, "12", "10-12", "10,12" or [10, 12].
func linesOf(raw json.RawMessage) (lines []int, listed bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, r := range list {
			if r[0] != '[' { // lists in lists say nothing, and may be many
				l, _ := linesOf(r)
				lines = append(lines, l...)
			}
		}
		return lines, len(list) > 0
	}
	if s := text(raw); s != nil {
		for _, w := range strings.FieldsFunc(*s, func(r rune) bool { return r < '0' || r > '9' }) {
			if n, err := strconv.Atoi(w); err == nil {
				lines = append(lines, n)
			}
		}
		return lines, false
	}
	if n := number(raw); n > 0 {
		lines = []int{n}
	}
	return lines, false
}

func findingsOf(raw json.RawMessage) []finding {
	var out []finding
	for _, r := range rows(raw) {
		m := object(r)
		f := finding{Rule: word(m["ruleId"]), Severity: word(m["severity"]), Code: word(m["code"]),
			Message: word(m["message"]), File: word(m["file"]), raw: compact(r)}
		f.Lines, f.listed = linesOf(m["lines"])
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.File, b.File), slices.Compare(a.Lines, b.Lines),
			strings.Compare(a.Code, b.Code), strings.Compare(a.Severity, b.Severity), strings.Compare(a.Message, b.Message),
			strings.Compare(string(a.raw), string(b.raw)))
	})
	return out
}

func entriesOf(raw json.RawMessage) []entry {
	var out []entry
	for _, r := range rows(raw) {
		m := object(r)
		e := entry{Rule: word(m["ruleId"]), File: word(m["file"]), First: word(m["firstSeen"]), Last: word(m["lastSeen"]), raw: compact(r)}
		e.Lines, _ = linesOf(m["lines"])
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.File, b.File), slices.Compare(a.Lines, b.Lines),
			strings.Compare(a.First, b.First), strings.Compare(a.Last, b.Last), strings.Compare(string(a.raw), string(b.raw)))
	})
	return out
}

func rulesetsOf(raw json.RawMessage) []ruleset {
	var out []ruleset
	for _, r := range rows(raw) {
		m := object(r)
		out = append(out, ruleset{word(m["platform"]), word(m["bundle"]), word(m["hash"]), compact(r)})
	}
	slices.SortStableFunc(out, func(a, b ruleset) int {
		return cmp.Or(strings.Compare(a.Platform, b.Platform), strings.Compare(a.Bundle, b.Bundle), strings.Compare(a.Hash, b.Hash),
			strings.Compare(string(a.raw), string(b.raw)))
	})
	return out
}

func platformsOf(raw json.RawMessage) []PlatformRow {
	var out []PlatformRow
	for name, r := range object(raw) {
		m := object(r)
		if m == nil {
			continue
		}
		out = append(out, PlatformRow{name, string(m["detected"]) == "true", word(m["confidence"])})
	}
	slices.SortFunc(out, func(a, b PlatformRow) int { return strings.Compare(a.Platform, b.Platform) })
	return out
}

func suppressedOf(raw json.RawMessage) []suppressed {
	var out []suppressed
	for _, r := range rows(raw) {
		m := object(r)
		s := suppressed{Rule: word(m["ruleId"]), File: word(m["file"]), Platform: word(m["platform"]), Reason: word(m["reason"])}
		// An explicit null says that nothing took its place.
		by, said := m["replacementRuleId"]
		if !said {
			by = m["replacedByRuleId"]
		}
		s.Replacement = word(by)
		if s.Platform == "" {
			s.Platform = PlatformOf(s.File)
		}
		out = append(out, s)
	}
	return out
}

// compact returns a row without space around its tokens.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil { // not reached: it is valid already
		return raw
	}
	return b.Bytes()
}
