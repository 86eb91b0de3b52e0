package embed

import "strings"

// common lists the words that the untrained model must not take at their full
// weight, because they stand in every text and say little about any. A
// trained model learns how much a word weighs and needs no list.
var common = []struct {
	weight float32 // length of the row; other words have about 1
	reason string
	words  string
}{
	{0.1, "function words: half of the words of a question, none of its subject", `
		a about all also an and any are as at be been being but by can could did do does doing done each for from
		get gets had has have having here how i if in into is it its just like may me might more most must my no not
		of off on once only or other our out over own same shall she he should so some such than that the their them
		then there these they this those through to too under until up us used uses using very was we were what when
		where which while who whom whose why will with within without would you your`},
	{0.3, "keywords and names of the simplest types: in every file of some language", `
		bool break byte case catch char class const continue def default defer del double elif else end enum err
		except export extends false final finally float fn func function go goto implements import int interface
		let long map nil none null package private protected public raise range return self short static str
		string struct super switch throw true try type typedef undefined unsigned var void yield`},
	{0.2, "single letters and digits: loop variables, receivers, indices", `
		b c d e f g h j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9`},
}

// commonWords returns the words of the list with their weights.
func commonWords() map[string]float32 {
	weights := make(map[string]float32)
	for _, g := range common {
		for _, w := range strings.Fields(g.words) {
			weights[w] = g.weight
		}
	}
	return weights
}
