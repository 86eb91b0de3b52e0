// Package tokens estimates how many tokens a language model will see in a
// text. There is no exact answer without the model's own vocabulary, which is
// not public and would cost megabytes, so the estimate is made to err upwards:
// on code, JSON and prose it lies between 0.99 and 1.17 times the count of the
// published tokenizer of an older Claude (@anthropic-ai/tokenizer 0.0.4), and
// between 1.0 and 1.3 times that of o200k.
package tokens

// Estimate returns the estimated number of tokens of s: one for every eight
// letters begun of a word, words ending where a capital begins; one for three
// digits; one for three signs in a row; one for white space that is more than
// a single blank; one and one for every two bytes of a run beyond ASCII; and an eighth on top.
func Estimate(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c := s[i]
		j := i + 1
		switch {
		case letter(c):
			if c <= 'Z' { // the capitals of a run, then what follows in lower case
				for j < len(s) && s[j] >= 'A' && s[j] <= 'Z' {
					j++
				}
			}
			caps := j - i
			for j < len(s) && s[j] >= 'a' && s[j] <= 'z' {
				j++
			}
			n += 1 + (j-i-1)/8
			if caps > 2 {
				n += caps / 4
			}
		case c >= '0' && c <= '9':
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			n += (j - i + 2) / 3
		case blank(c):
			for j < len(s) && blank(s[j]) {
				j++
			}
			if c != ' ' || j-i > 1 {
				n++
			}
		case c >= 0x80:
			for j < len(s) && s[j] >= 0x80 {
				j++
			}
			n += 1 + (j-i)/2
		default:
			for j < len(s) && sign(s[j]) {
				j++
			}
			n += (j - i + 2) / 3
		}
		i = j
	}
	return n + n/8
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func blank(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func sign(c byte) bool {
	return c < 0x80 && !letter(c) && !blank(c) && (c < '0' || c > '9')
}
