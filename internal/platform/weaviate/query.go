package weaviate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Query is one list of objects that is asked for. Words and Vector order it;
// without either the order is not defined.
type Query struct {
	Class  string
	Return []string // properties
	Where  *Where
	Words  string   // whitespace between terms, as the properties are tokenised
	In     []string // the properties that Words are looked for in, "name^weight"
	Vector []float32
	Limit  int
	After  *string // of the ids: goes through a class in their order; no filter then
}

// GraphQL returns the query as one member of Get under an alias.
func (q *Query) graphQL(alias string) string {
	args := []string{fmt.Sprintf("limit:%d", q.Limit)}
	if q.Where != nil {
		args = append(args, "where:"+q.Where.graphQL())
	}
	if q.Words != "" {
		args = append(args, fmt.Sprintf("bm25:{query:%s,properties:%s}", Quote(q.Words), QuoteAll(q.In)))
	}
	if q.Vector != nil {
		args = append(args, "nearVector:{vector:"+vectorText(q.Vector)+"}")
	}
	if q.After != nil {
		args = append(args, "after:"+Quote(*q.After))
	}
	// The level of a list: one replica a shard has answered. What it lacks comes
	// with the next repair.
	args = append(args, "consistencyLevel:"+One)
	return fmt.Sprintf("%s:%s(%s){%s}", alias, q.Class, strings.Join(args, ","), strings.Join(q.Return, " "))
}

// vectorText returns a vector as a literal.
func vectorText(v []float32) string {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}

// lists are what the queries of one request are decoded into, without a copy between:
// documents that are fetched are megabytes.
type lists struct{ Q0, Q1 any }

// Get asks for one or two lists of objects in one request. What each finds is decoded into
// the member of out of the same number, a pointer to a slice.
func (c *Client) Get(ctx context.Context, queries []Query, out []any) error {
	var b strings.Builder
	b.WriteString("{Get{")
	for i := range queries {
		b.WriteString(queries[i].graphQL("q" + strconv.Itoa(i)))
		b.WriteByte(' ')
	}
	b.WriteString("}}")
	return c.ask(ctx, b.String(), func() any {
		data := &struct{ Get lists }{lists{Q0: out[0]}}
		if len(out) > 1 {
			data.Get.Q1 = out[1]
		}
		return data
	})
}

// Count returns how many objects of a class a filter takes; nil is all.
func (c *Client) Count(ctx context.Context, class string, w *Where) (int64, error) {
	args := ""
	if w != nil {
		args = "(where:" + w.graphQL() + ")"
	}
	var data struct {
		Aggregate map[string][]struct{ Meta struct{ Count int64 } }
	}
	if err := c.ask(ctx, fmt.Sprintf("{Aggregate{%s%s{meta{count}}}}", class, args), func() any { return &data }); err != nil {
		return 0, err
	}
	if rows := data.Aggregate[class]; len(rows) > 0 {
		return rows[0].Meta.Count, nil
	}
	return 0, nil
}

// ask sends a text of the query language and decodes its data into what data returns, a
// pointer, anew for each attempt.
func (c *Client) ask(ctx context.Context, text string, data func() any) error {
	for attempt := 0; ; attempt++ {
		var r struct {
			Data   any
			Errors []struct{ Message string }
		}
		r.Data = data()
		if _, err := c.do(ctx, call{method: http.MethodPost, path: "/v1/graphql", body: map[string]string{"query": text}}, &r); err != nil {
			return err
		}
		if len(r.Errors) == 0 {
			return nil
		}
		// A node that has just lost another answers with an error inside of a
		// success.
		if attempt == 3 {
			return c.away(fmt.Errorf("it says %q", excerpt([]byte(r.Errors[0].Message))))
		}
		c.at.Add(1)
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// pause waits before another attempt.
func pause(ctx context.Context, attempt int) error {
	d := 100 * time.Millisecond << attempt
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d + time.Duration(rand.Int64N(int64(d)))/2):
		return nil
	}
}

// Nodes returns how many nodes the cluster has, and how many of them are healthy. Those that
// take part in its consensus count even when they have been away for so long that the
// others no longer list them.
func (c *Client) Nodes(ctx context.Context) (all, healthy int, err error) {
	var listed struct {
		Nodes []struct{ Status string }
	}
	if _, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/nodes"}, &listed); err != nil {
		return 0, 0, err
	}
	for _, n := range listed.Nodes {
		if n.Status == "HEALTHY" {
			healthy++
		}
	}
	var told struct {
		Statistics []struct {
			Raft struct {
				LatestConfiguration []struct{ ID string }
			}
		}
	}
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/v1/cluster/statistics"}, &told)
	if code := kb.CodeOf(err); err != nil && code != kb.NotFound && code != kb.Denied { // an older one, or a key that may not see it
		return 0, 0, err
	}
	all = len(listed.Nodes)
	for _, s := range told.Statistics {
		all = max(all, len(s.Raft.LatestConfiguration))
	}
	return all, healthy, nil
}

// Ready reports whether the cluster takes requests.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/.well-known/ready"}, nil)
	return err
}
