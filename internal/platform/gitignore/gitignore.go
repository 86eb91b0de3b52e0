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

// stated is what is kept of a rule for the answer.
type stated struct {
	negate bool
	line   int // in its file, from 1
	text   string
}

// Level is the rules of one file; the levels of the directories above
// hang from it. Later lines win over earlier ones, deeper files over upper
// ones. A nil level ignores nothing.
//
// The walk asks for every directory on its way and does not enter the ignored
// ones. That gives git's rule that nothing can be kept below a directory that
// is itself ignored, and lets "build/*" with "!build/keep" do what it says.
//
// The cost of a question grows with the patterns of the file that have
// wildcards, and not with the depth of the walk, when the walk says by In where
// it is: the automata of patterns that are matched against paths have come as
// far already, and those that failed on the way are gone.
type Level struct {
	up    *Level
	file  *file
	base  int   // length of the file's directory, its slash included, in the paths asked for
	at    int   // length of the directory that the automata have taken, its slash included
	paths []run // of file.paths, in the same order
}

// run is how far one pattern has come.
type run struct {
	*pattern
	at place
}

// Rule is a rule and its place.
type Rule struct {
	File    string // as given to Parse: ".gitignore", "docs/.gitignore"
	Line    int
	Pattern string
}

// Parse reads a .gitignore file that lies in the directory dir ("" or
// ending in a slash) and returns the level below up; up itself when the file
// has no rules.
func Parse(up *Level, dir, text string) *Level { return ParseFile(up, dir, dir+".gitignore", text) }

// ParseFile is Parse for rules in a file of another name.
func ParseFile(up *Level, dir, name, text string) *Level {
	f := file{name: name}
	if up != nil {
		f.budget = up.file.budget
	}
	f.count(0, len(text))
	text = strings.TrimPrefix(text, "\ufeff")
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if r, ok := parseLine(strings.TrimSuffix(line, "\r")); ok {
			r.line, r.text = n, strings.TrimSpace(line)
			f.add(r)
		}
	}
	if len(f.rules) == 0 {
		return up
	}
	level := &Level{up: up, file: &f, base: len(dir), at: len(dir)}
	for i := range f.paths {
		p := &f.paths[i]
		level.paths = append(level.paths, run{p, p.glob.start(nil)})
	}
	return level
}

// In returns the level for questions about what lies in the directory dir, ""
// or ending in a slash, which lies below the one that l was made for. It
// answers as l does.
func (l *Level) In(dir string) *Level {
	if l == nil {
		return nil
	}
	up := l.up.In(dir)
	if up == l.up && (len(l.paths) == 0 || len(dir) <= l.at) {
		return l
	}
	below := *l
	below.up = up
	if len(dir) > l.at {
		below.at, below.paths = len(dir), nil
		all, may := 0, l.file.may()
		for _, r := range l.paths {
			at, steps := r.glob.run(append(place(nil), r.at...), dir[l.at:], nil)
			all += steps
			if len(at) > 0 {
				below.paths = append(below.paths, run{r.pattern, at})
			}
			if all+len(below.paths)*heldCost > may {
				break
			}
		}
		l.file.count(all, len(l.paths)+len(below.paths)*heldCost)
	}
	return &below
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
	for strings.HasPrefix(line, "**/") && !strings.Contains(line[3:], "/") {
		line, r.anchored = line[3:], false // in any directory: the last element decides
	}
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

// Decides reports what the rules say of the file or directory at p: that it
// is left out, or, by a rule that begins with "!", that it is kept, and in
// which file that rule is; false twice when none speaks of it.
func (l *Level) Decides(p string, isDir bool) (file string, out, kept bool) {
	r, in := l.decides(p, isDir)
	if r == nil {
		return "", false, false
	}
	return in.name, !r.negate, r.negate
}

// Rule returns the rule that leaves out the file or directory at p, if one does.
func (l *Level) Rule(p string, isDir bool) (Rule, bool) {
	r, in := l.decides(p, isDir)
	if r == nil || r.negate {
		return Rule{}, false
	}
	return Rule{in.name, r.line, r.text}, true
}

// decides returns the rule that has the last word on p, and its file; nil for none.
func (l *Level) decides(p string, isDir bool) (*stated, *file) {
	name := p[strings.LastIndexByte(p, '/')+1:]
	for ; l != nil; l = l.up {
		if len(p) < l.base {
			continue // the file lies below p
		}
		last := l.file.last(name, p[l.base:], isDir)
		all, tried, may := 0, 0, l.file.may()
		for i := len(l.paths) - 1; i >= 0 && l.paths[i].rule > last && all+tried <= may; i-- {
			r := &l.paths[i]
			tried++
			if r.dirOnly && !isDir || !strings.HasSuffix(p[l.base:], r.glob.tail) {
				continue
			}
			var room [2 * inPlace]uint64
			at, steps := r.glob.run(append(place(room[:0:inPlace]), r.at...), p[l.at:], room[inPlace:])
			all += steps
			if r.glob.done(at) {
				last = r.rule
			}
		}
		l.file.count(all, tried)
		if last > 0 {
			return &l.file.rules[last-1], l.file
		}
	}
	return nil, nil
}

// IgnoredPath is Ignored for a path of which nothing is known: it asks for
// every directory on the way.
func (l *Level) IgnoredPath(p string, isDir bool) bool {
	for i := 0; i < len(p); i++ {
		if p[i] == '/' {
			if l.Ignored(p[:i], true) {
				return true
			}
			l = l.In(p[:i+1])
		}
	}
	return l.Ignored(p, isDir)
}
