package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func figure(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.3f", x)
}

// kinds are the answers of a set, all together and apart.
func kinds(set string, as []*answer) (names []string, by map[string][]*answer) {
	by = map[string][]*answer{}
	add := func(k string, a *answer) {
		if by[k] == nil {
			names = append(names, k)
		}
		by[k] = append(by[k], a)
	}
	for _, a := range as {
		if set != "docs" && set != "absent" && set != "stores" && a.Kind != titleAlone {
			add("all", a)
		}
		if a.Kind != "" {
			add(a.Kind, a)
		}
		switch {
		case set == "names" && (a.Kind == "field" || a.Kind == "constant"):
			add("members", a)
		case set == "traces":
			add(a.Lang, a)
		case set == "messages" && a.Form != "bare":
			add("with a type or a time before it", a)
		}
	}
	slices.Sort(names)
	return names, by
}

// report adds the section of a set.
func (b *bench) report(set string, as []*answer) {
	b.r.Printf("## %s\n\n", set)
	head := []string{"", "items", "MRR by file", "by line", "by the declaration itself", "Acc@1", "@5", "@10", "NDCG@10", "without hits"}
	switch set {
	case "how":
		head = append(head, "files of places within ten", "places within ten", "within twenty", "within 2,000 tokens", "or linked there")
	case "issues":
		head = append(head, "function @10")
	}
	rows := [][]string{append(head, "p50", "p95", "of a processor, p50", "p95")}
	names, by := kinds(set, as)
	for _, k := range names {
		group := by[k]
		if !group[0].something {
			continue
		}
		row := []string{k, fmt.Sprint(len(group)),
			figure(mean(group, func(a *answer) float64 { return reciprocal(a.fileRank) })),
			figure(mean(group, func(a *answer) float64 { return reciprocal(a.lineRank) })),
			figure(mean(group, func(a *answer) float64 { return reciprocal(a.exactRank) })),
		}
		for _, n := range []int{1, 5, 10} {
			row = append(row, figure(mean(group, func(a *answer) float64 { return within(a.fileRank, n) })))
		}
		empty := 0
		for _, a := range group {
			if len(a.reply.hits) == 0 {
				empty++
			}
		}
		row = append(row, figure(mean(group, func(a *answer) float64 { return a.ndcg })), fmt.Sprint(empty))
		switch set {
		case "how":
			for _, f := range []func(*answer) float64{func(a *answer) float64 { return a.files10 }, func(a *answer) float64 { return a.within10 }, func(a *answer) float64 { return a.within20 }, func(a *answer) float64 { return a.shown }, func(a *answer) float64 { return a.linked }} {
				row = append(row, figure(mean(group, f)))
			}
		case "issues":
			var with []*answer
			for _, a := range group {
				if slices.ContainsFunc(a.gold, func(p place) bool { return p.From > 0 }) {
					with = append(with, a)
				}
			}
			row = append(row, figure(mean(with, func(a *answer) float64 { return within(a.funcRank, 10) })))
		}
		for _, t := range [][]time.Duration{times(group), processors(group)} {
			if len(t) > 0 {
				row = append(row, lab.Ms(lab.Median(t)), lab.Ms(lab.Quantile(t, 0.95)))
			} else {
				row = append(row, "–", "–")
			}
		}
		rows = append(rows, row)
	}
	b.r.Table(rows...)
	failed := 0
	for _, a := range as {
		if a.reply.err != nil {
			if failed++; failed <= 3 {
				b.r.Printf("- %s: refused: %.200s\n", a.ID, a.reply.err)
			}
		}
		if b.o.verbose && !a.aside && a.something && a.lineRank != 1 {
			first := "nothing"
			if len(a.reply.hits) > 0 {
				h := a.reply.hits[0]
				first = fmt.Sprintf("%s %s:%d-%d", h.store, h.path, h.from, h.to)
			}
			fmt.Fprintf(os.Stderr, "%s %s %s %q: file at %d, line at %d, right %v, first %s\n", a.ID, a.Repo, a.Kind, a.Ask, a.fileRank, a.lineRank, a.gold, first)
		}
	}
	if failed > 0 {
		b.r.Printf("\n%d refused.\n\n", failed)
	}
}

// honesty adds what the confidence is worth, of each set and of all.
func (b *bench) honesty(all []*answer) {
	if len(all) == 0 {
		return
	}
	b.r.Printf("## Confidence\n\nRight: the first hit is in a right file. A word stands for a probability as long as the product says none: high 0.9, medium 0.6, low 0.3, none 0.05.\n\n")
	rows := [][]string{{"", "items", "right", "said high or medium", "right when high", "area, right against wrong", "calibration error", "a calibrated one stays below"}}
	add := func(name string, as []*answer) {
		var right, wrong []float64
		var xs []said
		sure, high, highRight := 0, 0, 0
		for _, a := range as {
			ok := a.something && a.fileRank == 1
			xs = append(xs, said{a.reply.confidence, ok})
			if ok {
				right = append(right, a.reply.confidence)
			} else {
				wrong = append(wrong, a.reply.confidence)
			}
			if a.reply.word == "high" || a.reply.word == "medium" {
				sure++
			}
			if a.reply.word == "high" {
				high++
				if ok {
					highRight++
				}
			}
		}
		n := float64(len(as))
		rows = append(rows, []string{name, fmt.Sprint(len(as)), figure(float64(len(right)) / n), figure(float64(sure) / n), figure(float64(highRight) / float64(high)), figure(area(right, wrong)), figure(calibration(xs)), figure(chance(xs))})
	}
	by := map[string][]*answer{}
	for _, a := range all {
		k := a.set
		switch {
		case k == "absent" && a.something:
			k = "absent: answerable ones"
		case a.Kind == titleAlone:
			k += ": " + titleAlone
		}
		by[k] = append(by[k], a)
	}
	add("all", all)
	for _, k := range lab.Keys(by) {
		add(k, by[k])
	}
	b.r.Table(rows...)
	b.nothing(all)
}

// nothing adds how well what has no answer is told from what has one: by the
// confidence, which what has one and is not found lacks too, and by the
// probability that there is one.
func (b *bench) nothing(all []*answer) {
	of := func(set, kind string, something bool, value func(*reply) float64) (out []float64) {
		for _, a := range all {
			if a.set == set && a.something == something && (kind == "" || a.Kind == kind) {
				out = append(out, value(a.reply))
			}
		}
		return out
	}
	confidence, there := func(r *reply) float64 { return r.confidence }, func(r *reply) float64 { return r.there }
	missing := func(of []float64) string {
		n := 0.0
		for _, v := range of {
			if v < 0.5 {
				n++
			}
		}
		return figure(n / float64(len(of)))
	}
	if len(of("absent", "", false, there)) == 0 {
		return
	}
	rows := [][]string{{"", "area by the confidence", "by the probability of an answer", "absent told by it", "present taken for absent"}}
	for _, r := range []struct{ name, set, kind string }{
		{"all, against as many public tasks", "absent", ""}, {"in the code's words", "absent", "code"},
		{"in plain words, against set plain", "plain", "plain"},
	} {
		some, none := of(r.set, "", true, there), of("absent", r.kind, false, there)
		rows = append(rows, []string{r.name, figure(area(of(r.set, "", true, confidence), of("absent", r.kind, false, confidence))), figure(area(some, none)),
			missing(none), missing(some)})
	}
	b.r.Printf("Something against nothing here:\n\n")
	b.r.Table(rows...)
}
