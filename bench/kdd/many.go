package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// words that made specifications are written with.
var words = strings.Fields("order customer invoice payment refund stock delivery address discount tax total line price currency session token account limit quota report audit export import schedule queue event message retry pedido cliente factura pago reembolso entrega dirección descuento impuesto precio moneda sesión cuenta límite informe auditoría evento mensaje")

// many measures specifications by the thousand.
func (b *bench) many(judged) error {
	if b.o.made == 0 {
		return nil
	}
	b.r.Printf("\n## %d made specifications\n\n", b.o.made)
	dir := filepath.Join(b.scratch, "many")
	size, err := b.makeMany(dir)
	if err != nil {
		return err
	}
	c, took, err := b.serve(dir, "many-data")
	if c != nil {
		defer c.Close()
	}
	if err != nil {
		return err
	}
	b.r.Printf("- %s of Markdown indexed in %.1f s, at most 20: %s\n", lab.MB(size), took.Seconds(), b.want(took <= 20*time.Second, "%d specifications are indexed in %.1f s", b.o.made, took.Seconds()))
	first, err := b.asked(c, 1, "kdd:related", func(int) map[string]any { return map[string]any{"entity": "BR-00007", "depth": 3} })
	if err != nil {
		return err
	}
	b.r.Printf("- the first question after a new index joins the graph and takes %s\n", lab.Ms(first.times[0]))
	check, err := b.asked(c, 1, "kdd:check", func(int) map[string]any { return nil })
	if err != nil {
		return err
	}
	b.r.Printf("- the linter looks at all of them in %s, at most 3: %s; %s of processor time, %d bytes\n", lab.Ms(check.times[0]),
		b.want(check.times[0] <= 3*time.Second, "a check takes %s", lab.Ms(check.times[0])), lab.Ms(check.processor), check.bytes)
	b.want(check.bytes <= 4096, "a reply of kdd:check has %d bytes", check.bytes)
	if err := b.edited(c, dir); err != nil {
		return err
	}
	if err := b.warm(c); err != nil {
		return err
	}
	return b.unlinked()
}

// edited measures the first question after an edit of code, which joins
// nothing, and after one of a specification.
func (b *bench) edited(c *lab.Client, dir string) error {
	for _, x := range []struct{ what, word, path, text string }{
		{"code", "Zanzibar", "src/new.go", "package src\n\n// Zanzibar is new.\nfunc Zanzibar() {}\n"},
		{"a specification", "Quagga", "specs/new/REQ-99999.md", "---\nid: REQ-99999\nkind: requirement\n---\n# REQ-99999 Quagga\n\nSee [[BR-00007]].\n"},
	} {
		p := filepath.Join(dir, filepath.FromSlash(x.path))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(x.text), 0o644); err != nil {
			return err
		}
		for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
			text, err := c.Call("search", map[string]any{"query": x.word, "limit": 1})
			if err != nil {
				return err
			}
			if strings.Contains(text, filepath.Base(x.path)) {
				break
			}
		}
		r, err := b.asked(c, 1, "kdd:related", func(int) map[string]any { return map[string]any{"entity": "BR-00007"} })
		if err != nil {
			return err
		}
		b.r.Printf("- the first question after an edit of %s takes %s, %s of it processor time\n", x.what, lab.Ms(r.times[0]), lab.Ms(r.processor))
	}
	b.r.Printf("\n")
	return nil
}

// warm asks everything that has a reply of its own, by default of at most 4 KB.
func (b *bench) warm(c *lab.Client) error {
	rows := [][]string{{"asked 100 times", "median", "95 %", "largest", "processor", "bytes at most"}}
	for _, x := range []struct {
		name, command string
		args          func(i int) map[string]any
	}{
		{"`kdd:related`, depth 1", "kdd:related", func(i int) map[string]any { return map[string]any{"entity": id(i * 97), "depth": 1} }},
		{"`kdd:related`, depth 3", "kdd:related", func(i int) map[string]any { return map[string]any{"entity": id(i * 97), "depth": 3} }},
		{"`kdd:impact`, depth 3", "kdd:impact", func(i int) map[string]any { return map[string]any{"entity": id(i * 97)} }},
		{"`kdd:list`", "kdd:list", func(i int) map[string]any { return map[string]any{"kind": "entity"} }},
		{"`kdd:matrix`", "kdd:matrix", func(i int) map[string]any { return map[string]any{"offset": 20 * i} }},
		{"`kdd:find`", "kdd:find", func(i int) map[string]any { return map[string]any{"name": id(i * 97)} }},
		{"`kdd:search`", "kdd:search", func(i int) map[string]any {
			return map[string]any{"query": words[i%len(words)] + " " + words[(3*i+1)%len(words)]}
		}},
		{"`kdd:search`, by type and domain", "kdd:search", func(i int) map[string]any {
			return map[string]any{"query": words[i%len(words)], "chunk_types": []string{"RULE"}, "domains": []string{"d3"}}
		}},
	} {
		r, err := b.asked(c, 100, x.command, x.args)
		if err != nil {
			return err
		}
		rows = append(rows, []string{x.name, lab.Ms(lab.Median(r.times)), lab.Ms(lab.Quantile(r.times, 0.95)), lab.Ms(lab.Quantile(r.times, 1)),
			lab.Ms(r.processor / 100), fmt.Sprint(r.bytes)})
		b.want(r.bytes <= 4096, "a reply of %s has %d bytes", x.name, r.bytes)
		if x.name == "`kdd:related`, depth 3" {
			m := lab.Median(r.times)
			defer b.r.Printf("`kdd:related` of depth 3 takes at most 20 ms: %s\n", b.want(m <= 20*time.Millisecond, "related of depth 3 takes %s", lab.Ms(m)))
		}
	}
	b.r.Table(rows...)
	return nil
}

