package finder

import (
	"sort"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

func TestApart(t *testing.T) {
	for _, c := range []struct {
		question, words string
		values          int
	}{
		{"close ticket 7 of shop/web", "close ticket   of  ", 3},
		{"send ana@shop.example the letter", "send   the letter", 1},
		{"rename 'old name' to \"new name\"", "rename   to  ", 2},
		{"which goods are sold out", "which goods are sold out", 0},
		{"42", "42", 1}, // nothing would be left
	} {
		words, values := apart(c.question)
		if words != c.words || values != c.values {
			t.Errorf("%q: %q %d", c.question, words, values)
		}
	}
}

// TestTradeWords: the list is in order, and each line says something.
func TestTradeWords(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(tradeWords), "\n")
	if !sort.StringsAreSorted(lines) {
		t.Error("words.txt is not in order")
	}
	for _, l := range lines {
		if head, said, ok := strings.Cut(l, ": "); !ok || len(terms.Of(head)) == 0 || said == "" {
			t.Errorf("%q", l)
		}
	}
}

// TestFoundByTrade: what people say finds what APIs call otherwise, and among like
// operations the one whose path has as many values as the question.
func TestFoundByTrade(t *testing.T) {
	shelf := &restapi.Provider{Code: "shop", Enabled: true}
	add := func(code, method, path, about string) {
		tool := restapi.Tool{Code: code, Name: code, Method: method, Path: path, Description: about, Enabled: true}
		for _, p := range strings.Split(path, "{")[1:] {
			tool.Params = append(tool.Params, restapi.Param{Name: strings.SplitN(p, "}", 2)[0], In: "path", Required: true})
		}
		shelf.Tools = append(shelf.Tools, tool)
	}
	add("list_invoices", "GET", "/invoices", "List invoices")
	add("get_invoice", "GET", "/invoices/{id}", "Get an invoice")
	add("list_refunds", "GET", "/refunds", "List refunds")
	add("create_coupon", "POST", "/coupons", "Create a coupon")
	add("list_shipments", "GET", "/orders/{order}/shipments", "List shipments of an order")
	f := New([]*restapi.Provider{shelf})
	for question, want := range map[string]string{
		"muéstrame las facturas":                 "list_invoices",
		"show me the bill 88":                    "get_invoice",
		"give the people a discount":             "create_coupon",
		"where is the parcel of purchase AB-12?": "list_shipments",
	} {
		hits, err := f.Find(t.Context(), nil, question)
		if err != nil || len(hits) == 0 || hits[0].Tool.Code != want {
			t.Errorf("%q: %+v %v", question, hits, err)
		}
	}
}
