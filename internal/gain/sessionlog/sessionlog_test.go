package sessionlog

import (
	"strings"
	"testing"
)

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
