package sessionlog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzObject: members and elements are those that decoding finds.
func FuzzObject(f *testing.F) {
	f.Add(`{"a" : [1, {"b":"\"]"}], "\u0063":null,"d":{},"e":-1e3 }`)
	f.Add(` [ [], "x\\", true ] `)
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return
		}
		var members, got map[string]json.RawMessage
		var elements, found []json.RawMessage
		_ = json.Unmarshal([]byte(raw), &members)
		_ = json.Unmarshal([]byte(raw), &elements)
		object([]byte(raw), func(name string, value json.RawMessage) {
			if got == nil {
				got = map[string]json.RawMessage{}
			}
			got[name] = value
		})
		array([]byte(raw), func(value json.RawMessage) { found = append(found, value) })
		if len(members) == 0 {
			members = nil
		}
		if len(elements) == 0 {
			elements = nil
		}
		if d := cmp.Diff(members, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(elements, found); d != "" {
			t.Error(d)
		}
	})
}

// FuzzRead: no log is too odd to be read, and no line is lost without being
// counted.
func FuzzRead(f *testing.F) {
	f.Add(`{"type":"assistant","uuid":"a","parentUuid":null,"message":{"id":"m","content":[{"type":"tool_use","id":"c","name":"Read","input":{}}]}}` + "\n" +
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"}]}]}}` + "\n{\"type\":")
	f.Add(`{"type":"system","subtype":"microcompact_boundary","microcompactMetadata":{"compactedToolIds":[1]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var skipped Skipped
		var given, unknown int64
		if err := Read(strings.NewReader(text), &skipped, func(Line) bool { given++; return true }); err != nil {
			t.Fatal(err)
		}
		for _, n := range skipped.Types {
			unknown += n
		}
		if sum := given + unknown + skipped.Broken + skipped.Long; sum > skipped.Lines {
			t.Errorf("%d of %d lines", sum, skipped.Lines)
		}
	})
}
