package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/find"
)

// The same little program in languages that are resolved in different ways.
var shops = map[string]string{
	"shop/go.mod":         "module example.org/shop\n",
	"shop/shop.go":        "package shop\n\nimport \"example.org/shop/price\"\n\n// A Till takes money.\ntype Till struct{ sum int }\n\n// Charge adds the price of what is sold.\nfunc (t *Till) Charge(what string) int {\n\tt.sum += price.Lookup(what)\n\treturn t.sum\n}\n\n// Sell charges for all of it.\nfunc Sell(all ...string) {\n\tvar t Till\n\tfor _, x := range all {\n\t\tt.Charge(x)\n\t}\n}\n",
	"shop/price/price.go": "package price\n\n// Lookup knows what things cost.\nfunc Lookup(what string) int { return len(what) }\n",
	"py/prices.py":        "def lookup_price(what):\n    \"\"\"Knows what things cost.\"\"\"\n    return len(what)\n",
	"py/till.py":          "from prices import lookup_price\n\n\nclass Till:\n    \"\"\"Takes money.\"\"\"\n\n    def __init__(self):\n        self.total = 0\n\n    def charge_for(self, what):\n        self.total += lookup_price(what)\n\n    def sell_all(self, things):\n        for thing in things:\n            self.charge_for(thing)\n",
	"ts/prices.ts":        "/** Knows what things cost. */\nexport function priceOf(what: string): number {\n  return what.length;\n}\n",
	"ts/till.ts":          "import { priceOf } from './prices';\n\nexport class Till {\n  private total = 0;\n\n  chargeFor(what: string) {\n    this.total += priceOf(what);\n  }\n\n  sellAll(things: string[]) {\n    for (const thing of things) this.chargeFor(thing);\n  }\n}\n",
}

// TestCode asks the real program, as an agent does, who calls what; then
// edits a file and asks again.
func TestCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	put := func(p, body string) {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for p, body := range shops {
		put(p, body)
	}
	a := w.agent(t.TempDir())
	a.index("store:create", obj{"name": "shops", "type": "file", "source": dir})
	uses := func(command, symbol string, more obj) []string {
		t.Helper()
		args := obj{"symbol": symbol, "stores": []string{"shops"}}
		for k, v := range more {
			args[k] = v
		}
		var r code.CodeReply
		a.execute(&r, command, args)
		var out []string
		for _, u := range r.Uses {
			if len(u.ID) == 0 {
				t.Errorf("%s %s: a use at %s has no id", command, symbol, u.At)
			}
			out = append(out, fmt.Sprintf("%s %s", u.Symbol, u.At))
		}
		slices.Sort(out)
		return out
	}
	same := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	same("callers in Go", uses("code:callers", "price.Lookup", nil), "Till.Charge shop/shop.go:L10")
	same("callers of callers", uses("code:callers", "price.Lookup", obj{"depth": 2}), "Sell shop/shop.go:L18", "Till.Charge shop/shop.go:L10")
	same("callees in Go", uses("code:callees", "Sell", nil), "Till.Charge shop/shop.go:L9")
	same("a method by its type", uses("code:references", "Till.Charge", obj{"kind": "call"}), "Sell shop/shop.go:L18")
	same("callers in Python", uses("code:callers", "lookup_price", nil), "Till.charge_for py/till.py:L11")
	same("a method of self", uses("code:callers", "charge_for", nil), "Till.sell_all py/till.py:L15")
	same("callers in TypeScript", uses("code:callers", "priceOf", nil), "Till.chargeFor ts/till.ts:L7")
	same("callees of a place", uses("code:callees", "ts/till.ts:10", nil), "Till.chargeFor ts/till.ts:L6")

	var r code.CodeReply
	a.execute(&r, "code:definition", obj{"symbol": "Till.charge_for", "stores": []string{"shops"}})
	if len(r.Symbols) != 1 || r.Symbols[0].At != "py/till.py:L10-11" || r.Symbols[0].Signature != "def charge_for(self, what)" {
		t.Errorf("definition: %+v", r.Symbols)
	}
	c := a.show(r.Symbols[0].ID)
	if !strings.Contains(c.Code, "lookup_price(what)") || len(c.Imports) != 1 || c.Imports[0] != "from prices import lookup_price" {
		t.Errorf("context: %+v", c)
	}
	a.execute(&r, "code:symbols", obj{"name": "till", "stores": []string{"shops"}})
	if len(r.Symbols) != 3 {
		t.Errorf("symbols called till: %+v", r.Symbols)
	}
	var o code.OutlineReply
	a.execute(&o, "code:outline", obj{"path": "ts/till.ts", "store": "shops"})
	if len(o.Symbols) != 1 || o.Symbols[0].Symbol != "Till" || len(o.Symbols[0].Members) != 2 {
		t.Errorf("outline: %+v", o.Symbols)
	}

	// What is asked for is known in a hit, too.
	hits := a.search(obj{"query": "charge for what is sold", "stores": []string{"shops"}, "detail": "contextual"}).Hits
	if !slices.ContainsFunc(hits, func(h find.Hit) bool {
		return h.Symbol == "Till.Charge" && slices.Equal(h.CalledBy, []string{"Sell shop/shop.go:L18"}) && slices.Equal(h.Calls, []string{"Lookup shop/price/price.go:L4"})
	}) {
		t.Errorf("no hit tells callers and callees: %+v", hits)
	}
	usage := a.search(obj{"query": "who calls priceOf", "stores": []string{"shops"}, "intent": "find-usage"}).Hits
	if len(usage) == 0 || !strings.HasPrefix(usage[0].At, "ts/till.ts") {
		t.Errorf("find-usage: %+v", usage)
	}
	definition := a.search(obj{"query": "who calls priceOf", "stores": []string{"shops"}, "intent": "find-definition"}).Hits
	if len(definition) == 0 || !strings.HasPrefix(definition[0].At, "ts/prices.ts") {
		t.Errorf("find-definition: %+v", definition)
	}

	// The declaration moves, its caller goes.
	put("py/prices.py", "# Prices.\n\n\n"+shops["py/prices.py"])
	put("py/till.py", "X = 1\n")
	a.index("store:index", obj{"store": "shops"})
	a.execute(&r, "code:callers", obj{"symbol": "lookup_price", "stores": []string{"shops"}})
	if r.Total != 0 || len(r.Symbols) != 1 || r.Symbols[0].At != "py/prices.py:L1-6" && r.Symbols[0].At != "py/prices.py:L4-6" {
		t.Errorf("after the edit: %+v", r)
	}
	same("what did not change", uses("code:callers", "priceOf", nil), "Till.chargeFor ts/till.ts:L7")
}
