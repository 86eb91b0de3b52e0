package chunk

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestNotebookFacts(t *testing.T) {
	body := "# %% [markdown] cell 1\nimport this\n\n# %% cell 2\n%matplotlib inline\nimport numpy as np\n!ls\nx = np.zeros(3)\n\n" +
		"# %% cell 3\n%%bash\nimport no\n\n# %% [r] cell 4\nf()\n\n# %% cell 5\nx.sum()\nx?\n"
	cut, err := withGrammars.Split(context.Background(), kb.Text{Body: body, Language: "notebook"})
	if err != nil {
		t.Fatal(err)
	}
	want := kb.Facts{
		Imports: []kb.Import{{Path: "numpy", Local: "np", Line: 6}},
		References: []kb.Reference{
			{Name: "zeros", Qualifier: "np", Kind: kb.UseCall, Line: 8},
			{Name: "sum", Qualifier: "x", Kind: kb.UseCall, Line: 18},
		},
	}
	cut.Facts.Bindings = nil
	for i := range cut.Facts.References {
		cut.Facts.References[i].Args = 0
	}
	if d := cmp.Diff(want, cut.Facts); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
