package answer

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// named returns the numbers of the stores that a question names, such as the
// product that they document, with the words it names them by; all of them
// when it names none.
func named(question string, targets []search.Target) (numbers []int, by []string) {
	list := words(question)
	for i := range targets {
		for _, n := range namesOf(&targets[i]) {
			if used := naming(list, n); used != nil {
				numbers, by = append(numbers, i), append(by, used...)
				break
			}
		}
	}
	if len(numbers) == 0 {
		for i := range targets {
			numbers = append(numbers, i)
		}
	}
	return numbers, by
}

// documenting are the ends of names of stores that say that they document what
// the rest names.
var documenting = []string{"docs", "doc", "documentation", "guide", "manual", "handbook", "site", "website", "src", "source"}

// namesOf returns what people call a store, letters and digits alone.
func namesOf(t *search.Target) []string {
	label, _, _ := strings.Cut(t.Store.Label(), "@")
	source := strings.TrimSuffix(strings.TrimRight(t.Store.Spec.Source, `/\`), ".git")
	var out []string
	for _, n := range []string{label, source[strings.LastIndexAny(source, `/\`)+1:]} {
		n = strings.ToLower(n)
		for _, e := range documenting {
			if rest, ok := strings.CutSuffix(n, e); ok && strings.TrimRight(rest, "-_. ") != "" && rest != strings.TrimRight(rest, "-_. ") {
				n = strings.TrimRight(rest, "-_. ")
			}
		}
		if n = letters(n); len(n) > 1 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// naming returns the words of a question, one to three that follow each other,
// that are a name; nil when none are. A word that is an ordinary one as well
// has to be written as a name.
func naming(list []string, name string) []string {
	for n := 1; n <= 3; n++ {
		for i := 0; i+n <= len(list); i++ {
			if letters(strings.Join(list[i:i+n], "")) == name && (n > 1 || i > 0 && capital(list[i]) || !ordinary(list[i])) {
				return list[i : i+n]
			}
		}
	}
	return nil
}

func capital(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return unicode.IsUpper(r)
}

// ordinary reports whether a word is used for other things than as a name.
func ordinary(w string) bool {
	f := fold(w)
	if asking[f] || faints[f] || slices.Contains(documenting, f) || len(f) < 3 {
		return true
	}
	t := terms.Of(f)
	return len(t) > 0 && rank.Related(t[0]) != nil
}

// of is what targets of a list are named by their numbers, and an error of one
// of them as one of the list.
func of(targets []search.Target, numbers []int) (few []search.Target, restored func(error) error) {
	for _, i := range numbers {
		few = append(few, targets[i])
	}
	return few, func(err error) error {
		var failed *search.TargetError
		if errors.As(err, &failed) && failed.Target < len(numbers) {
			return &search.TargetError{Target: numbers[failed.Target], Err: failed.Err}
		}
		return err
	}
}
