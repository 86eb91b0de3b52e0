package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ask asks the items of a set, one repository after the other.
func (b *bench) ask(set string, items []*item) ([]*answer, error) {
	switch set {
	case "issues":
		return b.issues(items)
	case "stores":
		return b.many(items)
	}
	var out []*answer
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].Repo == items[0].Repo {
			n++
		}
		group := items[:n]
		items = items[n:]
		name := group[0].Repo
		dir, err := b.trees.tree(name, set == "docs")
		if err != nil {
			b.skip(name, err)
			continue
		}
		data := b.trees.table[name].Part
		if set == "docs" {
			data = "documentation"
		}
		var a *asker
		if !b.o.print {
			if a, err = b.from(dir, data); err != nil {
				return nil, err
			}
			a.search("warm up", nil)
		}
		src := &source{dir: dir}
		for _, it := range group {
			query, gold, something := it.Ask, it.Gold, set != "absent"
			switch set {
			case "messages":
				query = src.message(it, b.trees.table[name].Language)
			case "traces":
				query = src.trace(it)
			case "typos":
				if it.Task != nil {
					ts := b.tasks[name]
					if *it.Task >= len(ts) {
						continue
					}
					query, gold = strings.Replace(ts[*it.Task].Query, it.Was, it.Ask, 1), ts[*it.Task].gold()
				}
			case "pasted":
				if query, err = b.pasted(src, it); err != nil {
					b.skip(name+" "+it.ID, err)
					continue
				}
			}
			if b.o.print {
				b.put(it, question{Dir: dir, Text: query, Gold: gold})
				continue
			}
			x := &answer{item: it, gold: gold, something: something, reply: a.search(query, map[string]any{"limit": 20})}
			x.judge("")
			out = append(out, x)
			switch set {
			case "how":
				hits := a.search(query, map[string]any{"detail": "contextual", "limit": 20}).hits
				x.shown, x.linked = named(gold, hits, 20, 2000, false), named(gold, hits, 20, 2000, true)
			case "docs":
				// The same with the intent said, counted apart.
				with := *it
				with.Kind = it.Kind + ", intent said"
				y := &answer{item: &with, gold: gold, something: true, reply: a.search(query, map[string]any{"limit": 20, "intent": "find-documentation"})}
				y.judge("")
				out = append(out, y)
			case "absent":
				if ts := b.tasks[name]; it.Pair != nil && *it.Pair < len(ts) {
					t := ts[*it.Pair]
					with := *it
					with.Kind = "answerable"
					y := &answer{item: &with, gold: t.gold(), something: true, reply: a.search(t.Query, map[string]any{"limit": 20})}
					y.judge("")
					out = append(out, y)
				}
			}
		}
		if a != nil {
			_ = a.c.Close()
		}
	}
	return out, nil
}

// issues asks with the text of commits, in the trees before them.
func (b *bench) issues(items []*item) ([]*answer, error) {
	order := map[*item]int{}
	var there []*item
	for _, it := range items {
		repo, err := b.trees.git(it.Repo)
		if err != nil {
			b.skip(it.Repo, err)
			continue
		}
		raw, err := exec.Command("git", "-C", repo, "log", "-1", "--format=%ct", it.Parent).Output()
		if err != nil {
			b.skip(it.Repo+" "+it.Parent, err)
			continue
		}
		order[it], _ = strconv.Atoi(strings.TrimSpace(string(raw)))
		there = append(there, it)
	}
	slices.SortStableFunc(there, func(a, b *item) int {
		if a.Repo != b.Repo {
			return strings.Compare(a.Repo, b.Repo)
		}
		return order[a] - order[b]
	})
	var out []*answer
	for _, it := range there {
		repo, _ := b.trees.git(it.Repo)
		query, err := history(repo, it.Commit)
		if err != nil {
			b.skip(it.Repo+" "+it.Commit, err)
			continue
		}
		if b.o.print {
			b.put(it, question{Git: repo, Commit: it.Parent, Text: query, Gold: it.Gold})
			continue
		}
		dir, err := b.trees.at(it.Repo, it.Parent)
		if err != nil {
			return nil, err
		}
		a, err := b.from(dir, "history")
		if err != nil {
			return nil, err
		}
		a.search("warm up", nil)
		x := &answer{item: it, gold: it.Gold, something: true, reply: a.search(query, map[string]any{"limit": 20})}
		x.judge("")
		out = append(out, x)
		title, _, _ := strings.Cut(query, "\n")
		with := *it
		with.Kind = titleAlone
		y := &answer{item: &with, gold: it.Gold, something: true, reply: a.search(title, map[string]any{"limit": 20})}
		y.judge("")
		out = append(out, y)
		_ = a.c.Close()
	}
	return out, nil
}

// titleAlone is the kind of the same issue asked with its first line.
const titleAlone = "first line alone"

// many asks with every repository of the answers' part in scope: the
// development repositories, or those of a set made later.
func (b *bench) many(items []*item) ([]*answer, error) {
	if len(items) == 0 {
		return nil, nil
	}
	part := b.trees.table[items[0].Repo].Part
	dirs := map[string]string{"": filepath.Join(b.o.work, "nowhere")}
	if !b.o.print {
		if err := os.MkdirAll(dirs[""], 0o755); err != nil {
			return nil, err
		}
		for name, r := range b.trees.table {
			if r.Part != part {
				continue
			}
			dir, err := b.trees.tree(name, false)
			if err != nil {
				b.skip(name, err)
				continue
			}
			dirs[name] = dir
			a, err := b.from(dir, part)
			if err != nil {
				return nil, err
			}
			_ = a.c.Close()
		}
	}
	by := map[string][]*item{}
	for _, it := range items {
		by[it.From] = append(by[it.From], it)
	}
	var out []*answer
	for from, group := range by {
		if dirs[from] == "" {
			continue
		}
		var a *asker
		if !b.o.print {
			var err error
			if a, err = b.from(dirs[from], part); err != nil {
				return nil, err
			}
			a.search("warm up", map[string]any{"stores": []string{"*"}})
		}
		for _, it := range group {
			query, gold := it.Ask, it.Gold
			if it.Task != nil {
				ts := b.tasks[it.Repo]
				if *it.Task >= len(ts) {
					continue
				}
				query, gold = ts[*it.Task].Query, ts[*it.Task].gold()
			}
			if it.Kind == "named" {
				query = it.Repo + ": " + query
			}
			if b.o.print {
				b.put(it, question{From: from, Text: query, Gold: gold})
				continue
			}
			if dirs[it.Repo] == "" {
				continue
			}
			x := &answer{item: it, gold: gold, something: true, reply: a.search(query, map[string]any{"limit": 20, "stores": []string{"*"}})}
			x.judge(it.Repo)
			out = append(out, x)
		}
		if a != nil {
			_ = a.c.Close()
		}
	}
	return out, nil
}
