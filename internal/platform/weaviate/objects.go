package weaviate

import (
	"context"
	"crypto/sha1" // #nosec G505 -- version 5 of UUIDs is defined by it
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The consistency of reads and writes. Of three replicas Quorum asks two. All is no promise by
// itself: the cluster counts the replicas that it believes alive, which [Client.Nodes] tells.
const (
	One    = "ONE"
	Quorum = "QUORUM"
	All    = "ALL"
)

// Object is one object of a class.
type Object struct {
	Class      string         `json:"class"`
	ID         string         `json:"id"`
	Properties map[string]any `json:"properties"`
	Vector     []float32      `json:"vector,omitempty"`
}

// ID returns the UUID, version 5, that a name always has: what is written twice
// is one object.
func ID(name string) string {
	h := sha1.New() // #nosec G401
	h.Write([]byte("knowledge-object"))
	h.Write([]byte(name))
	b := h.Sum(nil)
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// Property is one property of a class.
type Property struct {
	Name         string   `json:"name"`
	DataType     []string `json:"dataType"`
	Tokenization string   `json:"tokenization,omitempty"`
	Filterable   *bool    `json:"indexFilterable,omitempty"`
	Searchable   *bool    `json:"indexSearchable,omitempty"`
}

// Class is a collection. Other members are set by name in Config.
type Class struct {
	Name       string
	Properties []Property
	Config     map[string]any
}

// Define makes a class unless it is there.
func (c *Client) Define(ctx context.Context, class Class) error {
	status, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/schema/" + class.Name, ok: []int{http.StatusNotFound}}, nil)
	if err != nil || status == http.StatusOK {
		return err
	}
	body := map[string]any{"class": class.Name, "vectorizer": "none", "properties": class.Properties}
	for k, v := range class.Config {
		body[k] = v
	}
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/schema", body: body, write: true, ok: []int{http.StatusUnprocessableEntity}}, nil)
	if err != nil {
		return err
	}
	// Two may have made it at once; who lost is told so with the same status as
	// who asked for something impossible.
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/v1/schema/" + class.Name}, nil)
	return err
}

// Classes returns the names of the classes that there are, sorted.
func (c *Client) Classes(ctx context.Context) ([]string, error) {
	var schema struct{ Classes []struct{ Class string } }
	if _, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/schema"}, &schema); err != nil {
		return nil, err
	}
	names := make([]string, len(schema.Classes))
	for i, k := range schema.Classes {
		names[i] = k.Class
	}
	slices.Sort(names)
	return names, nil
}

// Drop deletes a class with all its objects.
func (c *Client) Drop(ctx context.Context, class string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: "/v1/schema/" + class, write: true, ok: []int{http.StatusNotFound}}, nil)
	return err
}

// Put writes objects at QUORUM. It returns when each is acknowledged by a
// majority of its replicas; what is there already is replaced.
func (c *Client) Put(ctx context.Context, objects []Object) error {
	if len(objects) == 0 {
		return nil
	}
	var answer []struct {
		ID     string
		Result struct {
			Status string
			Errors struct{ Error []struct{ Message string } }
		}
	}
	left := objects
	for attempt := 0; ; attempt++ {
		answer = nil
		_, err := c.do(ctx, call{method: http.MethodPost, path: "/v1/batch/objects?consistency_level=" + Quorum,
			body: map[string]any{"objects": left}, write: true}, &answer)
		if err != nil {
			return err
		}
		if len(answer) != len(left) {
			return c.away(fmt.Errorf("it acknowledged %d of %d objects", len(answer), len(left)))
		}
		var failed []Object
		why := ""
		for i, a := range answer {
			if a.Result.Status == "FAILED" || len(a.Result.Errors.Error) > 0 {
				failed = append(failed, left[i])
				if len(a.Result.Errors.Error) > 0 {
					why = a.Result.Errors.Error[0].Message
				}
			}
		}
		if len(failed) == 0 {
			return nil
		}
		if attempt == 4 {
			return c.away(fmt.Errorf("%d of %d objects were not written: %s", len(failed), len(objects), excerpt([]byte(why))))
		}
		left = failed
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// PutOne writes one object at QUORUM, in place of what has its id.
func (c *Client) PutOne(ctx context.Context, o Object) error { return c.Put(ctx, []Object{o}) }

// Object reads the properties of an object at QUORUM: what a majority has
// acknowledged is seen. It reports whether there is such an object.
func (c *Client) Object(ctx context.Context, class, id string, properties any) (bool, error) {
	return c.object(ctx, class, id, "consistency_level="+Quorum, properties)
}

// Copy is Object of the copy that one node has, by its name.
func (c *Client) Copy(ctx context.Context, class, id, node string, properties any) (bool, error) {
	return c.object(ctx, class, id, "node_name="+url.QueryEscape(node), properties)
}

func (c *Client) object(ctx context.Context, class, id, which string, properties any) (bool, error) {
	var o struct{ Properties json.RawMessage }
	status, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/objects/" + class + "/" + id + "?" + which,
		ok: []int{http.StatusNotFound}}, &o)
	if err != nil || status == http.StatusNotFound {
		return false, err
	}
	if err := json.Unmarshal(o.Properties, properties); err != nil {
		return false, kb.Errorf(kb.Corrupt, "an object of the shared stores does not parse: %w", err)
	}
	return true, nil
}

