package source

import (
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
)

// ignoreLevel is the rules of one .gitignore file and of those above it.
//
// The walk asks for every directory on its way and does not enter the ignored
// ones. That gives git's rule that nothing can be kept below a directory that
// is itself ignored, and lets "build/*" with "!build/keep" do what it says.
type ignoreLevel = gitignore.Level

// parseIgnore reads a .gitignore file of the directory dir.
func parseIgnore(up *ignoreLevel, dir, text string) *ignoreLevel {
	return gitignore.Parse(up, dir, text)
}

// parseExclude reads info/exclude of the repository at dir.
func parseExclude(up *ignoreLevel, dir, text string) *ignoreLevel {
	return gitignore.ParseFile(up, dir, dir+".git/info/exclude", text)
}

// OwnRules is the name of files with rules of the user, which are written as
// those of .gitignore are. They have the last word: what they leave out is no
// document, and "!path" keeps what another rule would leave out; what looks like
// a secret only in a file for which the user vouches, since a repository brings
// such files with it.
const OwnRules = ".knowledgeignore"

// The rules of one listing may cost rulesBudget steps, and rulesPerEntry more for
// each file and directory: a second or two, and a microsecond each.
const (
	rulesBudget   = 100_000_000
	rulesPerEntry = 100
)

// levels are the rules that hold in a directory: git's and the user's.
type levels struct{ git, own *ignoreLevel }

// In is Level.In of both.
func (l levels) In(dir string) levels { return levels{l.git.In(dir), l.own.In(dir)} }

// decides returns why the rules leave out the file or directory at p, or "";
// keeper is the file of own rules that says that it stays.
func (l levels) decides(p string, isDir bool) (reason, keeper string) {
	switch file, out, kept := l.own.Decides(p, isDir); {
	case out:
		return reasonOwnRule, ""
	case kept:
		return "", file
	case l.git.Ignored(p, isDir):
		return reasonIgnored, ""
	}
	return "", ""
}

// Rule returns the rule that leaves out p, if one does.
func (l levels) Rule(p string, isDir bool) (gitignore.Rule, bool) {
	if r, ok := l.own.Rule(p, isDir); ok {
		return r, true
	}
	return l.git.Rule(p, isDir)
}

// ownFiles reads files of own rules below root, and knows which of them the
// user vouches for.
type ownFiles struct {
	root    string
	trusts  func(file, text string) bool // nil trusts none
	vouched map[string]bool              // by name, as the rules have it
}

// parse reads the file in the directory dir.
func (o *ownFiles) parse(up *ignoreLevel, dir, text string) *ignoreLevel {
	name := dir + OwnRules
	if o.trusts != nil && strings.Contains(text, "!") && o.trusts(filepath.Join(o.root, filepath.FromSlash(name)), text) {
		if o.vouched == nil {
			o.vouched = map[string]bool{}
		}
		o.vouched[name] = true
	}
	return gitignore.ParseFile(up, dir, name, text)
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
