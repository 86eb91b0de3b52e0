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

// manual is documentation of an oven, with what answers lean on.
var manual = map[string]string{
	"docs/cleaning.md": `# Cleaning

The glass of the door comes off for cleaning. Before you take it off, do the following:

- Let the oven cool down for an hour.
- Switch off the fuse of the kitchen.
- Put a towel below the door.

## Stains

Burnt sugar is soaked with vinegar overnight. This also removes milk that has boiled over.
`,
	"docs/programs.md": `# Programs

| program | temperature | minutes |
|---|---|---|
| bread | 230 °C | 45 |
| gratin | 200 °C | 35 |

## Timer

A program is delayed with the key TIMER, by at most 12 hours:

` + "```" + `
TIMER 07:30
START
` + "```" + `

The self-cleaning program cannot be interrupted.
`,
	"docs/changelog.md": `# Changelog

## 1.2

The bread program bakes for 40 minutes at 220 °C instead of 38.
`,
	"docs/es/garantia.md": `# Garantía

La garantía del horno dura cinco años desde la compra. Se pierde cuando alguien abre la tapa trasera del aparato.
`,
	"docs/en/warranty.md": `# Warranty

The warranty of the oven lasts five years from the day of purchase. It is lost when somebody opens the cover at the back.
`,
	"docs/rack.md":     "# Racks\n\nThe rack of the oven carries at most 12 kilograms.\n",
	"docs/tips.md":     "# Tips\n\nA heavy roast is no problem: the rack of the oven carries at most 15 kilograms.\n",
	"docs/service.log": "2026-01-02 10:00:00 INFO oven: bread program started at 231 °C for 44 minutes\n",
}

// kitchen is the manual as a store, beside one of another product.
func kitchen(t *testing.T) (*producttest.Site, *app.App) {
	s := producttest.NewSite(t)
	for name, text := range manual {
		s.Write(name, text)
	}
	s.Write("kettle/use.md", "# Kettle\n\nThe warranty of the kettle lasts one year. Its bread is none: a kettle boils water within 3 minutes.\n")
	a := s.In("p", false)
	for name, dir := range map[string]string{"brasero": "docs", "hervidor": "kettle"} {
		if j := s.Create(a, app.CreateStore{Name: name, Kind: kb.KindFolder, Source: filepath.Join(s.Root, dir), User: true}); j.State != kb.JobCompleted {
			t.Fatal(j)
		}
	}
	return s, a
}

