package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// Kinds of pairs: what the short text, the query side, was.
const (
	kindDoc       = iota // doc comment → the definition below it
	kindCommit           // commit subject → the lines that it added to one file
	kindName             // name of a definition → its body
	kindHeading          // heading path → the section below it
	kindFile             // words of the path → a part of the file
	kindHead             // comment at the head of a file → a part of the file
	kindRemark           // comment inside code, or what a test says of itself → the lines below it
	kindString           // sentence in a string → the lines around it
	kindPath             // commit subject or comment → the path of its file
	kindSentence         // sentence of a section → the rest of it, with its headings
	kindLink             // text of a link, or the sentence around it → the section it points to
	kindSynonym          // a text of the above in other words → the same
	kindThesaurus        // what is said instead of a word → the word
	kindConcept          // description of a concept → its words, or a section about it
	kindSpanish          // a text of the above, word by word in Spanish → the same
	kindGloss            // Spanish term → English term
	kinds
)

var kindNames = [kinds]string{"doc", "commit", "name", "heading", "file", "head", "remark", "string", "path", "sentence", "link", "synonym", "thesaurus", "concept", "spanish", "glossary"}

// bounds on what one repository gives, so that no style rules.
var mostPairs = [kinds]int{12000, 14000, 7000, 6000, 6000, 3000, 8000, 3000, 8000, 6000, 4000, 0, 0, 0, 0, 0}

const (
	mostQuery = 48  // words of the short side
	mostText  = 220 // words of the long side
	mostFile  = 1 << 18
)

// pair is one example in words, before there is a vocabulary.
type pair struct {
	kind int
	q, d []string
}

// mined is what one repository gives.
type mined struct {
	name, commit string
	pairs        []pair
}

// mine returns the pairs of every checked-out repository in dir, in order of
// the names of their folders.
func mine(ctx context.Context, dir string, docs bool, workers int, say func(string, ...any)) ([]mined, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no repositories in %s", dir)
	}
	out := make([]mined, len(names))
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(names)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				out[i] = mineRepo(ctx, filepath.Join(dir, names[i]), names[i], docs)
				say("mined %d/%d %s: %d pairs", done.Add(1), len(names), names[i], len(out[i].pairs))
			}
		})
	}
	wg.Wait()
	return out, ctx.Err()
}

func mineRepo(ctx context.Context, dir, name string, docs bool) mined {
	m := &miner{docs: docs, seen: map[uint64]bool{}}
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return fs.SkipAll
		}
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if passedOver(path.Base(rel)) || docs && otherEdition(path.Base(rel)) {
				return fs.SkipDir
			}
			return nil
		}
		if i, err := d.Info(); err == nil && d.Type().IsRegular() && i.Size() <= mostFile {
			if raw, err := os.ReadFile(p); err == nil {
				m.file(rel, raw)
			}
		}
		return nil
	})
	m.resolve()
	res := mined{name: name}
	if docs {
		head, _ := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output()
		res.commit = strings.TrimSpace(string(head))
	} else if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		res.commit = m.history(ctx, dir)
	}
	res.pairs = m.sample()
	return res
}

func passedOver(dir string) bool {
	switch dir {
	case ".git", "vendor", "node_modules", "third_party", "thirdparty", "testdata", "fixtures", "dist", "build", "locale", "locales", "__snapshots__", "snapshots":
		return true
	}
	return false
}

// otherEdition reports whether a folder of documentation holds it in another
// language than English or in an earlier version.
func otherEdition(dir string) bool {
	dir = strings.ToLower(dir)
	return slices.Contains(otherLanguages, dir) || slices.ContainsFunc(otherLanguages, func(l string) bool {
		return strings.HasPrefix(dir, l+"-") || strings.HasPrefix(dir, l+"_")
	}) || dir == "i18n" || strings.HasPrefix(dir, "versioned_") || strings.HasSuffix(dir, "versioned_docs")
}

var otherLanguages = strings.Fields("ar bn cs de es fa fi fr hi hu it ja ko ml nl pl pt ro ru sv ta th tr uk vi zh")

type miner struct {
	docs  bool // only documentation is wanted
	pairs [kinds][]pair
	seen  map[uint64]bool
	prose prose
}

