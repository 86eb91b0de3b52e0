package answer

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestCues(t *testing.T) {
	for question, want := range map[string]cue{
		"¿y puedo abrir la puerta con el programa en marcha?": deciding,
		"¿se apaga solo el horno al terminar?":                deciding,
		"¿qué es la rejilla?":                                 defines,
		"and what is the rack?":                               defines,
		"and on gas?":                                         noCue,
		"¿y en la bandeja?":                                   noCue,
		"¿cómo quito el cristal de la puerta?":                doing,
		"which port does the kitchen listen on?":              amount,
		"¿cuánto tarda en apagarse cuando termina?":           amount,
	} {
		if got := cueOf(question); got != want {
			t.Errorf("%q is of kind %d, not %d", question, got, want)
		}
	}
}

func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		question, text string
		want           bool
	}{
		{"which port does it use?", "It listens on 127.0.0.1:7390.", true},
		{"which port does it use?", "At most 20 visitors at once.", false},
		{"how long does it wait?", "The number of milliseconds to wait (default `5000`).", true},
		{"how long does it wait?", "It tries 3 times.", false},
		{"what share of the disk does it take?", "At most 80-85% of the disk.", true},
		{"how many racks are there?", "There are 3.", true},
	} {
		q := question{measure: measureOf(c.question)}
		if got := q.counts(c.text); got != c.want {
			t.Errorf("%q for %q: %v", c.text, c.question, got)
		}
	}
}

// TestCommandsAreReadOneByOne: of a list of commands each says something of its
// own; code that goes on from line to line is one.
func TestCommandsAreReadOneByOne(t *testing.T) {
	for text, want := range map[string]int{
		"# A\n\n```sh\noven start bread\noven stop\noven clean ~/log\n```\n":                          3,
		"# A\n\n```sh\noven start \\\n  --program bread\noven stop\n```\n":                            1,
		"# A\n\n```python\ndef start(bread):\n    heat(230)\n    wait(45)\n```\n":                     1,
		"# A\n\n```\nheat the oven\nput the bread in\nwait an hour\n```\n":                            1,
		"# A\n\n    oven start bread        what it bakes\n    oven stop      ends\n    oven clean\n": 3,
	} {
		n := 0
		for _, s := range sentences(&kb.Passage{Text: text, Language: "markdown", Chunk: kb.Chunk{Start: 1, End: strings.Count(text, "\n")}}) {
			if s.form == code {
				n++
			}
		}
		if n != want {
			t.Errorf("%q has %d pieces of code, not %d", text, n, want)
		}
	}
}

// TestWhatWasSaidComesLater: a sentence that the answer before has said loses,
// unless it has a word of what is asked now.
func TestWhatWasSaidComesLater(t *testing.T) {
	q := question{heard: []string{"The rack carries 12 kilograms."}, concepts: []concept{{word: "clean"}, {word: "rack", topic: true}}}
	for _, c := range []struct {
		text   string
		direct []float64
		again  bool
	}{
		{"The rack carries **12** kilograms.", []float64{0, 1}, true},
		{"The rack carries 12 kilograms.", []float64{1, 1}, false},
		{"The rack is made of steel.", []float64{0, 1}, false},
	} {
		if got := q.repeats(&scored{sentence: sentence{text: c.text}, direct: c.direct}); (got > 0) != c.again {
			t.Errorf("%q costs %.1f", c.text, got)
		}
	}
}
