package eval

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
)

var update = flag.Bool("update", false, "rewrite the golden figures")

// pinned is what the golden file holds of each set. A drop needs a reason in
// the commit that rewrites it.
type pinned struct {
	Tasks      int                `json:"tasks"`
	NDCG       float64            `json:"ndcg10"`
	Recall     float64            `json:"recall10"`
	ByCategory map[string]float64 `json:"by_category"`
	Visible    *float64           `json:"visible,omitempty"`
	Confident  float64            `json:"confident"`
	Nothing    int                `json:"nothing,omitempty"`
	Over       *float64           `json:"overconfident,omitempty"`
}

// slack is what figures may move without a word: the documents of this
// repository change with every commit, and so does the Go distribution.
const slack = 0.04

// TestGoldens asks the judged queries over text that was not written for them
// and that every machine that builds this has: the source of the Go distribution
// and this repository's own documents. TestPinned holds rankings exactly.
func TestGoldens(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes parts of the Go distribution")
	}
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		t.Skip("no go command here: ", err)
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	repository, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	bases := map[string]string{"GOROOT": goroot, "GOROOT/src": filepath.Join(goroot, "src"), "repository": repository}
	b, err := NewBench(t.Context(), "", embed.Default(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()

	type golden struct {
		Go   string            `json:"go"`
		Sets map[string]pinned `json:"sets"`
	}
	const file = "testdata/golden.json"
	var want golden
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &want)
	}
	if err != nil && !*update {
		t.Fatal(err)
	}
	got := golden{Go: version, Sets: map[string]pinned{}}
	for _, name := range []string{"goroot", "prose", "intents", "modes", "nothing", "issues"} {
		set, err := Load(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := b.Run(t.Context(), &set, Options{
			Dir: func(r *Repo) string { return bases[r.Base] },
			// The large packages would take half a minute.
			Keep: func(task *Task) bool {
				base := set.repo(task.Repo).Base
				return bases[base] != "" && !strings.HasSuffix(task.Repo, "-crypto")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := b.Summarize(rows, 0)
		got.Sets[name] = pinned{r.Tasks, r.NDCG, r.Recall, r.ByCategory, r.Visible, r.Confident, r.Nothing, r.Overconfident}
	}
	if *update {
		raw, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	// With another Go the texts differ, and sums may round otherwise elsewhere.
	near := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= slack })
	if d := cmp.Diff(want.Sets, got.Sets, near); d != "" {
		t.Errorf("figures moved (-want +got); if that is meant, say why and run: go test ./internal/search/eval -update\n%s", d)
	}
}