// replied is what questions took.
type replied struct {
	times     []time.Duration
	processor time.Duration // of all of them
	bytes     int           // of the largest reply
}

// asked asks a command n times.
func (b *bench) asked(c *lab.Client, n int, command string, args func(i int) map[string]any) (r replied, err error) {
	before := c.Processor()
	for i := range n {
		began := time.Now()
		text, err := c.Call("execute", map[string]any{"command": command, "args": args(i)})
		if err != nil {
			return r, err
		}
		if strings.Contains(text, "No entity found") {
			return r, fmt.Errorf("%s: %s", command, text)
		}
		r.times = append(r.times, time.Since(began))
		r.bytes = max(r.bytes, len(text))
	}
	r.processor = c.Processor() - before
	return r, nil
}

// unlinked measures what get_full_context costs beside no specification.
func (b *bench) unlinked() error {
	dir := filepath.Join(b.scratch, "code")
	for i := range 500 {
		p := filepath.Join(dir, fmt.Sprintf("pkg%02d", i%20), fmt.Sprintf("file%03d.go", i))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		text := fmt.Sprintf("package pkg\n\n// Handle%d does one thing with an order.\nfunc Handle%d(order int) int { return order + %d }\n", i, i, i)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := fakeGit(dir); err != nil {
		return err
	}
	c, _, err := b.serve(dir, "code-data")
	if c != nil {
		defer c.Close()
	}
	if err != nil {
		return err
	}
	var found struct{ Hits []struct{ ID string } }
	text, err := c.Call("search", map[string]any{"query": "handle an order", "limit": 20, "form": "json"})
	if err == nil {
		err = unmarshal(text, &found)
	}
	if err != nil {
		return err
	}
	var times []time.Duration
	for i := range 100 {
		began := time.Now()
		if _, err := c.Call("get_full_context", map[string]any{"resultId": found.Hits[i%len(found.Hits)].ID}); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	b.r.Printf("`get_full_context` among 500 files of code without any specification: median %s, 95 %% %s.\n\n", lab.Ms(lab.Median(times)), lab.Ms(lab.Quantile(times, 0.95)))
	return nil
}

func id(i int) string { return fmt.Sprintf("BR-%05d", i%10_000/4*4+3) }

// makeMany writes specifications of four kinds that refer to each other, some
// to few that everything is about, and returns their size.
func (b *bench) makeMany(dir string) (size int64, err error) {
	if err := fakeGit(dir); err != nil {
		return 0, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	sentence := func() string {
		var s []string
		for range 12 {
			s = append(s, words[r.IntN(len(words))])
		}
		return strings.Join(s, " ") + ".\n"
	}
	name := func(i int) string {
		return fmt.Sprintf("%s-%05d", []string{"ENT", "UC", "CMD", "BR"}[i%4], i)
	}
	for i := range b.o.made {
		link := func() string {
			if r.IntN(4) == 0 {
				return name(r.IntN(40))
			}
			return name(r.IntN(b.o.made))
		}
		var s strings.Builder
		fmt.Fprintf(&s, "---\nid: %s\nkind: %s\ndomain: d%d\ntags: [t%d]\ndepends_on: [%s]\n---\n\n# %s %s %s\n\n", name(i), []string{"entity", "use-case", "command", "business-rule"}[i%4], i%10, i%50, link(), name(i), words[i%len(words)], words[i*7%len(words)])
		for _, h := range []string{"Descripción", "Declaration", "Main flow", "Examples"} {
			fmt.Fprintf(&s, "## %s\n\n%s%sSee [[%s]] and %s.\n\n", h, sentence(), sentence(), link(), link())
		}
		p := filepath.Join(dir, []string{"01-domain/entities", "02-behavior/use-cases", "02-behavior/commands", "01-domain/rules"}[i%4], name(i)+".md")
		if i < 4 {
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				return 0, err
			}
		}
		size += int64(s.Len())
		if err := os.WriteFile(p, []byte(s.String()), 0o644); err != nil {
			return 0, err
		}
	}
	return size, nil
}
