package finder_test

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/apis/finder"
	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
)

const shop = `apis:
  - code: shop
    baseUrl: https://shop.example
    tools:
      - {code: shop_orders_list, description: List orders, endpointPath: /orders}
      - {code: shop_orders_create, description: Place an order, httpMethod: POST, endpointPath: /orders, parameters: [{name: goods, type: ARRAY}]}
      - {code: shop_orders_delete, description: Cancel an order, httpMethod: DELETE, endpointPath: '/orders/{id}', parameters: [{name: id}]}
      - {code: shop_orders_refund, description: Pay back an order, httpMethod: POST, endpointPath: '/orders/{id}/refund', parameters: [{name: id}, {name: amount, type: NUMBER, description: how much money goes back}]}
      - {code: shop_users_remove_address, description: Remove a postal address of a customer, httpMethod: DELETE, endpointPath: '/users/{id}/addresses/{n}', parameters: [{name: id}, {name: n}]}
      - {code: shop_old_list, description: List orders of last year, endpointPath: /old, deprecated: true}
      - {code: shop_off, description: Zebra, endpointPath: /off, enabled: false}
`

// TestFind: operations are found by their names, by what they do, and by other
// words for it.
func TestFind(t *testing.T) {
	f, err := restapi.Parse("apis.yaml", []byte(shop))
	if err != nil || len(f.Problems) > 0 {
		t.Fatal(err, f.Problems)
	}
	x := finder.New(f.Providers)
	for _, tc := range []struct{ question, want string }{
		{"list orders", "shop_orders_list"},
		{"orders_create", "shop_orders_create"},
		{"delete an order", "shop_orders_delete"},
		{"how much money goes back", "shop_orders_refund"},
		{"customer's postal address", "shop_users_remove_address"},
		{"borrar la dirección de un cliente", "shop_users_remove_address"},
		{"zebra", ""},
		{"the of and", ""},
		{"", ""},
	} {
		hits, err := x.Find(t.Context(), nil, tc.question)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(hits) > 0 {
			got = hits[0].Tool.Code
		}
		if got != tc.want {
			t.Errorf("%q found %q, want %q", tc.question, got, tc.want)
		}
	}
}