// add takes a pair unless it says too little or is there already.
func (m *miner) add(kind int, q, d string) {
	qw, dw := cut(embed.Split(q), mostQuery), cut(embed.Split(d), mostText)
	least := 3
	switch kind {
	case kindName, kindHeading, kindFile:
		least = 1
	case kindLink:
		least = 2
	}
	few := 6
	if kind == kindPath {
		few = 2
	}
	if len(qw) < least || len(dw) < few {
		return
	}
	h := fnv.New64a()
	for _, w := range qw {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	h.Write([]byte{1, byte(kind)})
	for _, w := range dw[:min(len(dw), 40)] {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	if m.seen[h.Sum64()] {
		return
	}
	m.seen[h.Sum64()] = true
	m.pairs[kind] = append(m.pairs[kind], pair{kind: kind, q: qw, d: dw})
}

func cut(w []string, most int) []string { return w[:min(len(w), most)] }

// sample returns at most mostPairs of each kind, spread evenly.
func (m *miner) sample() []pair {
	var out []pair
	for k, ps := range m.pairs {
		n := min(len(ps), mostPairs[k])
		for i := range n {
			out = append(out, ps[i*len(ps)/n])
		}
	}
	return out
}

func (m *miner) file(rel string, raw []byte) {
	t, err := chunk.Decode(rel, raw)
	if err != nil || t.Flags&kb.FlagGenerated != 0 {
		return
	}
	switch t.Language {
	case "json", "yaml", "xml", "csv", "text", "svg", "toml", "ini", "css", "scss", "diff", "gomod", "html", "sql", "batch", "po":
		return
	}
	lower := strings.ToLower(rel)
	if strings.Contains(lower, "changelog") || strings.Contains(lower, "changes") || strings.Contains(lower, "generated") || strings.Contains(lower, ".min.") {
		return
	}
	chunks := chunk.Split(t)
	lines := strings.SplitAfter(t.Body, "\n")
	dir := path.Dir(rel)
	if isProse(t.Language) {
		m.document(rel, chunks, lines)
		return
	}
	if m.docs {
		return
	}
	test := strings.Contains(lower, "test") || strings.Contains(lower, "spec/") || strings.Contains(lower, "example") || strings.Contains(lower, "bench")
	m.remarks(lines, t.Language)
	var heads []string
	for i := range chunks {
		c := &chunks[i]
		text := t.Body[c.From:c.To]
		if i == 0 {
			head, _ := parts(strings.Split(text, "\n"), t.Language)
			if head = tidy(head); head != "" && !licence(head) {
				heads = append(heads, head)
				m.add(kindPath, head, embed.PathText(rel))
			}
		}
		for j := range c.Symbols {
			s := &c.Symbols[j]
			if s.Start < 1 || s.End > len(lines) || s.End < s.Start {
				continue
			}
			own := lines[s.Start-1 : min(s.End, s.Start+79)]
			doc, body := parts(own, t.Language)
			where := strings.Join(s.Path, " ") + "\n"
			if doc = tidy(doc); doc != "" && !licence(doc) {
				m.add(kindDoc, doc, where+body)
				if !test && (len(m.pairs[kindDoc]))%3 == 0 {
					m.add(kindPath, doc, embed.PathText(rel))
				}
			}
			if s.End-s.Start >= 3 {
				// The name itself, and what encloses it, is left out of the
				// first line, so that the rest has to tell.
				_, rest, _ := strings.Cut(body, "\n")
				name := s.Name
				if len(s.Path) > 0 && len(embed.Split(name)) < 3 {
					name = s.Path[len(s.Path)-1] + " " + name
				}
				m.add(kindName, name, rest)
			}
		}
	}
	if test || len(chunks) == 0 {
		return
	}
	// What a whole file is about is told by its path and its head.
	stem := strings.TrimSuffix(path.Base(rel), path.Ext(rel))
	stem, _, _ = strings.Cut(stem, ".")
	switch strings.ToLower(stem) {
	case "index", "mod", "lib", "init", "main", "__init__", "utils", "util", "types", "common":
		stem = path.Base(dir) + " " + stem
	}
	step := max(1, len(chunks)/4)
	for i := step / 2; i < len(chunks); i += step {
		c := &chunks[i]
		text := t.Body[c.From:c.To]
		m.add(kindFile, path.Base(dir)+" "+stem, text)
		for _, h := range heads {
			if i > 0 {
				m.add(kindHead, h, text)
			}
		}
	}
}

var (
	remark   = regexp.MustCompile(`^\s*(?://+|#+|--+|;+)\s+(\S.*)$`)
	testSays = regexp.MustCompile(`^\s*(?:it|test|describe|specify|scenario|context|should|suite|t\.Run|QTest|TEST_CASE|@Test|test_that|fit|xit|@DisplayName)[ (]+["'` + "`" + `]([^"'` + "`" + `]{12,160})["'` + "`" + `]`)
	sentence = regexp.MustCompile(`["'` + "`" + `]([A-Za-z%{<$][^"'` + "`" + `\\]{20,200})["'` + "`" + `]`)
)

// remarks adds what stands inside definitions: comments of one paragraph with
// the code that they are about, what tests say of themselves, messages.
func (m *miner) remarks(lines []string, language string) {
	hash := language == "python" || language == "ruby" || language == "bash" || language == "elixir" || language == "perl" || language == "r"
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if len(l) > 300 {
			continue
		}
		if g := testSays.FindStringSubmatch(l); g != nil {
			m.add(kindRemark, g[1], strings.Join(lines[i+1:min(i+16, len(lines))], ""))
			continue
		}
		if g := remark.FindStringSubmatch(l); g != nil && i > 3 && l[0] <= ' ' {
			if !hash && strings.HasPrefix(strings.TrimSpace(l), "#") || noDocs.MatchString(g[1]) {
				continue
			}
			text := g[1]
			for i+1 < len(lines) {
				g = remark.FindStringSubmatch(lines[i+1])
				if g == nil {
					break
				}
				text += " " + g[1]
				i++
			}
			if len(embed.Split(text)) >= 4 && !licence(text) {
				m.add(kindRemark, text, strings.Join(lines[i+1:min(i+13, len(lines))], ""))
			}
			continue
		}
		if g := sentence.FindStringSubmatchIndex(l); g != nil && strings.Count(l[g[2]:g[3]], " ") >= 3 {
			around := strings.Join(lines[max(0, i-10):i], "") + l[:g[2]] + l[g[3]:] + strings.Join(lines[i+1:min(i+7, len(lines))], "")
			m.add(kindString, l[g[2]:g[3]], around)
		}
	}
}

func isProse(language string) bool {
	switch language {
	case "markdown", "mdx", "rst", "asciidoc", "org", "latex", "troff":
		return true
	}
	return false
}

var (
	marks   = regexp.MustCompile(`^\s*(///?!?|/\*+!?|\*+/?|#+!?|--+\s*\|?|;+|%+|\{-+\|?|@(?:module)?doc\s+~?[sS]?(?:"""|")|"""|''')\s?`)
	ends    = regexp.MustCompile(`(?:\*+/|-\}|"""|''')\s*$`)
	tag     = regexp.MustCompile(`^\s*(@\w+|:\w+[ :]|\\\w+|Args:|Arguments:|Parameters|Params|Returns?:?$|Raises|Example|Examples|Usage|Note:|-{3,}|={3,}|` + "```" + `|~~~|<pre|>>>|#+ )`)
	link    = regexp.MustCompile(`https?://\S+|<[^>]{1,80}>|\{@\w+ |\bsee also\b.*`)
	noDocs  = regexp.MustCompile(`(?i)^\s*(todo|fixme|xxx|hack|eslint|noqa|nolint|type:|pylint|rubocop|istanbul|prettier|@ts-|go:|\+build|region|endregion|vim:|-\*-)`)
	comment = regexp.MustCompile(`^\s*(//|/\*|\*|#[^\[!\w]|#$|-- |--$|--\||;;|\{-|@moduledoc|@doc|@typedoc)`)
	legal   = regexp.MustCompile(`(?i)copyright|licen[cs]e|spdx|all rights reserved|permission is hereby|warrant(y|ies)|redistribut`)
)

func licence(s string) bool { return legal.MatchString(s) }

// parts separates the comment that explains a definition from its code: the
// comment lines before it, or the string below its first line in languages
// that document there.
func parts(lines []string, language string) (doc, body string) {
	var d, b strings.Builder
	hash := language == "python" || language == "ruby" || language == "bash" || language == "elixir" || language == "perl" || language == "r"
	fence := "" // what ends the block that we are in
	coded := 0  // lines of code so far
	for _, l := range lines {
		trimmed := strings.TrimSpace(l)
		if fence != "" {
			if coded < 8 {
				d.WriteString(l + "\n")
			}
			if strings.Contains(trimmed, fence) {
				fence = ""
			}
			continue
		}
		switch {
		case trimmed == "":
		case strings.HasPrefix(trimmed, "/*") && !strings.Contains(trimmed, "*/"):
			fence = "*/"
			if coded == 0 {
				d.WriteString(l + "\n")
			} else {
				b.WriteString(l)
			}
			continue
		case strings.HasPrefix(trimmed, "{-") && !strings.Contains(trimmed, "-}"):
			fence = "-}"
			d.WriteString(l + "\n")
			continue
		case (language == "python" || language == "elixir") && coded < 8:
			for _, f := range []string{`"""`, `'''`} {
				rest, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(trimmed, "@moduledoc "), "@doc "), "rRuUsS~"), f)
				if ok {
					d.WriteString(l + "\n")
					if !strings.Contains(rest, f) {
						fence = f
					}
					trimmed = ""
					break
				}
			}
			if trimmed == "" {
				continue
			}
		}
		if coded == 0 && comment.MatchString(l) && (hash || !strings.HasPrefix(trimmed, "#")) {
			d.WriteString(l + "\n")
			continue
		}
		if trimmed != "" {
			coded++
		}
		b.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			b.WriteByte('\n')
		}
	}
	return d.String(), b.String()
}

