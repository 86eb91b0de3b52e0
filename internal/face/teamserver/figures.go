package teamserver

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// figures are what the server counts of itself, in the text form of Prometheus
// (version 0.0.4). No user and no store is named, and none is counted: whoever reads
// them learns nothing of what others have. The form is a page of code; the library
// for it would be three megabytes of the program.
type figures struct {
	mu       sync.Mutex
	counters map[string]float64 // by name and labels, as they are written
	buckets  map[string][]int   // of durations, by face
	sums     map[string]float64
}

// bounds are the upper ends of the buckets of durations, in seconds.
var bounds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// count counts one request.
func (f *figures) count(rec *record, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counters == nil {
		f.counters, f.buckets, f.sums = map[string]float64{}, map[string][]int{}, map[string]float64{}
	}
	face := cmp.Or(rec.face, "none")
	f.counters[fmt.Sprintf(`knowledge_requests_total{face="%s",status="%d"}`, face, rec.status)]++
	f.counters["knowledge_reply_bytes_total"] += float64(rec.Bytes)
	if rec.refused != "" {
		f.counters[fmt.Sprintf(`knowledge_refused_total{why="%s"}`, rec.refused)]++
	}
	if rec.Command != "" {
		f.counters[fmt.Sprintf(`knowledge_commands_total{command="%s",outcome="%s"}`, rec.Command, rec.Outcome)]++
	}
	if f.buckets[face] == nil {
		f.buckets[face] = make([]int, len(bounds)+1)
	}
	i, _ := slices.BinarySearch(bounds, took.Seconds())
	f.buckets[face][i]++
	f.sums[face] += took.Seconds()
}

// about says what the counters are, in the order in which they are written.
var about = []struct{ name, help string }{
	{"knowledge_requests_total", "Requests by face and status."},
	{"knowledge_commands_total", "Commands that were run, and what came of them."},
	{"knowledge_refused_total", "Requests that were not let in, by cause."},
	{"knowledge_reply_bytes_total", "Bytes of replies."},
}

// write answers with the figures as they are.
func (f *figures) write(w http.ResponseWriter, s *server) {
	var b strings.Builder
	f.mu.Lock()
	for _, a := range about {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n", a.name, a.help, a.name)
		for _, k := range slices.Sorted(maps.Keys(f.counters)) {
			if name, _, _ := strings.Cut(k, "{"); name == a.name {
				fmt.Fprintf(&b, "%s %s\n", k, number(f.counters[k]))
			}
		}
	}
	const seconds = "knowledge_request_seconds"
	fmt.Fprintf(&b, "# HELP %s How long requests took.\n# TYPE %s histogram\n", seconds, seconds)
	for _, face := range slices.Sorted(maps.Keys(f.buckets)) {
		n := 0
		for i, at := range bounds {
			n += f.buckets[face][i]
			fmt.Fprintf(&b, "%s_bucket{face=\"%s\",le=\"%s\"} %d\n", seconds, face, number(at), n)
		}
		n += f.buckets[face][len(bounds)]
		fmt.Fprintf(&b, "%s_bucket{face=\"%s\",le=\"+Inf\"} %d\n%s_sum{face=\"%s\"} %s\n%s_count{face=\"%s\"} %d\n",
			seconds, face, n, seconds, face, number(f.sums[face]), seconds, face, n)
	}
	f.mu.Unlock()
	problem := 0
	if s.book.Problem() != nil {
		problem = 1
	}
	memory := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(memory)
	for _, g := range []struct {
		name, help string
		value      float64
	}{
		{"knowledge_users_open", "Users of whom something is kept in memory.", float64(s.members.open())},
		{"knowledge_rights_problem", "1 while the files of rights or tokens are not understood.", float64(problem)},
		{"go_goroutines", "Goroutines.", float64(runtime.NumGoroutine())},
		{"go_memstats_heap_alloc_bytes", "Bytes of objects.", float64(memory[0].Value.Uint64())},
		{"go_memstats_sys_bytes", "Bytes that were had of the system.", float64(memory[1].Value.Uint64())},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n%s %s\n", g.name, g.help, g.name, g.name, number(g.value))
	}
	fmt.Fprintf(&b, "# HELP knowledge_build_info The program.\n# TYPE knowledge_build_info gauge\nknowledge_build_info{version=%q} 1\n", s.app.Version())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	fmt.Fprint(w, b.String()) // a client that is gone needs no answer
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
