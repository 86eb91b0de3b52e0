package answer

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestWordsThatAreWrittenTogether: what is short for two words is no third one.
func TestWordsThatAreWrittenTogether(t *testing.T) {
	for text, want := range map[string]string{
		"it won't stop":                  "it stop",
		"doesn’t it know the oven's lid": "it know the oven lid",
		"they're shut":                   "they shut",
		"n'est":                          "n est",
	} {
		if got := strings.Join(words(text), " "); got != want {
			t.Errorf("%q has the words %q, not %q", text, got, want)
		}
	}
}

// TestDenials: a condition that something is not so denies nothing.
func TestDenials(t *testing.T) {
	for text, want := range map[string]bool{
		"The oven is not shut while it is hot.":                       true,
		"By default, loaves that nobody takes are _not_ thrown away.": true,
		"If the oven has not been shut yet, it shuts by itself.":      false,
		"Cuando no hay pan, la puerta se cierra.":                     false,
		"It shuts by itself.":                                         false,
	} {
		if got := denies(text); got != want {
			t.Errorf("%q denies: %v", text, got)
		}
	}
}

// TestListingsAreReadSettingBySetting: of a long listing each setting is quoted with
// what it is for and with its own lines; a program of that length is one.
func TestListingsAreReadSettingBySetting(t *testing.T) {
	listing := "# Oven\n\n```yaml\n# How hot it gets.\nheat: 230\n\n# How long it bakes.\n# In minutes.\nspan: 45\n\n# Who may open it.\nopen: [baker]\n\n# What it plays.\nbell: short\n\nlamp: on\nfan: off\nrack: 2\ntray: 1\nlid: shut\n```\n"
	p := &kb.Passage{Language: "markdown", Text: listing, Chunk: kb.Chunk{Start: 1, End: strings.Count(listing, "\n")}}
	var got []string
	for _, s := range sentences(p) {
		if s.form == code && s.setting {
			got = append(got, s.lines[len(s.lines)-1])
			if !strings.Contains(strings.Split(listing, "\n")[s.start-1], "#") {
				t.Errorf("%q does not begin at line %d", s.text, s.start)
			}
		}
	}
	if want := []string{"heat: 230", "span: 45", "open: [baker]", "lid: shut"}; !slices.Equal(got, want) {
		t.Errorf("the settings end in %q, not %q", got, want)
	}
	program := "# Oven\n\n```python\n" + strings.Repeat("heat(230)\n", 20) + "# then\nwait(45)\n```\n"
	p.Text = program
	n := 0
	for _, s := range sentences(p) {
		if s.form == code {
			n++
		}
	}
	if n != 1 {
		t.Errorf("a program is read as %d", n)
	}
}

// TestAnswersInAWord: "No!" below a question is a sentence of its own.
func TestAnswersInAWord(t *testing.T) {
	p := &kb.Passage{Language: "rst", Text: "Is it safe to open it?\n----------------------\n\n**Answer**: No!\n\nIt is hot, so that gloves are recommended.\n", Chunk: kb.Chunk{Start: 1, End: 6}}
	var got []string
	for _, s := range sentences(p) {
		got = append(got, s.text)
	}
	if want := []string{"No!", "It is hot, so that gloves are recommended."}; !slices.Equal(got, want) {
		t.Errorf("got %q, not %q", got, want)
	}
}
