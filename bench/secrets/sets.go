package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// kinds lays out the files of the review's script and looks for its canaries.
func kinds(r *lab.Report, script string) error {
	raw, err := os.ReadFile(script)
	if os.IsNotExist(err) {
		fmt.Println("skipped: the kinds of the review; there is no", script)
		return nil
	}
	if err != nil {
		return err
	}
	scratch, err := lab.Scratch("secrets")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	text := strings.ReplaceAll(string(raw), "/tmp/attacks-sec", filepath.Join(scratch, "sec"))
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ". ") {
			lines[i] = "K=true"
		}
		if strings.HasPrefix(l, "$K ") || strings.HasPrefix(l, "in=0") {
			lines[i] = ""
		}
	}
	cmd := exec.Command("bash", "-c", strings.Join(lines, "\n"))
	cmd.Env = append(os.Environ(), "HOME="+scratch)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, said)
	}
	root := filepath.Join(scratch, "sec")
	state := map[string]string{}
	err = filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		gone := inSecretDir(rel) || secret.Name(rel) || secret.File(rel, data)
		masked, _ := secret.Mask(rel, string(data))
		for n := 1; n <= 99; n++ {
			canary := fmt.Sprintf("canary%02d", n)
			switch {
			case !strings.Contains(string(data), canary):
			case gone:
				state[canary] = "left out"
			case strings.Contains(masked, canary):
				state[canary] = "shown: " + rel
			default:
				state[canary] = "masked"
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	count := map[string]int{}
	var shown []string
	for _, s := range state {
		if path, ok := strings.CutPrefix(s, "shown: "); ok {
			shown = append(shown, path)
			s = "shown"
		}
		count[s]++
	}
	r.Printf("## The kinds of the review\n\nOf %d: %d left out, %d masked, %d shown (%s).\n\n", len(state), count["left out"], count["masked"], count["shown"], strings.Join(shown, ", "))
	return nil
}

// judgedSet holds the rules against the judged set, see its README.
func judgedSet(r *lab.Report, dir string) error {
	r.Printf("## The judged set\n\n")
	for _, file := range []string{"secrets.txt", "not-secrets.txt"} {
		raw, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		all, hit := map[string]bool{}, map[string]bool{}
		n, took := 0, 0
		var which []string
		for line := range strings.Lines(string(raw)) {
			f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 5)
			if len(f) != 5 {
				continue
			}
			text := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(f[4])
			before, after, marked := strings.Cut(text, "{{}}")
			text = before + after
			at := len(before)
			if f[2] == "source" {
				filler := strings.Repeat("an ordinary line\n", 20)
				text, at = filler+text+"\n"+filler, at+len(filler)
			}
			n++
			all[f[0]] = true
			is := secret.Name(f[3]) || secret.File(f[3], []byte(text))
			for _, m := range secret.Find(f[3], text) {
				is = is || !marked || m.From <= at && at < m.To
			}
			if is {
				took++
			}
			if is != (file == "secrets.txt") {
				hit[f[0]] = true
				which = append(which, f[0]+" "+f[2]+" "+f[3])
			}
		}
		if file == "secrets.txt" {
			r.Printf("%d of %d kinds are left out or masked in both forms, %d of %d lines. Missed: %s.\n\n", len(all)-len(hit), len(all), took, n, list(which))
		} else {
			r.Printf("Of %d lines and files that are no secrets %d are taken for some: %s.\n\n", n, took, list(which))
		}
	}
	return nil
}

func list(s []string) string {
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, ", ")
}

// cost compares the time that the rules take with that of cutting and
// embedding the same texts, those of this repository, on one core.
func cost(r *lab.Report) error {
	scratch, err := lab.Scratch("secrets")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	grammars := &grammar.Set{Folder: scratch, Wanted: chunk.Wanted}
	defer grammars.Close()
	cutter := chunk.Cutter{Grammars: grammars}
	emb, err := embed.New(embed.Config{})
	if err != nil {
		return err
	}
	type doc struct {
		path string
		text kb.Text
	}
	var docs []doc
	size := 0
	if err := blobs(".", func(path string, data []byte) {
		if t, err := chunk.Decode(path, data); err == nil && len(data) <= 1<<20 {
			docs, size = append(docs, doc{path, t}), size+len(data)
		}
	}); err != nil {
		return err
	}
	ctx := context.Background()
	cut := func() error {
		for _, d := range docs {
			c, err := cutter.Split(ctx, d.text)
			if err != nil {
				return err
			}
			texts := make([]string, len(c.Chunks))
			for i := range c.Chunks {
				texts[i] = embed.Text(d.text.Body, &c.Chunks[i])
			}
			if _, err := emb.Embed(ctx, texts); err != nil {
				return err
			}
		}
		return nil
	}
	if err := cut(); err != nil { // the grammars are compiled now
		return err
	}
	secret.Find("", "") // and the automaton is built
	var cuts, rules []time.Duration
	for range 5 {
		began := time.Now()
		if err := cut(); err != nil {
			return err
		}
		cuts = append(cuts, time.Since(began))
		began = time.Now()
		for _, d := range docs {
			if !secret.Name(d.path) && !secret.File(d.path, []byte(d.text.Body)) {
				secret.Mask(d.path, d.text.Body)
			}
		}
		rules = append(rules, time.Since(began))
	}
	a, b := lab.Median(rules), lab.Median(cuts)
	r.Printf("## What it costs\n\nThe %d texts of this repository, %s, on one core, medians of five: the rules %s, cutting and embedding %s: %.1f %%. Writing the index is not counted.\n\n",
		len(docs), lab.MB(int64(size)), lab.Ms(a), lab.Ms(b), 100*float64(a)/float64(b))
	return nil
}
