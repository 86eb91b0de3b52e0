package traces

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// failure is one thing that went wrong, as a text tells it.
type failure struct {
	test   string       // the name of the failed test, "" where the text names none
	frames []rank.Frame // the innermost first
	says   []string     // lines that say what is wrong
	null   bool         // of a value that was not there
}

// entry is how a runner of tests begins what it says of one that failed; the
// group is the name of the test.
var entries = []lazyregexp.Regexp{
	lazyregexp.New(`^\s*--- FAIL: (\S+) \(`),                                          // go
	lazyregexp.New(`^_{3,} (?:ERROR at \w+ of )?(\S[^_]*(?:_[^_]+)*) _{3,}$`),         // pytest
	lazyregexp.New(`^(?:FAIL|ERROR): (\w+) \(`),                                       // unittest
	lazyregexp.New(`^---- (\S+) (?:stdout|stderr) ----$`),                             // cargo
	lazyregexp.New(`^\s+● (\S.*)$`),                                                   // jest
	lazyregexp.New(`^\s*\[(?:ERROR|FAIL)\] +(\w[\w.$]*)(?:\(|:\d| +Time elapsed).*$`), // maven
	lazyregexp.New(`^(\w[\w.$]*(?: > .+?)+)(?:\(\))? FAILED$`),                        // gradle
	lazyregexp.New(`^\s{0,4}\d+\) (\S.*?):?$`),                                        // mocha, rspec, phpunit, minitest
	lazyregexp.New(`^\s*(?:✖|not ok \d+ -) (\S.*?)(?: \([\d.]+ms\))?$`),               // node
	lazyregexp.New(`^\s{2,}Failed (\w\S*)(?: \[[^\]]*\])?$`),                          // dotnet
}

// ends are lines after which nothing is said of single tests.
var ends = lazyregexp.New(`^(?:=+ short test summary info =+|FAIL\t\S+|ok  \t\S+|failures:|Failed tests:|\d+ examples?, )`)

// told are lines that say what is wrong.
var told = lazyregexp.New(`^(?:E\s{2,}\S|panic: |fatal error: |thread '.*' panicked|Caused by: |\s*(?:Uncaught |Unhandled exception\. )?(?:\w+[.:\\$/])*[A-Z]\w*(?:Error|Exception|Failure|Exit|Interrupt|Warning|Panic|Timeout|Iteration)\b)|` +
	`^\s+\S+_test\.go:\d+: |^PHP (?:Fatal|Warning)|: in .*\((?:\w+::)*\w+(?:Error|Exception)\)|\bpanicked at\b|^\s*(?:Error|AssertionError)\b|^\s*(?:left|right|expected|actual|got|want)\b ?[:=]`)

// passed are lines that name a test that did not fail.
var passed = []lazyregexp.Regexp{
	lazyregexp.New(`^\s*--- PASS: (\S+) \(`),
	lazyregexp.New(`^(\S+::\S+) PASSED\b`),
	lazyregexp.New(`^test (\S+) \.\.\. ok$`),
}

// Bounds of what is read of a text: a log of a whole build is read to its end,
// and the first failures stand for others.
const (
	mostText     = 1 << 20 // bytes
	mostFailures = 40
	mostSays     = 6
	mostPassed   = 2000
)

// report is what a text tells.
type report struct {
	failures []failure
	passed   map[string]bool // tests that are said to have passed
	more     int             // failures that are not read
	listed   bool            // a runner of tests says which failed
	aborted  bool            // and came to its end before all had run
}

