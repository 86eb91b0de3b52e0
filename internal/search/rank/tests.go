package rank

import (
	"path"
	"slices"
	"strings"
)

// IsTest reports whether a path is that of a test by the customs of its language.
func IsTest(p string) bool { return fitted.isTest(p) }

func (t *Tuning) isTest(p string) bool {
	base := path.Base(p)
	stem := base
	if i := strings.IndexByte(base, '.'); i > 0 {
		stem = base[:i]
	}
	return strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_spec") ||
		strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || stem == "conftest" ||
		strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || within(p, t.TestDirs) ||
		within(p, t.SpecDirs) && testsInSpec(path.Ext(base))
}

// testsInSpec reports whether languages whose files end so keep tests in a
// folder spec. Elsewhere it holds specifications, or code about these.
func testsInSpec(ending string) bool {
	switch ending {
	case ".rb", ".rake", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".coffee", ".lua", ".cr", ".php":
		return true
	}
	return false
}

// InTests reports whether a declaration within these is a part of tests that
// stand beside what they test.
func InTests(path []string) bool {
	return slices.ContainsFunc(path, func(s string) bool { return slices.Contains(fitted.TestDirs, strings.ToLower(s)) })
}
