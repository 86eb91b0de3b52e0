package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

type options struct {
	repo, repos, specs, questions, out string
	aside, show                        bool
	made                               int
}

// bench is one run.
type bench struct {
	o       options
	r       lab.Report
	bin     string
	scratch string
	failed  []string
}

func run(o options) error {
	j, err := load(o.questions)
	if err != nil {
		return err
	}
	b := &bench{o: o}
	if b.scratch, err = lab.Scratch("kdd"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	b.bin = filepath.Join(b.scratch, "knowledge")
	if err := lab.Build(".", b.bin, "./cmd/knowledge"); err != nil {
		return err
	}
	b.r.Printf("# Specifications, %s\n\n%s. Load averages %s at the start. Written by `.ci/extra kdd`.\n", time.Now().Format(time.DateOnly), lab.Machine(), lab.Load())
	for _, part := range []func(judged) error{b.repository, b.crowd, b.seed, b.many} {
		if err := part(j); err != nil {
			return err
		}
	}
	if o.out == "" {
		fmt.Print(b.r.String())
	} else {
		p, err := b.r.Write(o.out, "kdd")
		if err != nil {
			return err
		}
		fmt.Println(p)
	}
	if len(b.failed) > 0 {
		return fmt.Errorf("not as it should be:\n  %s", strings.Join(b.failed, "\n  "))
	}
	return nil
}

// want notes what is not as it should be, and returns a word for the report.
func (b *bench) want(ok bool, format string, args ...any) string {
	if ok {
		return "yes"
	}
	b.failed = append(b.failed, fmt.Sprintf(format, args...))
	return "**no**"
}

func (b *bench) skip(what, why string) {
	fmt.Printf("skipped: %s: %s\n", what, why)
	b.r.Printf("\n%s: skipped, %s\n", what, why)
}

// serve starts the program on a folder and has that indexed.
func (b *bench) serve(dir, data string) (*lab.Client, time.Duration, error) {
	c, err := lab.Dial(dir, lab.Env(filepath.Join(b.scratch, data)), b.bin, lab.Handshake)
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	// The first question starts it, and may be refused for want of anything indexed.
	_, _ = c.Call("execute", map[string]any{"command": "kdd:stats"})
	for until := time.Now().Add(10 * time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		var active struct {
			Jobs []struct {
				Type string `json:"type"`
			} `json:"jobs"`
		}
		if err := c.Execute("jobs", map[string]any{"activeOnly": true}, &active); err != nil {
			return c, 0, err
		}
		if len(active.Jobs) == 0 {
			return c, time.Since(began), nil
		}
	}
	return c, 0, fmt.Errorf("a job did not end in ten minutes")
}

// repository measures the public repository of the questions.
func (b *bench) repository(j judged) error {
	b.r.Printf("\n## A public repository\n\n`%s` at %s.\n\n", j.Repository, j.Commit)
	dir, skipped := b.checkout(j)
	if skipped != "" {
		b.skip("the public repository", skipped)
		return nil
	}
	c, took, err := b.serve(dir, "repository")
	if c != nil {
		defer c.Close()
	}
	if err != nil {
		return err
	}
	sums, replies, err := ask(c, dir, j, b.o.aside)
	if err != nil {
		return err
	}
	rows := [][]string{{"questions", "asked", "MRR of the document", "MRR of the section", "right document first"}}
	for _, name := range lab.Keys(sums) {
		rows = append(rows, sums[name].row(name))
	}
	b.r.Table(rows...)
	all := sums["all"]
	b.r.Printf("MRR of the document at least 0.8: %s. Ten results are asked for, drafts included; all of these specifications are drafts.\n\n", b.want(all.document/float64(max(all.asked, 1)) >= 0.8, "the MRR is %.3f", all.document/float64(max(all.asked, 1))))
	b.r.Printf("Not first, or the section missed:\n\n")
	missed := sums["open"].missed
	if b.o.show && sums["aside"] != nil {
		missed = append(missed, sums["aside"].missed...)
	}
	for _, m := range missed {
		b.r.Printf("- %s\n", m)
	}
	if err := b.replies(c, dir, j, replies); err != nil {
		return err
	}
	if err := b.listed(c, dir); err != nil {
		return err
	}
	b.r.Printf("- indexed with everything else of the repository in %s\n", lab.Ms(took))
	return b.golden(c)
}

// replies checks every address and the sizes of replies of five.
func (b *bench) replies(c *lab.Client, dir string, j judged, replies []results) error {
	addresses, broken, long, largest := 0, 0, 0, 0
	for _, r := range replies {
		for _, x := range r.Results {
			addresses++
			if !opens(x.URL, x.Section) {
				broken++
			}
			if utf8.RuneCountInString(x.Snippet) > 150 {
				long++
			}
		}
	}
	for _, q := range j.Questions {
		text, err := c.Call("execute", map[string]any{"command": "kdd:search", "args": map[string]any{"query": q.Question, "include_statuses": []string{"all"}}})
		if err != nil {
			return err
		}
		largest = max(largest, len(text))
	}
	b.r.Printf("\n- %d addresses, all open the heading that they name: %s\n", addresses, b.want(broken == 0, "%d addresses open no such heading", broken))
	b.r.Printf("- snippets of at most 150 runes: %s\n", b.want(long == 0, "%d snippets are longer", long))
	b.r.Printf("- the largest reply of five results has %d bytes, less than 4,096: %s\n", largest, b.want(largest < 4096, "a reply has %d bytes", largest))
	return nil
}

// opens reports whether an address names a file with the heading.
func opens(address, section string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		return false
	}
	body, err := os.ReadFile(filepath.FromSlash(u.Path))
	if err != nil {
		return false
	}
	times := map[string]int{} // of equal headings the second ends in -1
	for l := range strings.Lines(string(body)) {
		name, ok := headingOf(u.Path, l)
		if !ok {
			continue
		}
		anchor := specdoc.Anchor(name)
		n := times[anchor]
		if times[anchor]++; n > 0 {
			anchor = fmt.Sprintf("%s-%d", anchor, n)
		}
		if anchor == u.Fragment && plain(name) == plain(section) {
			return true
		}
	}
	return false
}

