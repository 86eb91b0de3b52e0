package findings

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

var errForm = errors.New("it has another form")

// elements calls begin and text for what d has left.
func elements(d *xml.Decoder, begin func(xml.StartElement), text func(string), end func(string)) error {
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch x := t.(type) {
		case xml.StartElement:
			begin(x)
		case xml.CharData:
			text(string(x))
		case xml.EndElement:
			end(x.Name.Local)
		}
	}
}

func nothing(string) {}

// number reads a whole number, 0 for anything else.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return n
}

// severityOf reads the words that checkers have for severities.
func severityOf(s string) Severity {
	switch strings.ToLower(s) {
	case "error", "fatal", "critical", "high", "blocker":
		return Error
	case "info", "information", "note", "notice", "low", "hint":
		return Note
	case "none", "ignore", "off":
		return Off
	}
	return Warning
}

// checkstyle reads <checkstyle><file name><error line severity message source/>.
func (r *reader) checkstyle(d *xml.Decoder) error {
	r.Format, r.Tool = "checkstyle", "checkstyle"
	file := ""
	return elements(d, func(e xml.StartElement) {
		switch e.Name.Local {
		case "file":
			file = attribute(e, "name")
		case "error":
			r.add(Finding{Rule: attribute(e, "source"), Severity: severityOf(attribute(e, "severity")), File: file, Line: number(attribute(e, "line")), Message: attribute(e, "message")})
		}
	}, nothing, nothing)
}

// junit reads the test cases that failed.
func (r *reader) junit(d *xml.Decoder) error {
	r.Format, r.Tool = "junit", "tests"
	var f Finding
	failed := false
	var said strings.Builder
	return elements(d, func(e xml.StartElement) {
		switch e.Name.Local {
		case "testcase":
			f = Finding{Rule: "test", Severity: Error, File: attribute(e, "file"), Line: number(attribute(e, "line")),
				Message: strings.TrimSpace(attribute(e, "classname") + " " + attribute(e, "name"))}
			if f.File == "" {
				f.File = r.ofClass(attribute(e, "classname"))
			}
			failed = false
		case "failure", "error":
			failed = true
			said.Reset()
			said.WriteString(attribute(e, "message"))
		}
	}, func(s string) {
		if failed && said.Len() == 0 {
			said.WriteString(strings.TrimSpace(s))
		}
	}, func(name string) {
		if name == "testcase" && failed {
			if m, _, _ := strings.Cut(said.String(), "\n"); m != "" {
				f.Message += ": " + m
			}
			r.add(f)
			failed = false
		}
	})
}

// ofClass returns the file of a class of tests: tests/test_shop.py of
// tests.test_shop.TestShop.
func (r *reader) ofClass(class string) string {
	for p := strings.ReplaceAll(class, ".", "/"); p != ""; {
		for _, ext := range []string{".py", ".java", ".kt", ".ts", ".js", ".rb", ".php", ".cs"} {
			if at := r.find("/" + p + ext); at != "" {
				return at
			}
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			return ""
		}
		p = p[:i]
	}
	return ""
}

// cobertura reads <class filename><lines><line number hits/>, each line of a file once.
func (r *reader) cobertura(d *xml.Decoder) error {
	r.Format, r.Tool = "cobertura", "coverage"
	file := ""
	hits := map[string]map[int]bool{}
	var order []string
	err := elements(d, func(e xml.StartElement) {
		switch e.Name.Local {
		case "class":
			if file = attribute(e, "filename"); hits[file] == nil {
				hits[file] = map[int]bool{}
				order = append(order, file)
			}
		case "line":
			if n := number(attribute(e, "number")); n > 0 && hits[file] != nil {
				hits[file][n] = hits[file][n] || number(attribute(e, "hits")) > 0
			}
		}
	}, nothing, nothing)
	for _, f := range order {
		covered := 0
		for _, hit := range hits[f] {
			if hit {
				covered++
			}
		}
		r.cover(f, covered, len(hits[f]))
	}
	return err
}