// tidy returns the first paragraph of a comment without its marks, or "".
func tidy(doc string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(doc, "\n") {
		l = ends.ReplaceAllString(l, "")
		for range 2 {
			l = marks.ReplaceAllString(l, "")
		}
		l = strings.TrimSpace(l)
		if l == "" {
			if b.Len() > 20 {
				break
			}
			continue
		}
		if noDocs.MatchString(l) {
			continue
		}
		if tag.MatchString(l) {
			if b.Len() > 0 {
				break
			}
			if rest, ok := strings.CutPrefix(l, "@brief "); ok {
				l = rest
			} else if rest, ok := strings.CutPrefix(l, `\brief `); ok {
				l = rest
			} else {
				continue
			}
		}
		b.WriteString(link.ReplaceAllString(l, " "))
		b.WriteByte(' ')
		if b.Len() > 500 {
			break
		}
	}
	return b.String()
}

var (
	dullSubject = regexp.MustCompile(`(?i)^(merge|bump|release|revert|version|v?\d+\.\d+|update (changelog|dependenc|copyright|readme|authors|contributors|submodule|version)|prepare|chore\(deps|build\(deps|\[?maven|fix typo|typo|wip|cleanup|lint|format|changelog|whitespace|automatic|auto|sync|deps?:|dependabot|update .* to v?\d)`)
	trailer     = regexp.MustCompile(`\s*\(?#\d+\)?\s*$|^\w{1,12}(\([\w\-./ ,]+\))?!?:\s+|^\[[^\]]{1,30}\]\s*`)
)

