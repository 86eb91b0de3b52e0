package bilingual

import (
	"strings"
	"testing"
)

func TestLanguageOf(t *testing.T) {
	for text, want := range map[string]Language{
		"¿quién firma?": Spanish, "qué pasa cuando caduca un lote": Spanish, "who signs when a lot expires": English, "BR-7": Unknown, "": Unknown,
		"caducidad del vial": Spanish, "the lot": English, "revisión": Spanish,
	} {
		if got := LanguageOf(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestShare: how much of a question a text answers in the other language.
func TestShare(t *testing.T) {
	for _, x := range []struct {
		question, text string
		least, most    float64
	}{
		{"¿cuándo se devuelve el depósito al inquilino?", "The deposit is refunded to the tenant within a month.", 0.6, 1},
		{"when is the deposit returned to the tenant?", "El depósito se devuelve al inquilino en un mes.", 0.6, 1},
		{"authentication of visitors", "La autenticación de las visitas", 0.6, 1},
		{"prescripciones caducadas", "expired prescriptions", 0.6, 1},
		{"when is the deposit returned to the tenant?", "El tren sale a las nueve.", 0, 0},
		{"¿qué hace el revisor?", "Colours of the logo", 0, 0},
	} {
		q := Ask(x.question)
		terms := q.Terms()
		q.Weigh(make([]int64, len(terms)), 100)
		if got := q.Share(q.Count(x.text)); got < x.least || got > x.most {
			t.Errorf("%q of %q: %.2f", x.text, x.question, got)
		}
	}
	if got := Ask("UTF-8 BR-7").Translated(); got != "" {
		t.Errorf("names are translated: %q", got)
	}
	if got := Ask("¿cuándo caduca la receta?").Translated(); !strings.Contains(got, "expire") || !strings.Contains(got, "prescription") {
		t.Error(got)
	}
}

// TestLists: the list is in order, and no word is its own translation alone.
func TestLists(t *testing.T) {
	last := ""
	for line := range strings.Lines(wordsText) {
		en, es, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || en <= last || es == "" || strings.Contains(en, " ") {
			t.Errorf("%q behind %q", line, last)
		}
		last = en
	}
}

// TestLearned: what was learned is in order, and is asked beside the lists.
func TestLearned(t *testing.T) {
	last, pairs := "", 0
	for line := range strings.Lines(learned()) {
		en, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || en <= last || len(strings.Fields(rest))%2 != 0 {
			t.Fatalf("%q behind %q", line, last)
		}
		last, pairs = en, pairs+len(strings.Fields(rest))/2
	}
	if pairs < 10_000 {
		t.Errorf("%d pairs", pairs)
	}
	for english, spanish := range map[string]string{"discrepancy": "discrepancia", "entirety": "totalidad", "mountainous": "montanoso"} {
		if got := Ask("the " + english).Translated(); !strings.Contains(got, spanish) {
			t.Errorf("%s is %q", english, got)
		}
	}
}

func TestStems(t *testing.T) {
	for _, pair := range [][2]string{{"devuelve", "devolver"}, {"caducan", "caducar"}, {"recetas", "receta"}, {"pierde", "perder"}, {"autorizaciones", "autorizar"}} {
		if a, b := spanishStem(pair[0]), spanishStem(pair[1]); a != b {
			t.Errorf("%s %q, %s %q", pair[0], a, pair[1], b)
		}
	}
	for _, pair := range [][2]string{{"authentication", "autenticacion"}, {"photograph", "fotografia"}, {"special", "especial"}} {
		if a, b := skeleton(pair[0]), skeleton(pair[1]); a != b || a == "" {
			t.Errorf("%s %q, %s %q", pair[0], a, pair[1], b)
		}
	}
}
