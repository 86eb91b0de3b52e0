// Command twolang learns Spanish and English from texts that say the same in
// both, for package bilingual of the program.
//
//	twolang -dir DIR -pairs FILE                     gather pairs of texts
//	twolang -pairs FILE -lexicon LEXICON             learn which words say the same
//
// DIR has a folder for each source of sources.json, laid out as there. Pairs
// are lines of source, kind, English or short text, Spanish or long text, parted
// by tabs; no pair is kept in the repository. The same sources give the same bytes.
package main

import (
	"bufio"
	_ "embed" // the list of sources
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed sources.json
var sourcesJSON []byte

// source is a row of sources.json.
type source struct {
	Name  string `json:"name"`  // its folder
	Other string `json:"other"` // the folder of the Spanish texts, where these lie apart
	Form  string `json:"form"`  // a key of forms
	Files string `json:"files"` // ** is any folders, * any name
}

// pair is two texts that say the same, or of which the second answers the first.
type pair struct{ kind, a, b string }

// Kinds of pairs.
const (
	translated = "translation" // English, Spanish
	headed     = "heading"     // heading, the section below
	opened     = "sentence"    // a sentence, the rest of its section
	asked      = "question"    // a question, the text that answers
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "twolang:", err)
		os.Exit(1)
	}
}

func run() error {
	dir := flag.String("dir", "", "folder of the sources")
	pairs := flag.String("pairs", "", "file of pairs, written with -dir and read without")
	lexicon := flag.String("lexicon", "", "lexicon to write")
	most := flag.Int("most", 32000, "pairs of words in the lexicon, at most")
	flag.Parse()
	switch {
	case *pairs == "":
		return errors.New("name a file with -pairs")
	case *dir != "":
		return gather(*dir, *pairs)
	case *lexicon != "":
		return learn(*pairs, *lexicon, *most)
	}
	return errors.New("name sources with -dir or a lexicon with -lexicon")
}

// forms are the readers of files: path of a file and of its Spanish sibling to pairs.
var forms = map[string]func(file, other string) ([]pair, error){
	"po": readPO, "mo": readMO, "tsv": readTSV, "yml": readYML, "squad": readSQuAD,
	"markdown": readMarkdown, "html": readHTML, "sections": readSections,
}

// gather writes the pairs of all sources, each text once.
func gather(dir, out string) error {
	var sources []source
	if err := json.Unmarshal(sourcesJSON, &sources); err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	seen := map[string]bool{}
	for _, s := range sources {
		n, err := s.write(dir, w, seen)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%-45s %v\n", s.Name, n)
	}
	return errors.Join(w.Flush(), f.Close())
}

// write writes the pairs of one source and returns how many of each kind.
func (s *source) write(dir string, w *bufio.Writer, seen map[string]bool) (map[string]int, error) {
	root, re := filepath.Join(dir, s.Name), glob(s.Files)
	var files []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if rel, _ := filepath.Rel(root, p); re.MatchString(filepath.ToSlash(rel)) {
				files = append(files, rel)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	counts := map[string]int{}
	for _, rel := range files {
		list, err := forms[s.Form](filepath.Join(root, rel), filepath.Join(dir, s.Other, rel))
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			p.a, p.b = clean(p.a), clean(p.b)
			key := p.a + "\t" + p.b
			if p.a == p.b || len(p.a) < 2 || len(p.b) < 2 || seen[key] {
				continue
			}
			seen[key] = true
			counts[p.kind]++
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, p.kind, key)
		}
	}
	return counts, nil
}

// glob returns what paths a pattern means.
func glob(pattern string) *regexp.Regexp {
	q := regexp.QuoteMeta(pattern)
	q = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*`, `[^/]*`).Replace(q)
	return regexp.MustCompile("^" + q + "$")
}

var (
	markup = regexp.MustCompile(`<[^>\n]{1,300}>|\{[^}\n]{1,200}\}|:[a-z:]+:` + "`" + `|` + "`" + `{1,2}_?|\*{1,2}|\]\([^)\s]*\)|!?\[|\]|\\[a-z]|%\([a-z_]+\)[a-z]|%[0-9$.]*[a-z]|https?://\S+`)
	spaces = regexp.MustCompile(`[\s_|]+`)
)

// clean drops marks of markup and brings a text into one line.
func clean(s string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(markup.ReplaceAllString(s, " "), " "))
}
