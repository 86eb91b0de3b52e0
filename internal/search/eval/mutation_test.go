package eval

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// mutation is a tuning of which one number is another.
type mutation struct {
	name   string
	tuning *search.Tuning
}

// mutations doubles, halves and drops every number of the fitted tuning that
// is in use. What does not count at all under an intent counts as ever.
func mutations() (out []mutation) {
	fitted := search.Fitted()
	walkNumbers(reflect.ValueOf(fitted).Elem(), "", func(name string, was float64, _ func(float64)) {
		values := map[string]float64{"doubled": 2 * was, "halved": was / 2}
		if strings.HasSuffix(name, ".Factor") {
			values["off"] = 1
		}
		if strings.HasSuffix(name, " words") {
			values = map[string]float64{"off": 0}
		}
		if was == 0 {
			if !strings.Contains(name, ".Intents") {
				return // a column that the row does not use
			}
			values = map[string]float64{"on": 1}
		}
		for _, how := range []string{"doubled", "halved", "off", "on"} {
			value, ok := values[how]
			if !ok {
				continue
			}
			m := mutation{name + " " + how, search.Fitted()}
			walkNumbers(reflect.ValueOf(m.tuning).Elem(), "", func(n string, _ float64, set func(float64)) {
				if n == name {
					set(value)
				}
			})
			out = append(out, m)
		}
	})
	return out
}

// walkNumbers visits every number in a value, with what sets it.
func walkNumbers(v reflect.Value, name string, visit func(name string, was float64, set func(float64))) {
	switch v.Kind() {
	case reflect.Float64:
		visit(name, v.Float(), v.SetFloat)
	case reflect.Int, reflect.Int64:
		visit(name, float64(v.Int()), func(x float64) { v.SetInt(int64(x)) })
	case reflect.Array, reflect.Slice:
		if _, ok := v.Interface().([]string); ok { // a list of words as a whole
			visit(name+" words", 1, func(float64) { v.SetZero() })
			return
		}
		for i := range v.Len() {
			label := fmt.Sprint(i)
			if s, ok := v.Index(i).Interface().(rank.Signal); ok {
				label = s.Name
			}
			walkNumbers(v.Index(i), name+"["+label+"]", visit)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			visit(name+"["+k.String()+"]", v.MapIndex(k).Float(), func(x float64) { v.SetMapIndex(k, reflect.ValueOf(x)) })
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				walkNumbers(v.Field(i), strings.TrimPrefix(name+"."+f.Name, "."), visit)
			}
		}
	}
}

// TestEveryNumberIsPinned changes one number of the ranking at a time: a
// figure of TestPinned has to move. Without a signal it has to be a rank.
func TestEveryNumberIsPinned(t *testing.T) {
	p := openPinned(t)
	base := make([]outcome, len(p.questions))
	took := make([]float64, len(p.questions))
	for i, q := range p.questions {
		began := time.Now()
		base[i] = p.ask(t.Context(), q, search.Fitted(), nil)
		took[i] = time.Since(began).Seconds()
	}
	list := mutations()
	for _, name := range rank.Parts() {
		list = append(list, mutation{name, nil})
	}
	if raceEnabled { // which takes ten times as long and looks for something else: .ci/run asks for all without it
		for i := range list[:len(list)/9] {
			list[i] = list[9*i]
		}
		list = list[:len(list)/9]
	}
	var mu sync.Mutex
	telling := make([]float64, len(base)) // how many mutations a question found
	moved := func(m mutation) bool {
		mu.Lock()
		order := make([]int, len(p.questions))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { // what finds most in the least time first
			return cmp.Compare((telling[b]+1)/took[b], (telling[a]+1)/took[a])
		})
		mu.Unlock()
		for _, i := range order {
			var o outcome
			differs := false
			if m.tuning != nil {
				o = p.ask(t.Context(), p.questions[i], m.tuning, nil)
				differs = o.text != base[i].text
			} else {
				o = p.ask(t.Context(), p.questions[i], search.Fitted(), []string{m.name})
				differs = !slices.Equal(o.ranks, base[i].ranks)
			}
			if differs {
				mu.Lock()
				telling[i]++
				mu.Unlock()
				if testing.Verbose() {
					t.Logf("%s: %s", m.name, p.questions[i].line)
				}
				return true
			}
		}
		return false
	}
	work := make(chan mutation)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for m := range work {
				if !moved(m) {
					how := "no figure moves"
					if m.tuning == nil {
						how = "no rank moves without the signal"
					}
					t.Errorf("%s: %s; give it a query in testdata/pinned, or delete it", m.name, how)
				}
			}
		})
	}
	for _, m := range list {
		work <- m
	}
	close(work)
	wg.Wait()
	t.Logf("%d changes, %d queries", len(list), len(p.questions))
}
