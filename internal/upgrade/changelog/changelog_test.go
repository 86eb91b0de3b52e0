package changelog_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/upgrade/changelog"
)

func TestFind(t *testing.T) {
	files := fstest.MapFS{
		"CHANGELOG.md": {Data: []byte("# Changes\n\n## [2.1.0] - 2026-01-01\n\n- `Client.Dial` waits\n\n## v2.0.0\n\n### Breaking\n\n- Client.Dial is called Connect\n- see Options.Timeout\n\n### Fixed\n\n- nothing\n\n" +
			"## 1.5.0\n\n- Dial is new\n")},
		"docs/migrating-to-v2.md":         {Data: []byte("# Migrating from 1.x to 2.x\n\nText.\n\n## Dial\n\nWrite `Dial(ctx)`.\n\n## The rest\n\nOpen the Dial of a clock, and go on.\n")},
		"docs/other.md":                   {Data: []byte("# 2.0.0\n\nDial\n")},
		"node_modules/x/CHANGELOG.md":     {Data: []byte("# 2.0.0\n\nDial breaking\n")},
		"HISTORY.md":                      {Data: []byte("2.0.1 / 2026-01-01\n===\n\n  * remove `Dial`\n")},
		"testdata/CHANGELOG.md":           {Data: []byte("# 2.0.0\n\nDial breaking\n")},
		"deep/a/b/c/d/e/UPGRADING.md":     {Data: []byte("# 2.0.0\n\nDial breaking\n")},
		"CHANGES":                         {Data: []byte(strings.Repeat("x", 3<<20))},
		"release-notes/\x1b[31m/NEWS.md/": {Mode: 0o755},
	}
	var got []string
	for _, s := range changelog.Find(files, "v1.5.0", "v2.0.5", []string{"Client.Dial", "Options.Timeout", "go"}) {
		got = append(got, fmt.Sprintf("%s:%d-%d %s [%s] %s: %s", s.Path, s.From, s.To, s.Heading, s.Version, strings.Join(s.Names, ","), strings.Join(s.Lines, " ¦ ")))
	}
	if d := cmp.Diff([]string{
		"CHANGELOG.md:9-13 Breaking [2.0.0] Client.Dial,Options.Timeout: - Client.Dial is called Connect ¦ - see Options.Timeout",
		"HISTORY.md:1-4 2.0.1 / 2026-01-01 [2.0.1] Client.Dial: * remove Dial",
		"docs/migrating-to-v2.md:5-8 Dial [] Client.Dial: Write Dial(ctx).",
		"docs/migrating-to-v2.md:1-4 Migrating from 1.x to 2.x [] : ",
	}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