// Where is a filter as the interface takes it.
type Where struct {
	Path     []string `json:"path,omitempty"`
	Operator string   `json:"operator"`
	Texts    []string `json:"valueTextArray,omitempty"`
	Text     *string  `json:"valueText,omitempty"`
	Int      *int64   `json:"valueInt,omitempty"`
	Operands []Where  `json:"operands,omitempty"` // of And
}

// Less is the filter of objects of which a number is less than n.
func Less(property string, n int64) Where {
	return Where{Path: []string{property}, Operator: "LessThan", Int: &n}
}

// And is the filter of objects that all of some filters take.
func And(all ...Where) Where { return Where{Operator: "And", Operands: all} }

// Any is the filter of objects of which a property is one of values.
func Any(property string, values []string) Where {
	return Where{Path: []string{property}, Operator: "ContainsAny", Texts: values}
}

// graphQL returns the filter as a literal of the query language.
func (w Where) graphQL() string {
	if w.Operator == "And" {
		all := make([]string, len(w.Operands))
		for i, o := range w.Operands {
			all[i] = o.graphQL()
		}
		return "{operator:And,operands:[" + strings.Join(all, ",") + "]}"
	}
	value := ""
	switch {
	case w.Text != nil:
		value = "valueText:" + Quote(*w.Text)
	case w.Int != nil:
		value = fmt.Sprintf("valueInt:%d", *w.Int)
	default:
		value = "valueText:" + QuoteAll(w.Texts)
	}
	return fmt.Sprintf("{path:%s,operator:%s,%s}", QuoteAll(w.Path), w.Operator, value)
}

// Delete deletes the objects of a class that a filter takes, at ALL: a replica that misses a
// deletion gives the objects back to the others (Weaviate 1.39, with asynchronous replication
// and deletions resolved by time). At most 10,000 go at a time, so it asks until none is left.
func (c *Client) Delete(ctx context.Context, class string, w Where) error {
	for {
		var r struct {
			Results struct{ Matches, Successful, Failed int64 }
		}
		_, err := c.do(ctx, call{method: http.MethodDelete, path: "/v1/batch/objects?consistency_level=" + All, write: true,
			body: map[string]any{"match": map[string]any{"class": class, "where": w}, "output": "minimal"}}, &r)
		if err != nil || r.Results.Matches == 0 || r.Results.Matches == r.Results.Successful && r.Results.Matches < 10_000 {
			return err
		}
		if r.Results.Failed > 0 {
			return c.away(fmt.Errorf("%d objects were not deleted", r.Results.Failed))
		}
	}
}

// Quote returns a string as a literal of the query language.
func Quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// QuoteAll returns a list of strings as a literal of the query language.
func QuoteAll(list []string) string {
	q := make([]string, len(list))
	for i, s := range list {
		q[i] = Quote(s)
	}
	return "[" + strings.Join(q, ",") + "]"
}
