// Package gitignore decides which paths the rules of .gitignore files leave
// out, as git does. Its patterns, which .gitattributes shares, never take
// exponential time, whoever wrote them.
package gitignore

import "strings"

// rule is one line of a .gitignore file.
type rule struct {
	glob     Glob
	negate   bool // "!": what matches is kept after all
	dirOnly  bool // "/" at the end: matches directories only
	anchored bool // holds a slash: matched against the path, not the last element
	line     int  // in its file, from 1
	text     string
}

// Level is the rules of one file; the levels of the directories above
// hang from it. Later lines win over earlier ones, deeper files over upper
// ones. A nil level ignores nothing.
//
// The walk asks for every directory on its way and does not enter the ignored
// ones. That gives git's rule that nothing can be kept below a directory that
// is itself ignored, and lets "build/*" with "!build/keep" do what it says.
type Level struct {
	up    *Level
	base  int    // length of the directory's path, its slash included, in the paths asked for
	file  string // that the rules stand in, for messages
	rules []rule
}

// Rule is where a rule stands.
type Rule struct {
	File    string // as Parse was told: ".gitignore", "docs/.gitignore"
	Line    int
	Pattern string
}

// Parse reads a .gitignore file that lies in the directory dir ("" or
// ending in a slash) and returns the level below up; up itself when the file
// has no rules.
func Parse(up *Level, dir, text string) *Level { return ParseFile(up, dir, dir+".gitignore", text) }

// ParseFile is Parse for rules that stand in a file of another name.
func ParseFile(up *Level, dir, file, text string) *Level {
	level := &Level{up: up, base: len(dir), file: file}
	text = strings.TrimPrefix(text, "\ufeff")
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if r, ok := parseLine(strings.TrimSuffix(line, "\r")); ok {
			r.line, r.text = n, strings.TrimSpace(line)
			level.rules = append(level.rules, r)
		}
	}
	if len(level.rules) == 0 {
		return up
	}
	return level
}

func parseLine(line string) (rule, bool) {
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	line = trimTrailingSpaces(line)
	var r rule
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
		return rule{}, false
	}
	r.glob = Compile(line, r.anchored)
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

// Ignored reports whether the rules leave out the file or directory at p,
// whose parent directories are known not to be ignored.
func (l *Level) Ignored(p string, isDir bool) bool {
	r, _ := l.decides(p, isDir)
	return r != nil && !r.negate
}

// Rule returns the rule that leaves out the file or directory at p, if one does.
func (l *Level) Rule(p string, isDir bool) (Rule, bool) {
	r, at := l.decides(p, isDir)
	if r == nil || r.negate {
		return Rule{}, false
	}
	return Rule{at.file, r.line, r.text}, true
}

// decides returns the rule that has the last word on p, and its level; nil for none.
func (l *Level) decides(p string, isDir bool) (*rule, *Level) {
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
			if r.glob.Match(subject) {
				return r, l
			}
		}
	}
	return nil, nil
}

// IgnoredPath is Ignored for a path of which nothing is known: it asks for
// every directory on the way.
func (l *Level) IgnoredPath(p string, isDir bool) bool {
	for i := 0; i < len(p); i++ {
		if p[i] == '/' && l.Ignored(p[:i], true) {
			return true
		}
	}
	return l.Ignored(p, isDir)
}
