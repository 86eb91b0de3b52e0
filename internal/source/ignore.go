package source

import "strings"

// ignoreRule is one line of a .gitignore file.
type ignoreRule struct {
	glob     glob
	negate   bool // "!": what matches is kept after all
	dirOnly  bool // "/" at the end: matches directories only
	anchored bool // holds a slash: matched against the path, not the last element
}

// ignoreLevel is the rules of one file; the levels of the directories above
// hang from it. Later lines win over earlier ones, deeper files over upper
// ones. A nil level ignores nothing.
//
// The walk asks for every directory on its way and does not enter the ignored
// ones. That gives git's rule that nothing can be kept below a directory that
// is itself ignored, and lets "build/*" with "!build/keep" do what it says.
type ignoreLevel struct {
	up    *ignoreLevel
	base  int // length of the directory's path, its slash included, in the paths asked for
	rules []ignoreRule
}

// parseIgnore reads a .gitignore file that lies in the directory dir ("" or
// ending in a slash) and returns the level below up; up itself when the file
// has no rules.
func parseIgnore(up *ignoreLevel, dir, text string) *ignoreLevel {
	level := &ignoreLevel{up: up, base: len(dir)}
	text = strings.TrimPrefix(text, "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		if r, ok := parseIgnoreLine(strings.TrimSuffix(line, "\r")); ok {
			level.rules = append(level.rules, r)
		}
	}
	if len(level.rules) == 0 {
		return up
	}
	return level
}

func parseIgnoreLine(line string) (ignoreRule, bool) {
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	line = trimTrailingSpaces(line)
	var r ignoreRule
	if strings.HasPrefix(line, "!") {
		r.negate = true
		line = line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirOnly = true
		line = line[:len(line)-1]
	}
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return ignoreRule{}, false
	}
	r.glob = compileGlob(line, r.anchored)
	return r, true
}

// trimTrailingSpaces drops the spaces at the end of a line that no backslash precedes.
func trimTrailingSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			end = min(i+1, len(s))
		} else if s[i] != ' ' {
			end = i + 1
		}
	}
	return s[:end]
}

// ignored reports whether the rules leave out the file or directory at p,
// whose parent directories are known not to be ignored.
func (l *ignoreLevel) ignored(p string, isDir bool) bool {
	name := p[strings.LastIndexByte(p, '/')+1:]
	for ; l != nil; l = l.up {
		for i := len(l.rules) - 1; i >= 0; i-- {
			r := &l.rules[i]
			if r.dirOnly && !isDir {
				continue
			}
			subject := name
			if r.anchored {
				subject = p[l.base:]
			}
			if r.glob.match(subject) {
				return !r.negate
			}
		}
	}
	return false
}

// ignoredPath is ignored for a path of which nothing is known: it asks for
// every directory on the way.
func (l *ignoreLevel) ignoredPath(p string, isDir bool) bool {
	for i := 0; i < len(p); i++ {
		if p[i] == '/' && l.ignored(p[:i], true) {
			return true
		}
	}
	return l.ignored(p, isDir)
}
