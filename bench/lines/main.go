// Command lines counts the product's code by room:
//
//	lines [-long] [DIR]
//
// Counted are the lines of every tracked file of code but tests (also what they share,
// in packages named …test) and their
// data, files marked as generated, the tools (bench, .ci, cmd/releasefiles,
// cmd/sbom) and data without logic. A line of over 120 columns, a tab being
// four, counts as two. -long lists functions of over 80 lines and files of
// over 400 instead.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	columns   = 120
	tab       = 4
	funcLines = 80
	fileLines = 400
)

// code are the extensions of files with logic. Files without one are scripts.
var code = []string{".go", ".s", ".sh", ".ps1", ".cmd", ".js", ".c", ".h", ""}

// apart are the folders that are no part of the product.
var apart = []string{"bench/", ".ci/", ".github/", "docs/", "cmd/releasefiles/", "cmd/sbom/"}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func main() {
	long := flag.Bool("long", false, "list long functions and files")
	flag.Parse()
	if err := run(os.Stdout, cmp.Or(flag.Arg(0), "."), *long); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, dir string, long bool) error {
	out, err := exec.Command("git", "-C", dir, "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	rooms, total := map[string]int{}, 0
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if !counts(name) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if generated.Match(b) || path.Ext(name) == "" && !bytes.HasPrefix(b, []byte("#!")) {
			continue
		}
		if long {
			if err := listLong(w, name, b); err != nil {
				return err
			}
		}
		n := Count(b)
		rooms[room(name)] += n
		total += n
	}
	if long {
		return nil
	}
	for _, r := range slices.SortedFunc(maps.Keys(rooms), func(a, b string) int { return cmp.Or(rooms[b]-rooms[a], cmp.Compare(a, b)) }) {
		fmt.Fprintf(w, "%7d  %s\n", rooms[r], r)
	}
	fmt.Fprintf(w, "%7d  in all\n", total)
	return nil
}

// counts reports whether a tracked file is code of the product.
func counts(name string) bool {
	if !slices.Contains(code, path.Ext(name)) || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(path.Dir(name), "test") || strings.Contains(name, "/testdata/") {
		return false
	}
	return !slices.ContainsFunc(apart, func(dir string) bool { return strings.HasPrefix(name, dir) })
}

// room names what a file counts for: the first two elements of its path.
func room(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 3 {
		return parts[0]
	}
	return parts[0] + "/" + parts[1]
}

// Count returns the number of lines of a file, long ones twice.
func Count(b []byte) int {
	n := 0
	for line := range bytes.Lines(b) {
		line = bytes.TrimRight(line, "\r\n")
		n++
		if utf8.RuneCount(line)+(tab-1)*bytes.Count(line, []byte("\t")) > columns {
			n++
		}
	}
	return n
}

func listLong(w io.Writer, name string, b []byte) error {
	if path.Ext(name) != ".go" {
		return nil
	}
	if n := bytes.Count(b, []byte("\n")); n > fileLines {
		fmt.Fprintf(w, "%s: %d lines\n", name, n)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, b, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > funcLines {
				fmt.Fprintf(w, "%s: %s has %d lines\n", set.Position(f.Pos()), f.Name.Name, n)
			}
		}
	}
	return nil
}
