package answers_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// nursery is the manual of a program that waters plants.
var nursery = map[string]string{
	"docs/watering.md": `# Watering

## Schedule

The scheduler wakes each pump in its turn. When this happens, the lamp of the pump is lit. The valve opens as soon
as the pressure is reached.

The pressure of a pump is measured in bars, from 1 to 4.

## Drain

The tank is drained before the winter. A drained tank needs a new filter.

To drain the tank of the greenhouse, run ` + "`sprinkle tank --drain`" + ` on the controller.
`,
	"docs/faq.md": `# Questions

## Is it safe to run the controller as root?

It has not been tried by us. Run the controller under a user of its own.

## Can I move the tank?

Yes, with two people.
`,
	"docs/root.md": `# Daemon

The controller refuses to run as root by default, and the reason is not always visible.
`,
	"docs/options.md": `# Options

| option | what it sets | default |
|---|---|---|
| --pump.count | how many pumps there are, which pump.wait depends on | 3 |
| --pump.wait | how long a pump waits for pressure | 45s |
| --lamp.wait | how long the lamp stays lit | 10s |

Compare the drip hose with the spray head: the spray head wets the leaves and wants filtered water.

The drip hose keeps the leaves dry, so that mould has no chance.
`,
	"docs/sensors.md": `# Sensors

A sensor is calibrated every 14 days. The calibration of a sensor cannot be interrupted without losing it.

The retention of readings is 30 days.
`,
}

func planted(t *testing.T) *app.App {
	s := producttest.NewSite(t)
	for name, text := range nursery {
		s.Write(name, text)
	}
	a := s.In("p", false)
	if j := s.Create(a, app.CreateStore{Name: "nursery", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "docs"), User: true}); j.State != kb.JobCompleted {
		t.Fatal(j)
	}
	return a
}

// TestAnswersAreWhole: what a kind of question asks for is there, not only the
// sentence that has its words.
func TestAnswersAreWhole(t *testing.T) {
	a := planted(t)
	for _, c := range []struct{ name, question, has string }{
		{"a paragraph that goes on", "what happens when the scheduler wakes a pump?", "the lamp of the pump is lit"},
		{"what to type", "how do I drain the tank of the greenhouse?", "`sprinkle tank --drain`"},
		{"the heading that is asked", "is it safe to run the controller as root?", "under a user of its own"},
		{"the row of that name", "how long does pump.wait wait for pressure by default?", "45s"},
		{"both sides", "drip hose or spray head, which is better for the leaves?", "keeps the leaves dry"},
		{"a word that both languages have", "¿cuánto dura la retención de las lecturas?", "30 days"},
		{"the measure that is asked for", "how often is a sensor calibrated?", "14 days"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := answers.Ask(t.Context(), a, answers.AskRequest{Question: c.question, Stores: []string{"nursery"}})
			if err != nil || !strings.Contains(r.Answer, c.has) {
				t.Errorf("%q is not in %q (%.2f), %v", c.has, r.Answer, r.Confidence, err)
			}
		})
	}
}

// TestASpanishQuestionMayBeAProgramsWord: what a program calls itself is asked for as
// it is written.
func TestASpanishQuestionMayBeAProgramsWord(t *testing.T) {
	a := planted(t)
	for _, q := range []string{"¿qué hace synchronize?", "¿qué es scheduler?", "¿y el drain?"} {
		if _, err := answers.Ask(t.Context(), a, answers.AskRequest{Question: q, Stores: []string{"nursery"}}); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// TestAFollowUpGoesOnWhereTheAnswerWas: with nothing else to go by, what is near
// the lines that were cited comes first.
func TestAFollowUpGoesOnWhereTheAnswerWas(t *testing.T) {
	a := planted(t)
	ask := func(q string) answers.Answer {
		r, err := answers.Ask(t.Context(), a, answers.AskRequest{Question: q, Stores: []string{"nursery"}, Session: "s", Owner: "o"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ask("how often is a sensor calibrated?")
	if r := ask("and can it be interrupted?"); !strings.Contains(r.Answer, "cannot be interrupted") || len(r.Sources) == 0 || !strings.HasPrefix(r.Sources[0].At, "sensors.md") {
		t.Errorf("%q %v", r.Answer, r.Sources)
	}
}
