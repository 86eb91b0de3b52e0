package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
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

// list makes a row of each object of a JSON array, and sorts them.
func list[T any](raw json.RawMessage, row func(m map[string]json.RawMessage, raw json.RawMessage) T, order func(a, b T) int) []T {
	var out []T
	for _, r := range rows(raw) {
		out = append(out, row(object(r), compact(r)))
	}
	kb.SortStableFunc(out, order)
	return out
}

func findingsOf(raw json.RawMessage) []finding {
	return list(raw, func(m map[string]json.RawMessage, raw json.RawMessage) finding {
		f := finding{Rule: word(m["ruleId"]), Severity: word(m["severity"]), Code: word(m["code"]),
			Message: word(m["message"]), File: word(m["file"]), raw: raw}
		f.Lines, f.listed = linesOf(m["lines"])
		return f
	}, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.File, b.File), slices.Compare(a.Lines, b.Lines),
			strings.Compare(a.Code, b.Code), strings.Compare(a.Severity, b.Severity), strings.Compare(a.Message, b.Message),
			bytes.Compare(a.raw, b.raw))
	})
}

func entriesOf(raw json.RawMessage) []entry {
	return list(raw, func(m map[string]json.RawMessage, raw json.RawMessage) entry {
		lines, _ := linesOf(m["lines"])
		return entry{word(m["ruleId"]), word(m["file"]), word(m["firstSeen"]), word(m["lastSeen"]), lines, raw}
	}, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.File, b.File), slices.Compare(a.Lines, b.Lines),
			strings.Compare(a.First, b.First), strings.Compare(a.Last, b.Last), bytes.Compare(a.raw, b.raw))
	})
}

func rulesetsOf(raw json.RawMessage) []ruleset {
	return list(raw, func(m map[string]json.RawMessage, raw json.RawMessage) ruleset {
		return ruleset{word(m["platform"]), word(m["bundle"]), word(m["hash"]), raw}
	}, func(a, b ruleset) int {
		return cmp.Or(strings.Compare(a.Platform, b.Platform), strings.Compare(a.Bundle, b.Bundle),
			strings.Compare(a.Hash, b.Hash), bytes.Compare(a.raw, b.raw))
	})
}

func platformsOf(raw json.RawMessage) []PlatformRow {
	var out []PlatformRow
	for name, r := range object(raw) {
		if m := object(r); m != nil {
			out = append(out, PlatformRow{name, string(m["detected"]) == "true", word(m["confidence"])})
		}
	}
	kb.SortFunc(out, func(a, b PlatformRow) int { return strings.Compare(a.Platform, b.Platform) })
	return out
}

func suppressedOf(raw json.RawMessage) []suppressed {
	var out []suppressed
	for _, r := range rows(raw) {
		m := object(r)
		// An explicit null means that nothing took its place.
		by, said := m["replacementRuleId"]
		if !said {
			by = m["replacedByRuleId"]
		}
		file := word(m["file"])
		platform := cmp.Or(word(m["platform"]), PlatformOf(file))
		out = append(out, suppressed{word(m["ruleId"]), file, platform, word(m["reason"]), word(by)})
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