// read splits a text into failures: those that a runner of tests lists, or all
// of it as one.
func read(text string) report {
	out := report{passed: map[string]bool{}}
	var part []string
	var names []string
	name, within := "", false
	end := func() {
		if within && len(part) > 0 {
			out.add(name, strings.Join(part, "\n"))
		}
		part, within = nil, false
	}
	plain := colours.Regexp().ReplaceAllString(text, "")
	for line := range strings.Lines(plain) {
		line = strings.TrimRight(line, "\r\n")
		if n, ok := first(entries, line); ok {
			end()
			name, within = n, true
			names = append(names, n)
			continue
		}
		if within && ends.MatchString(line) {
			end()
			continue
		}
		if n, ok := first(passed, line); ok && len(out.passed) < mostPassed {
			out.passed[testName(n)] = true
			continue
		}
		if within {
			part = append(part, line)
		}
	}
	end()
	out.listed = len(out.failures) > 0 && summed.MatchString(plain)
	out.aborted = aborted.MatchString(plain)
	if len(out.failures) == 0 {
		n := ""
		if len(names) > 0 {
			n = names[0]
		}
		out.add(n, plain)
	}
	for _, f := range out.failures {
		delete(out.passed, f.test)
	}
	return out
}

// summed is how a run of tests says that it is over: tests that it does not name
// have not failed.
var summed = lazyregexp.New(`(?m)^(?:=+ short test summary info|FAIL\t|ok  \t|\s*\d+ (?:passing|failing)|Tests:\s|test result: |Ran \d+ tests|Tests run: |BUILD FAILED|Failed!|FAILURES!|\d+ runs, |\d+ examples?, |=+ .*\d+ failed)`)

// aborted is what ends a run of tests before its end.
var aborted = lazyregexp.New(`(?m)^(?:panic: |fatal error: |Bail out!|Interrupted: |!+ stopping after )`)

// colours are sequences that colour a terminal, as logs of builds keep them.
var colours = lazyregexp.New("\x1b\\[[0-9;]*[A-Za-z]")

// first returns the group of the first pattern that a line fits.
func first(rows []lazyregexp.Regexp, line string) (string, bool) {
	if len(line) > 500 {
		return "", false
	}
	for i := range rows {
		if m := rows[i].FindStringSubmatch(line); m != nil {
			return m[1], true
		}
	}
	return "", false
}

// add reads what is said of one failure. What names no place is none.
func (r *report) add(name, text string) {
	f := failure{test: testName(name)}
	for _, piece := range causesFirst(text) {
		frames, _ := rank.Frames(piece)
		for _, x := range frames {
			if !slices.Contains(f.frames, x) {
				f.frames = append(f.frames, x)
			}
		}
	}
	if len(f.frames) == 0 && f.test == "" {
		return
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "E  ")); len(line) < 2000 && told.MatchString(line) && len(f.says) < mostSays && !slices.Contains(f.says, line) {
			f.says = append(f.says, line)
		}
	}
	if f.test != "" && len(f.says) == 0 {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && len(line) < 500 && len(f.says) < 2 {
				f.says = append(f.says, line)
			}
		}
	}
	f.null = slices.ContainsFunc(f.says, nothing.MatchString)
	// A parent of subtests that failed says nothing of its own.
	for i := range r.failures {
		if p := &r.failures[i]; p.test == f.test && f.test != "" && len(p.frames) == 0 {
			*p = f
			return
		}
	}
	if len(r.failures) == mostFailures {
		r.more++
		return
	}
	r.failures = append(r.failures, f)
}

// nothing is how languages say that a value was not there.
var nothing = lazyregexp.New(`'?NoneType'? object|nil pointer|of (?:undefined|null)\b|NullPointerException|NullReferenceException|for nil(?::NilClass)?\b|\bon null\b|on a .None. value`)

// chained are the lines between exceptions of Python, of which the first is
// what the last came from.
var chained = lazyregexp.New(`(?m)^(?:The above exception was the direct cause of the following exception|During handling of the above exception, another exception occurred):\s*$`)

// causesFirst splits a text at chained exceptions: what was raised first comes
// first.
func causesFirst(text string) []string { return chained.Regexp().Split(text, -1) }

// testName is the name of the function of a test: without subtests, parameters,
// file and class.
func testName(s string) string {
	s, _, _ = strings.Cut(s, "[")
	if strings.ContainsAny(s, " ") { // a sentence
		return strings.TrimSpace(s)
	}
	if i := strings.IndexByte(s, '/'); i > 0 && !strings.Contains(s, "::") {
		s = s[:i]
	}
	if i := strings.LastIndexAny(s, ".:"); i >= 0 {
		s = s[i+1:]
	}
	return s
}