func TestAnswersComeWithWhatTheyLeanOn(t *testing.T) {
	_, a := kitchen(t)
	for _, c := range []struct {
		name, question string
		has, lacks     []string
	}{
		{"a list with its introduction", "What must I do before I take off the glass of the door?",
			[]string{"Before you take it off, do the following:", "cool down for an hour", "Switch off the fuse", "Put a towel below"}, nil},
		{"an antecedent", "What removes milk that has boiled over?", []string{"Burnt sugar is soaked with vinegar overnight. [1] This also removes milk"}, nil},
		{"a row with its head", "At which temperature does the gratin program bake?", []string{"gratin · temperature: 200 °C · minutes: 35"}, []string{"INFO"}},
		{"code whole, with what announces it", "How do I delay a program with the timer?",
			[]string{"A program is delayed with the key TIMER, by at most 12 hours:", "`TIMER 07:30`\n`START`"}, nil},
		{"what is, before what has changed", "How many minutes does the bread program take?", []string{"bread · temperature: 230 °C · minutes: 45"}, []string{"INFO oven"}},
		{"no", "Can the self-cleaning program be interrupted?", []string{"No. ", "cannot be interrupted"}, nil},
		{"words without a topic", "hi, could you kindly tell me how many minutes the gratin program really takes, tbh?", []string{"minutes: 35"}, nil},
		{"one language of two", "How long does the warranty of the oven last?", []string{"five years from the day of purchase"}, []string{"cinco"}},
		{"the language of the question", "¿Cuánto dura la garantía del horno?", []string{"cinco años desde la compra"}, []string{"five", "inglés"}},
		{"another language, quoted and said", "¿Con qué se ablanda el azúcar quemado?", nil, nil},
		{"what is not there", "How do I pair the oven with my phone over Bluetooth?", []string{"Nothing that is indexed answers this question"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := answers.Ask(t.Context(), a, answers.AskRequest{Question: c.question, Stores: []string{"brasero"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range c.has {
				if !strings.Contains(r.Answer, h) {
					t.Errorf("%q is not in %q (%.2f)", h, r.Answer, r.Confidence)
				}
			}
			for _, l := range c.lacks {
				if strings.Contains(r.Answer, l) {
					t.Errorf("%q is in %q", l, r.Answer)
				}
			}
			for _, p := range r.Parts {
				if p.Source > 0 && r.Sources[p.Source-1].Snippet == "" {
					t.Errorf("%q cites nothing", p.Text)
				}
			}
		})
	}
}

// TestDisagreementIsShown: of two documents that say other numbers both are
// shown, and the answer is less sure.
func TestDisagreementIsShown(t *testing.T) {
	_, a := kitchen(t)
	r, err := answers.Ask(t.Context(), a, answers.AskRequest{Question: "How many kilograms does the rack of the oven carry at most?", Stores: []string{"brasero"}})
	if err != nil || !strings.Contains(r.Answer, "12 kilograms") || !strings.Contains(r.Answer, "15 kilograms") || r.Confidence > 0.5 || len(r.Notes) != 1 {
		t.Errorf("%q (%.2f) %q, %v", r.Answer, r.Confidence, r.Notes, err)
	}
}

// TestANamedProductIsAsked: of several stores the one that a question names.
func TestANamedProductIsAsked(t *testing.T) {
	_, a := kitchen(t)
	for store, want := range map[string]string{"Brasero": "five years", "Hervidor": "one year"} {
		r, err := answers.Ask(t.Context(), a, answers.AskRequest{Question: "How long does the warranty of the " + store + " last?", Stores: []string{"brasero", "hervidor"}})
		if err != nil || !strings.Contains(r.Answer, want) {
			t.Errorf("%s: %q, %v", store, r.Answer, err)
		}
		for _, src := range r.Sources {
			if src.Store != strings.ToLower(store) {
				t.Errorf("%s: cites %s", store, src.Store)
			}
		}
	}
}

// TestNearIsShown: where nothing answers for certain what comes nearest is
// quoted, with its places, as that; where a word stands nowhere, nothing is.
func TestNearIsShown(t *testing.T) {
	_, a := kitchen(t)
	for question, want := range map[string]string{
		"Is vinegar bad for the rack when something heavy was on it overnight?": "No sure answer to this question was found. What comes nearest:\n\n",
		"¿Es malo dejar el vinagre en el horno con algo de peso encima?":        "No he encontrado una respuesta segura a esa pregunta. Lo más cercano:\n\n",
	} {
		r, err := answers.Ask(t.Context(), a, answers.AskRequest{Question: question, Stores: []string{"brasero"}})
		if err != nil || r.Answered || !strings.HasPrefix(r.Answer, want) || len(r.Sources) == 0 || len(r.Sources) > 3 || r.Confidence > 0.1 {
			t.Errorf("%s: %q (%.2f), %d sources, %v", question, r.Answer, r.Confidence, len(r.Sources), err)
		}
		if !strings.Contains(r.Text(), "\nPlaces to look at:\n[1] ") {
			t.Errorf("%q", r.Text())
		}
	}
	r, err := answers.Ask(t.Context(), a, answers.AskRequest{Question: "Does vinegar harm the Thermomix?", Stores: []string{"brasero"}})
	if err != nil || r.Answered || len(r.Sources) != 0 {
		t.Errorf("%q, %v", r.Answer, err)
	}
}
