// Package lazyregexp has regular expressions that are compiled when they are
// first used. A package-level regexp.MustCompile is paid for by every start of
// the program, and starts are many: a hundred and fifty expressions took six
// of the fifteen milliseconds that an agent waits for the list of tools.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled at its first use. It is
// safe for concurrent use.
type Regexp struct{ get func() *regexp.Regexp }

// New returns the expression that expr describes in the syntax of package
// regexp. One that does not parse panics when it is first used, so a test has
// to use each.
func New(expr string) Regexp {
	return Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// Regexp returns the compiled expression.
func (r Regexp) Regexp() *regexp.Regexp { return r.get() }

// What follows is as in package regexp.

func (r Regexp) MatchString(s string) bool                  { return r.get().MatchString(s) }
func (r Regexp) Find(b []byte) []byte                       { return r.get().Find(b) }
func (r Regexp) FindString(s string) string                 { return r.get().FindString(s) }
func (r Regexp) FindStringIndex(s string) []int             { return r.get().FindStringIndex(s) }
func (r Regexp) FindSubmatch(b []byte) [][]byte             { return r.get().FindSubmatch(b) }
func (r Regexp) FindStringSubmatch(s string) []string       { return r.get().FindStringSubmatch(s) }
func (r Regexp) FindStringSubmatchIndex(s string) []int     { return r.get().FindStringSubmatchIndex(s) }
func (r Regexp) FindAllString(s string, n int) []string     { return r.get().FindAllString(s, n) }
func (r Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }
func (r Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.get().FindAllSubmatch(b, n) }
func (r Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}
func (r Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }
func (r Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, f)
}
func (r Regexp) Split(s string, n int) []string { return r.get().Split(s, n) }
