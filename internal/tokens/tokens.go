// Package tokens estimates how many tokens a language model will see in a
// text. There is no exact answer without the model's own vocabulary, which is
// not public and would cost megabytes, so the estimate is made to err upwards:
// against the published tokenizer of an older Claude and against o200k it is
// between 1.0 and 1.3 times the count on code, JSON and prose (measured in
// bench/runs).
package tokens

// Estimate returns the estimated number of tokens of s. A run of lower-case
// letters counts one token and one more for every six letters after the
// first six; capitals and digits break words; digits count three to a token;
// every sign counts one, except that a single blank before a word is free
// and a run of blanks or of the same sign counts one.
func Estimate(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c := s[i]
		j := i + 1
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if c <= 'Z' { // Capitals of a run, then what follows in lower case.
				for j < len(s) && s[j] >= 'A' && s[j] <= 'Z' {
					j++
				}
			}
			caps := j - i
			for j < len(s) && s[j] >= 'a' && s[j] <= 'z' {
				j++
			}
			n += 1 + (j-i-1)/6
			if caps > 1 {
				n += caps / 3
			}
		case c >= '0' && c <= '9':
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			n += (j - i + 2) / 3
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			for j < len(s) && s[j] == c {
				j++
			}
			if c != ' ' || j-i > 1 {
				n++
			}
		case c >= 0x80:
			for j < len(s) && s[j] >= 0x80 {
				j++
			}
			n += (j - i + 1) / 2
		default:
			for j < len(s) && s[j] == c {
				j++
			}
			n += 1 + (j-i-1)/4
		}
		i = j
	}
	return n
}