// history adds a pair of each commit that says something and returns the
// newest commit.
func (m *miner) history(ctx context.Context, dir string) string {
	head, _ := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output()
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "log", "--no-merges", "-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv",
		"--no-renames", "-n", "9000", "--format=%x01%s")
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return ""
	}
	type change struct{ file, lines string }
	var subject, file string
	var changes []change
	var added strings.Builder
	keep := func() {
		if added.Len() > 0 {
			changes = append(changes, change{file, added.String()})
		}
		added.Reset()
	}
	commit := func() {
		keep()
		if subject != "" && len(changes) <= 20 {
			slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(len(b.lines), len(a.lines)) })
			for _, c := range changes[:min(2, len(changes))] {
				if strings.Count(c.lines, "\n") >= 3 && !licence(c.lines[:min(len(c.lines), 600)]) {
					m.add(kindCommit, subject, c.lines)
					m.add(kindPath, subject, embed.PathText(c.file))
				}
			}
		}
		subject, changes = "", changes[:0]
	}
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		l, err := r.ReadSlice('\n')
		if len(l) > 0 {
			switch {
			case l[0] == 1:
				commit()
				s := strings.TrimSpace(string(l[1:]))
				if !dullSubject.MatchString(s) {
					subject = trailer.ReplaceAllString(trailer.ReplaceAllString(s, ""), "")
				}
			case bytes.HasPrefix(l, []byte("+++ ")):
				keep()
				file = strings.TrimPrefix(strings.TrimSpace(string(l[4:])), "b/")
			case l[0] == '+' && len(l) < 400 && added.Len() < 4000 && wanted(file):
				added.Write(l[1:])
			}
		}
		for err == bufio.ErrBufferFull {
			_, err = r.ReadSlice('\n')
		}
		if err != nil {
			break
		}
	}
	commit()
	cmd.Wait()
	return strings.TrimSpace(string(head))
}

func wanted(file string) bool {
	lower := strings.ToLower(file)
	switch lang.Of(file, nil) {
	case "json", "yaml", "xml", "csv", "text", "toml", "ini", "diff", "gomod", "html", "markdown", "rst", "css", "scss", "asciidoc":
		return false
	}
	return !strings.Contains(lower, "test") && !strings.Contains(lower, "vendor") && !strings.Contains(lower, "generated") &&
		!strings.Contains(lower, "lock") && !strings.Contains(lower, "/dist/")
}

