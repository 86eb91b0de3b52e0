package findings

import (
	"encoding/xml"
	"fmt"
	"strings"
)

type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// junit writes the report as JUnit's XML: a suite for each rule, in which every
// finding is a test case that fails. Notes do not fail, and a rule without
// findings is a test case that passes.
func (r Report) junit() (string, error) {
	all := junitSuites{Name: r.Tool}
	for _, rule := range r.Rules {
		s := junitSuite{Name: rule.Name}
		for _, f := range r.Findings {
			if f.Rule != rule.Name {
				continue
			}
			at := f.File
			if f.Line > 0 {
				at += fmt.Sprintf(":%d", f.Line)
			}
			c := junitCase{Name: clean(at), Class: rule.Name, File: clean(f.File), Line: f.Line}
			if f.Severity == Note {
				c.Out = clean(f.Text())
			} else {
				c.Failure = &junitFailure{clean(f.Message), string(f.Severity), clean(at + ": " + f.Text())}
				s.Failures++
			}
			s.Cases = append(s.Cases, c)
		}
		if s.Cases == nil {
			s.Cases = []junitCase{{Name: rule.Text, Class: rule.Name}}
		}
		s.Tests = len(s.Cases)
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Suites = append(all.Suites, s)
	}
	raw, err := xml.MarshalIndent(all, "", "  ")
	return xml.Header + string(raw) + "\n", err
}

// clean leaves out what XML cannot hold.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