// gherkinHeading is a line of a feature that begins a part of it, which is called
// by its word where it has no name.
var gherkinHeading = regexp.MustCompile(`^\s*(Feature|Rule|Scenario|Scenario Outline|Background|Example|` +
	`Característica|Regla|Escenario|Esquema del escenario|Antecedentes|Ejemplo): *(.*?)\s*$`)

// headingOf returns the heading that a line of a file is.
func headingOf(file, line string) (name string, ok bool) {
	if filepath.Ext(file) == ".feature" {
		m := gherkinHeading.FindStringSubmatch(line)
		if m == nil {
			return "", false
		}
		return cmp.Or(m[2], m[1]), true
	}
	return strings.TrimSpace(strings.TrimLeft(line, "#")), strings.HasPrefix(line, "#")
}

// listed checks the inventory and the orphans.
func (b *bench) listed(c *lab.Client, dir string) error {
	var list struct {
		Documents []struct{ Path, Title, Kind, Status string }
		Total     int
	}
	if err := c.Execute("kdd:list", map[string]any{"limit": 1000, "include_statuses": []string{"all"}}, &list); err != nil {
		return err
	}
	there := 0
	var lacking []string
	err := filepath.WalkDir(filepath.Join(dir, "specs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".md" {
			return err
		}
		there++
		rel, _ := filepath.Rel(dir, p)
		i := slices.IndexFunc(list.Documents, func(x struct{ Path, Title, Kind, Status string }) bool { return x.Path == filepath.ToSlash(rel) })
		if i < 0 || list.Documents[i].Title == "" || list.Documents[i].Kind == "" || list.Documents[i].Status != "INDEXED" {
			lacking = append(lacking, rel)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.r.Printf("- %d specifications, all listed with title and kind: %s\n", there, b.want(len(lacking) == 0 && there > 0, "not listed: %v", lacking))
	var check struct {
		References int     `json:"totalReferences"`
		Orphans    int     `json:"totalOrphans"`
		Percent    float64 `json:"orphanPercent"`
	}
	if err := c.Execute("kdd:check", map[string]any{}, &check); err != nil {
		return err
	}
	b.r.Printf("- %d of %d relations lead nowhere, %.1f %%, less than 5 (the original: 26): %s\n", check.Orphans, check.References, check.Percent, b.want(check.Percent < 5 && check.References > 100, "%.1f %% of the relations are orphans", check.Percent))
	return nil
}

// golden compares with what the original engine answered about its own
// specifications. Where the two differ it is for a defect of the original.
func (b *bench) golden(c *lab.Client) error {
	raw, err := os.ReadFile(filepath.Join(b.o.specs, "golden", "kdd.txt"))
	if err != nil {
		b.skip("the original's replies", "there is no golden/kdd.txt in "+b.o.specs)
		return nil
	}
	golden := string(raw)
	b.r.Printf("\n### Beside the original's replies\n\n")
	statuses := []string{"all"}
	var found results
	if err := c.Execute("kdd:search", map[string]any{"query": "GraphEdge", "limit": 3, "include_statuses": statuses}, &found); err != nil {
		return err
	}
	first := len(found.Results) > 0 && found.Results[0].Title == "GraphEdge"
	b.r.Printf("- `search GraphEdge`: the entity of that name is first: %s. The original gives every hit the same 0.25, a snippet that is the id (titles are not indexed), and needs a lower threshold than its own to give any.\n", b.want(first, "search GraphEdge: %+v", found.Results))
	var rel struct {
		Type    string
		Related []struct{ Name, Relation, Direction string }
		Count   int
	}
	if err := c.Execute("kdd:related", map[string]any{"entity": "GraphEdge", "limit": 500, "include_statuses": statuses}, &rel); err != nil {
		return err
	}
	var lacking []string
	for _, name := range []string{"GraphNode", "KDDDocument", "IndexManifest", "BR-LAYER-001"} { // the edges of its listing
		if !slices.ContainsFunc(rel.Related, func(x struct{ Name, Relation, Direction string }) bool { return x.Name == name }) {
			lacking = append(lacking, name)
		}
	}
	b.r.Printf("- `graph Entity:GraphEdge --depth 1`: every target of the original's edges is among our %d: %s. Ours have no edge to themselves, one for each neighbour, and both directions.\n", rel.Count, b.want(len(lacking) == 0 && rel.Type == "ENTITY", "related GraphEdge lacks %v", lacking))
	var impact struct {
		Analyzed struct{ ID string } `json:"analyzedNode"`
		Direct   []struct {
			NodeID string `json:"node_id"`
		} `json:"directlyAffected"`
		Transitive []struct {
			NodeID string `json:"node_id"`
		} `json:"transitivelyAffected"`
	}
	if err := c.Execute("kdd:impact", map[string]any{"entity": "Entity:GraphEdge", "depth": 2, "limit": 500, "include_statuses": statuses}, &impact); err != nil {
		return err
	}
	seen, twice := map[string]bool{}, 0
	for _, x := range append(slices.Clone(impact.Direct), impact.Transitive...) {
		if seen[x.NodeID] {
			twice++
		}
		seen[x.NodeID] = true
	}
	b.r.Printf("- `impact Entity:GraphEdge --depth 2`: the same node is analysed, %d direct and %d transitive dependents, each once: %s. The original counts one node once for each type of edge.\n",
		len(impact.Direct), len(impact.Transitive), b.want(impact.Analyzed.ID == "Entity:GraphEdge" && twice == 0 && len(impact.Direct) > 0, "impact of GraphEdge: %+v, %d twice", impact.Analyzed, twice))
	var ctx struct {
		Constraints []struct {
			NodeID  string `json:"node_id"`
			Content string `json:"content"`
		} `json:"constraints"`
		Resolved []struct {
			NodeID string `json:"node_id"`
			Method string `json:"match_method"`
		} `json:"resolvedEntities"`
		Tokens int `json:"totalTokens"`
	}
	if err := c.Execute("kdd:context", map[string]any{"hints": []string{"GraphEdge.ts"}, "max_tokens": 600, "include_statuses": statuses}, &ctx); err != nil {
		return err
	}
	ok := len(ctx.Resolved) == 1 && ctx.Resolved[0].NodeID == "Entity:GraphEdge" && ctx.Resolved[0].Method == "basename" && ctx.Tokens <= 600
	for _, x := range ctx.Constraints[:min(2, len(ctx.Constraints))] {
		ok = ok && strings.HasPrefix(x.NodeID, "BR:") && strings.Contains(golden, `"node_id": "`+x.NodeID+`"`) && utf8.RuneCountInString(x.Content) <= 300
	}
	b.r.Printf("- `context GraphEdge.ts --max-tokens 600`: the same hint is resolved the same way, rules first: %s. Links read as their text rather than as `[[Target|text]]`.\n", b.want(ok && len(ctx.Constraints) > 1, "context of GraphEdge.ts: %+v", ctx))
	var section struct{ Start, End int }
	if err := c.Execute("kdd:section", map[string]any{"file": "specs/01-domain/entities/GraphEdge.md", "anchor": "#descripción"}, &section); err != nil {
		return err
	}
	_, escaped := c.Call("execute", map[string]any{"command": "kdd:section", "args": map[string]any{"file": "../package.json"}})
	b.r.Printf("- `section` of `#descripción` is lines %d to %d rather than the whole file, and `../package.json` is refused: %s.\n", section.Start, section.End, b.want(section.End-section.Start < 40 && escaped != nil, "section: %+v, %v", section, escaped))
	return nil
}

// seed looks at the decision record that the specification engine began with.
func (b *bench) seed(judged) error {
	b.r.Printf("\n## The seed itself\n\n")
	raw, err := os.ReadFile(filepath.Join(b.o.specs, "seeds", "000.md"))
	if err != nil {
		b.skip("the seed", "there is no seeds/000.md in "+b.o.specs)
		return nil
	}
	dir := filepath.Join(b.scratch, "seed")
	if err := fakeGit(dir); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "000.md"), raw, 0o644); err != nil {
		return err
	}
	c, _, err := b.serve(dir, "seed-data")
	if c != nil {
		defer c.Close()
	}
	if err != nil {
		return err
	}
	var list struct {
		Documents []struct {
			Path, Title, Kind, Status string
			KDDStatus                 string `json:"kdd_status"`
		}
	}
	if err := c.Execute("kdd:list", map[string]any{}, &list); err != nil {
		return err
	}
	ok := len(list.Documents) == 1 && list.Documents[0].Kind == "adr" && list.Documents[0].Status == "INDEXED" && list.Documents[0].KDDStatus == "superseded"
	b.r.Printf("- listed with kind adr, status INDEXED, kdd_status superseded: %s\n", b.want(ok, "the seed is listed as %+v", list.Documents))
	var found results
	if err := c.Execute("kdd:search", map[string]any{"query": "cómo se integra con agentes"}, &found); err != nil {
		return err
	}
	ok = len(found.Results) > 0 && found.Results[0].Section == "Decisión" && strings.HasSuffix(found.Results[0].URL, "000.md#decision")
	text, _ := json.Marshal(found.Results)
	b.r.Printf("- `kdd:search \"cómo se integra con agentes\"` finds its decision first: %s\n", b.want(ok, "the seed's decision is not first: %.300s", text))
	return nil
}

// checkout returns a folder with the files of the judged commit, or why there is none.
func (b *bench) checkout(j judged) (dir, skipped string) {
	from := j.Repository
	if b.o.repo != "" {
		from = b.o.repo
		if abs, err := filepath.Abs(from); err == nil {
			from = abs
		}
	}
	dir = filepath.Join(b.scratch, "kb-engine")
	if _, err := lab.Command(".", nil, "git", "clone", "-q", from, dir); err != nil {
		return "", fmt.Sprintf("%s cannot be cloned", j.Repository)
	}
	if _, err := lab.Command(dir, nil, "git", "checkout", "-q", j.Commit); err != nil {
		return "", fmt.Sprintf("it has no commit %s", j.Commit)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err.Error()
	}
	return real, ""
}

// fakeGit makes a folder a project.
func fakeGit(dir string) error {
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", d), 0o755); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644)
}

func unmarshal(text string, v any) error { return json.Unmarshal([]byte(text), v) }
