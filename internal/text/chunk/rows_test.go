package chunk

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestRows shows what each row of rulesOf finds: testdata/rows.txtar holds a
// text for each, before its outline.
func TestRows(t *testing.T) {
	const name = "testdata/rows.txtar"
	rows, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for i := 0; i+1 < len(rows.Files); i += 2 {
		row, want := rows.Files[i], &rows.Files[i+1]
		tried[row.Name] = true
		t.Run(row.Name, func(t *testing.T) {
			at := slices.IndexFunc(lang.Table, func(l lang.Language) bool { return l.Lines == row.Name })
			if at < 0 || rulesOf[row.Name] == nil {
				t.Fatalf("no language is read by the row %q", row.Name)
			}
			got := outlineOf(kb.Text{Body: string(row.Data), Language: lang.Table[at].Name})
			if *update {
				want.Data = []byte(got)
			}
			if d := cmp.Diff(string(want.Data), got); d != "" {
				t.Errorf("-want +got; -update rewrites:\n%s", d)
			}
		})
	}
	for row := range rulesOf {
		if !tried[row] {
			t.Errorf("%s has no text for the row %q", name, row)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(rows), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// outlineOf shows what the window finds: a line for each unit, with its first
// line, and one for each symbol in it.
func outlineOf(text kb.Text) string {
	var b strings.Builder
	for _, u := range splitWindow(text, newLines(text.Body)).units {
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("L%d %s %s", u.start+1, u.kind, strings.Join(u.path, ".")), " "))
		for _, s := range u.symbols {
			fmt.Fprintf(&b, "  %s %s L%d-%d %q", s.Kind, s.Name, s.Start, s.End, s.Signature)
			if s.Doc != "" {
				fmt.Fprintf(&b, " %q", s.Doc)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
