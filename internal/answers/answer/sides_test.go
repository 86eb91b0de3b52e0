package answer

import (
	"slices"
	"strings"
	"testing"
)

// told is a sentence of prose of which the words of a question are known.
func told(text string, around ...float64) *scored {
	return &scored{sentence: sentence{text: text, lead: -1}, around: around, direct: around, length: len(strings.Fields(text))}
}

// TestSidesOfAComparison: a side is a word with the one that it belongs to, or what is
// written as an option is written.
func TestSidesOfAComparison(t *testing.T) {
	q := &question{text: "stone oven or gas oven, which is hotter?", concepts: []concept{{word: "stone"}, {word: "oven"}, {word: "gas"}, {word: "hotter"}}}
	m := sidesRE.FindStringSubmatchIndex(q.text)
	left, right := q.side(m[2], m[3]), q.side(m[4], m[5])
	stone, gas := told("An oven that is made of stone keeps its heat.", 1, 1, 0, 0), told("It is hot at once and cold at once.", 0, 0.7, 0.7, 0)
	if !left(stone) || left(gas) || right(stone) || !right(gas) {
		t.Errorf("stone is told by %v and %v, gas by %v and %v", left(stone), left(gas), right(stone), right(gas))
	}
	q = &question{text: "what is the difference between --open-lid and --no-lid?", concepts: []concept{{word: "open-lid"}, {word: "no-lid"}}}
	m = sidesRE.FindStringSubmatchIndex(q.text)
	if left := q.side(m[2], m[3]); left == nil || !left(told("| `--open-lid` | bakes with the lid open |", 0, 0)) || left(told("| `--no-lid` | bakes without a lid |", 1, 1)) {
		t.Error("an option is not looked for as it is written")
	}
	if q.side(m[2]-8, m[2]-1) != nil {
		t.Error("a word that says nothing is a side")
	}
}

// TestAListIsNamedWhole: where what is said of the items has no room, all of them are named;
// a list without names stays as it is.
func TestAListIsNamedWhole(t *testing.T) {
	items := func(texts ...string) (out []*scored) {
		for _, x := range texts {
			s := told(x)
			s.list, s.opens = 1, true
			out = append(out, s)
		}
		return out
	}
	texts := func(list []*scored) (out []string) {
		for _, s := range list {
			out = append(out, s.text)
		}
		return out
	}
	named := items("`rye` - the dark one, which keeps for a week.", "**spelt**: an old one.", "Oat loaf: for porridge, too.")
	shorten(nil, named)
	page := []scored{*told("A list of three:"), *told("It keeps well.")}
	page[1].list = 1
	shorten(page, items("`rye` - the dark one."))
	if page[0].left || !page[1].left {
		t.Error("what goes on from an item is still said")
	}
	if got, want := texts(named), []string{"`rye`", "**spelt**", "Oat loaf"}; !slices.Equal(got, want) {
		t.Errorf("got %q, not %q", got, want)
	}
	if named[2].length != 2 {
		t.Errorf("a name of two words counts %d", named[2].length)
	}
	plain := items("`rye` - the dark one.", "Loaves that nobody has named so far.")
	if shorten(nil, plain); plain[0].text != "`rye` - the dark one." {
		t.Errorf("the items of a list of which one has no name became %q", texts(plain))
	}
}

// TestASayingIsNotMissedBesideItsWords: what a saying means is not asked for where its words
// stand, nor where it only asks; what is not there at all is missed.
func TestASayingIsNotMissedBesideItsWords(t *testing.T) {
	q := &question{concepts: []concept{
		{word: "config", terms: []string{"config"}, own: 1, weight: 1}, {word: "file", terms: []string{"fil"}, own: 1, weight: 1},
		{word: "config file", terms: []string{"ini"}, phrase: []string{"config", "fil"}, weight: 6}}}
	if got := q.meant(told("The config file is here.", 1, 1, 0)); got < 0.9 {
		t.Errorf("the words of a saying hold %.2f of it", got)
	}
	if got := q.meant(told("The config is here.", 1, 0, 0)); got > 0.2 {
		t.Errorf("half of a saying holds %.2f of it", got)
	}
	q.concepts[2].phrase = nil
	if got := q.meant(told("The config file is here.", 1, 1, 0)); got != 1 {
		t.Errorf("a saying that only asks leaves %.2f", got)
	}
}

// TestWhatWasSaidInAnyForm: code, a row and a sentence with its heading count as said, too.
func TestWhatWasSaidInAnyForm(t *testing.T) {
	command, cells := told("bake --hot"), told("| `rye` | dark |")
	command.form, cells.form = code, row
	cells.head = []string{"loaf", "colour"}
	headed := told("Bakes for an hour.")
	headed.about = "oven.bake"
	q := &question{heard: []string{"`bake --hot`", "`rye` · colour: dark", "oven.bake: Bakes for an hour."}}
	for _, s := range []*scored{command, cells, headed} {
		if !q.hasHeard(s) {
			t.Errorf("%q was said", s.text)
		}
	}
	if q.hasHeard(told("Bakes for two hours.")) {
		t.Error("what was not said counts as said")
	}
}
