package source

import "github.com/seed-4f2d999b/knowledge/internal/gitignore"

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

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isLower(c) || isDigit(c) || 'A' <= c && c <= 'Z' }