// A corpus is what training reads: the pairs as counted words.
type corpus struct {
	sources []source
	words   []string
	pairs   []example
}

type source struct {
	name, commit string
	pairs        [kinds]int
}

// example is a pair; the words of a side are ascending, each with how often
// it stands there.
type example struct {
	kind uint8
	repo uint16
	q, d []occurrence
}

type occurrence struct{ word, n uint32 }

// numbering gives words of a corpus their numbers, and new ones the next.
type numbering struct {
	c       *corpus
	numbers map[string]uint32
}

func number(c *corpus) *numbering {
	n := &numbering{c, make(map[string]uint32, len(c.words))}
	for i, w := range c.words {
		n.numbers[w] = uint32(i)
	}
	return n
}

// of returns the number of a word.
func (n *numbering) of(w string) uint32 {
	k, ok := n.numbers[w]
	if !ok {
		k = uint32(len(n.c.words))
		w = strings.Clone(w)
		n.numbers[w] = k
		n.c.words = append(n.c.words, w)
	}
	return k
}

// known reports whether the corpus has the word.
func (n *numbering) known(w string) bool {
	_, ok := n.numbers[w]
	return ok
}

// side returns the occurrences of words.
func (n *numbering) side(words []string) []occurrence {
	ids := make([]uint32, len(words))
	for i, w := range words {
		ids[i] = n.of(w)
	}
	slices.Sort(ids)
	return count(ids)
}

// gather makes a corpus of what was mined.
func gather(ms []mined) *corpus {
	c := &corpus{}
	c.add(ms)
	return c
}

// add adds what was mined, and numbers its words.
func (c *corpus) add(ms []mined) {
	n := number(c)
	for _, m := range ms {
		s := source{name: m.name, commit: m.commit}
		repo := uint16(len(c.sources))
		for _, p := range m.pairs {
			s.pairs[p.kind]++
			c.pairs = append(c.pairs, example{uint8(p.kind), repo, n.side(p.q), n.side(p.d)})
		}
		c.sources = append(c.sources, s)
	}
}

// replace returns occurrences with others in place of those that m has
// alternatives for, unless keep says otherwise, and how many of all it replaced.
func (n *numbering) replace(os []occurrence, m map[string][][]string, r *rand.Rand, keep func() bool) (out []occurrence, replaced, all int) {
	var ids []uint32
	for _, o := range os {
		for range o.n {
			all++
			alternatives := m[n.c.words[o.word]]
			if len(alternatives) == 0 || keep() {
				ids = append(ids, o.word)
				continue
			}
			replaced++
			for _, w := range alternatives[r.IntN(len(alternatives))] {
				ids = append(ids, n.of(w))
			}
		}
	}
	slices.Sort(ids)
	return count(ids), replaced, all
}

// entries adds each alternative with its word as a pair, of the words that the
// corpus has: inflected by rule and written by somebody.
func (n *numbering) entries(kind uint8, m map[string][][]string) {
	var words []string
	for w := range m {
		// The glossary has always passed over the first word of a corpus; the
		// model is made the same, to the byte, as long as it does.
		if k, ok := n.numbers[w]; ok && (k > 0 || kind != kindGloss) {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	for _, w := range words {
		for _, a := range m[w] {
			n.c.pairs = append(n.c.pairs, example{kind: kind, repo: uint16(len(n.c.sources)), q: n.side(a), d: n.side([]string{w})})
		}
	}
}

// count returns how many sides each word stands in.
func (c *corpus) count() []int {
	n := make([]int, len(c.words))
	for i := range c.pairs {
		for _, o := range c.pairs[i].q {
			n[o.word]++
		}
		for _, o := range c.pairs[i].d {
			n[o.word]++
		}
	}
	return n
}

// frequent returns the numbers of the most frequent words, in byte order.
func (c *corpus) frequent(most, least int) []uint32 {
	n := c.count()
	ids := make([]uint32, 0, len(n))
	for i, k := range n {
		if k >= least {
			ids = append(ids, uint32(i))
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		if d := cmp.Compare(n[b], n[a]); d != 0 {
			return d
		}
		return strings.Compare(c.words[a], c.words[b])
	})
	ids = ids[:min(len(ids), most)]
	slices.SortFunc(ids, func(a, b uint32) int { return strings.Compare(c.words[a], c.words[b]) })
	return ids
}

func (s source) total() (n int) {
	for _, k := range s.pairs {
		n += k
	}
	return n
}

func (s source) String() string { return s.name + " " + s.commit + " " + strconv.Itoa(s.total()) }
