package search

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// guides are files by which people tell agents how to work in a project.
var guides = []string{
	"agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", "skill.md", "copilot-instructions.md",
	".cursorrules", ".windsurfrules", ".clinerules",
}

// guide reports whether a document is such a file of the folder that asks: what
// it says to an agent, its user has it say. Elsewhere, on this machine too, it
// is a stranger's: a clone is a local path.
func (t *Target) guide(p string) bool {
	base := strings.ToLower(path.Base(p))
	return t.Own && (slices.Contains(guides, base) || strings.HasSuffix(base, ".mdc") || strings.HasSuffix(base, ".instructions.md") ||
		slices.ContainsFunc([]string{".claude/", ".cursor/", ".codex/", ".gemini/"}, func(dir string) bool { return strings.HasPrefix(p, dir) || strings.Contains(p, "/"+dir) }))
}

// Orders reports whether a text of document p addresses an assistant.
func (t *Target) Orders(p, text string) bool { return !t.guide(p) && visible.ToAssistant(text) }

// Mark adds to the note on a text of document p that it addresses an
// assistant, and that it is a specification which is not in force, where that
// is so.
func (t *Target) Mark(note, p, text string) string {
	if t.Status != nil {
		if s := t.Status(p); s != "" {
			note += "; status of this specification: " + s
		}
	}
	if t.Orders(p, text) {
		note += "; " + visible.Orders
	}
	return strings.TrimPrefix(note, "; ")
}
