// Package weaviatetest is a double of a cluster for tests: the endpoints that package
// weaviate uses, in memory, on one shard, answering as a real cluster was recorded
// to answer. It differs where no test of ours looks: its BM25 counts occurrences, its
// vectors are compared one by one, and it is consistent at every level.
package weaviatetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Double is a double of a cluster. It is safe for concurrent use.
type Double struct {
	URL string

	mu      sync.Mutex
	classes map[string]map[string]bool           // searchable properties
	objects map[string]map[string]map[string]any // class, id, object
	away    int
	later   time.Duration
}

// New returns a double that listens until the test ends.
func New(t *testing.T) *Double {
	f := &Double{classes: map[string]map[string]bool{}, objects: map[string]map[string]map[string]any{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.URL = s.URL
	return f
}

// Away has so many of three nodes away. When two are, every answer is the failure of such a
// cluster; when one is, it is listed as away.
func (f *Double) Away(away int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = away
}

// All returns the properties of all objects of the classes whose names begin with prefix.
func (f *Double) All(prefix string) (out []map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for class, objects := range f.objects {
		for _, o := range objects {
			if strings.HasPrefix(class, prefix) {
				out = append(out, o["properties"].(map[string]any))
			}
		}
	}
	return out
}

// Later puts the clock of the cluster forward.
func (f *Double) Later(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.later += d
}

// ServeHTTP answers one request.
func (f *Double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Date", time.Now().Add(f.later).UTC().Format(http.TimeFormat))
	if f.away > 1 {
		http.Error(w, `{"error":[{"message":"leader not found"}]}`, http.StatusInternalServerError)
		return
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var body map[string]any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	status, out := f.answer(r.Method, strings.TrimPrefix(r.URL.Path, "/v1/"), body)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if out != nil {
		_ = json.NewEncoder(w).Encode(out) // the client is gone
	}
}

func (f *Double) answer(method, path string, body map[string]any) (int, any) {
	parts := strings.Split(path, "/")
	switch method + " " + parts[0] {
	case "GET nodes":
		return 200, map[string]any{"nodes": f.nodes()}
	case "GET cluster":
		return 200, map[string]any{"statistics": []any{map[string]any{"raft": map[string]any{"latestConfiguration": f.nodes()}}}}
	case "GET .well-known":
		return 200, nil
	case "GET schema":
		if len(parts) == 1 {
			list := []any{}
			for _, name := range slices.Sorted(maps.Keys(f.classes)) {
				list = append(list, map[string]any{"class": name})
			}
			return 200, map[string]any{"classes": list}
		}
		if f.classes[parts[1]] == nil {
			return 404, nil
		}
		return 200, map[string]any{"class": parts[1]}
	case "DELETE schema":
		delete(f.classes, parts[1])
		delete(f.objects, parts[1])
		return 200, nil
	case "POST schema":
		name := body["class"].(string)
		if f.classes[name] != nil {
			return 422, map[string]any{"error": []any{map[string]any{"message": "class name " + name + " already exists"}}}
		}
		f.classes[name], f.objects[name] = map[string]bool{}, map[string]map[string]any{}
		for _, p := range body["properties"].([]any) {
			p := p.(map[string]any)
			f.classes[name][p["name"].(string)] = p["indexSearchable"] == true
		}
		return 200, body
	case "GET objects":
		o := f.objects[parts[1]][parts[2]]
		if o == nil {
			return 404, nil
		}
		return 200, o
	case "POST batch":
		return 200, f.put(body)
	case "DELETE batch":
		return 200, f.delete(body["match"].(map[string]any))
	case "POST graphql":
		return 200, f.query(body["query"].(string))
	}
	return 405, nil
}

func (f *Double) nodes() (out []any) {
	for i := range 3 {
		status := "HEALTHY"
		if i < f.away {
			status = "UNAVAILABLE"
		}
		out = append(out, map[string]any{"id": fmt.Sprintf("node%d", i), "status": status})
	}
	return out
}

func (f *Double) put(body map[string]any) any {
	out := []any{}
	for _, o := range body["objects"].([]any) {
		o := o.(map[string]any)
		result := map[string]any{"status": "SUCCESS"}
		if class := f.objects[o["class"].(string)]; class == nil {
			result = map[string]any{"status": "FAILED", "errors": map[string]any{"error": []any{map[string]any{"message": "class not present in schema"}}}}
		} else {
			class[o["id"].(string)] = o
		}
		out = append(out, map[string]any{"id": o["id"], "result": result})
	}
	return out
}

func (f *Double) delete(match map[string]any) any {
	class := f.objects[match["class"].(string)]
	n := 0
	for id, o := range class {
		if takes(o, match["where"].(map[string]any)) {
			delete(class, id)
			n++
		}
	}
	return map[string]any{"results": map[string]any{"matches": n, "successful": n, "failed": 0}}
}

// takes reports whether a filter takes an object.
func takes(o, where map[string]any) bool {
	if all, ok := where["operands"].([]any); ok {
		return !slices.ContainsFunc(all, func(w any) bool { return !takes(o, w.(map[string]any)) })
	}
	name := where["path"].([]any)[0].(string)
	value := o["properties"].(map[string]any)[name]
	if name == "id" {
		value = o["id"]
	}
	for key, want := range where {
		switch list := want.(type) {
		case []any:
			if strings.HasPrefix(key, "value") {
				return slices.Contains(list, value)
			}
		default:
			if strings.HasPrefix(key, "value") {
				if where["operator"] == "LessThan" {
					n, ok := value.(float64)
					return ok && n < want.(float64)
				}
				return fmt.Sprint(value) == fmt.Sprint(want)
			}
		}
	}
	return false
}

func (f *Double) query(text string) any {
	p := &parser{text: text}
	root := p.selection()
	data := map[string]any{}
	for _, verb := range root {
		lists := map[string]any{}
		for _, q := range verb.of {
			objects, ok := f.objects[q.name]
			if !ok {
				return map[string]any{"errors": []any{map[string]any{"message": fmt.Sprintf("Cannot query field %q on type \"GetObjectsObj\".", q.name)}}}
			}
			found := f.find(q, objects)
			if verb.name == "Aggregate" {
				lists[q.alias] = []any{map[string]any{"meta": map[string]any{"count": len(found)}}}
				continue
			}
			rows := []any{}
			for _, o := range found {
				row := map[string]any{}
				for _, field := range q.of {
					if field.name == "_additional" {
						row[field.name] = map[string]any{"id": o["id"]}
						continue
					}
					row[field.name] = o["properties"].(map[string]any)[field.name]
				}
				rows = append(rows, row)
			}
			lists[q.alias] = rows
		}
		data[verb.name] = lists
	}
	return map[string]any{"data": data}
}

// find returns the objects that a member of a query asks for.
func (f *Double) find(q field, objects map[string]map[string]any) []map[string]any {
	score := map[string]float64{}
	for id, o := range objects {
		if where, ok := q.args["where"].(map[string]any); ok && !takes(o, where) {
			continue
		}
		if after, ok := q.args["after"].(string); ok && id <= after {
			continue
		}
		score[id] = 0
		if near, ok := q.args["nearVector"].(map[string]any); ok {
			v, ok := o["vector"].([]any)
			if !ok {
				delete(score, id)
				continue
			}
			score[id] = cosine(v, near["vector"].([]any))
		}
		if bm25, ok := q.args["bm25"].(map[string]any); ok {
			if score[id] = f.words(q.name, o, bm25); score[id] == 0 {
				delete(score, id)
			}
		}
	}
	ids := slices.SortedFunc(maps.Keys(score), func(a, b string) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a, b))
	})
	if limit, ok := q.args["limit"].(float64); ok {
		ids = ids[:min(len(ids), int(limit))]
	}
	var out []map[string]any
	for _, id := range ids {
		out = append(out, objects[id])
	}
	return out
}

func (f *Double) words(class string, o, bm25 map[string]any) (sum float64) {
	for _, in := range bm25["properties"].([]any) {
		name, _, _ := strings.Cut(in.(string), "^")
		if !f.classes[class][name] {
			continue
		}
		value, _ := o["properties"].(map[string]any)[name].(string)
		for _, word := range strings.Fields(bm25["query"].(string)) {
			for _, w := range strings.Fields(value) {
				if w == word {
					sum++
				}
			}
		}
	}
	return sum
}

func cosine(a, b []any) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := a[i].(float64), b[i].(float64)
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}
