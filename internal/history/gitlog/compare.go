package gitlog

// Span is the lines from one to another, from 1.
type Span struct{ From, To int }

// Compare returns the lines of now that are not in before, and how many lines of
// before are not in now. Lines that differ in white space alone are the same.
func Compare(before, now []byte) (added []Span, removed int) {
	w := words{number: map[string]int32{}, as: map[string]int32{}}
	a, b := w.read(before), w.read(now)
	matched := match(a.ids, b.ids)
	kept := 0
	for j := 0; j < len(matched); j++ {
		if matched[j] >= 0 {
			kept++
			continue
		}
		from := j
		for j+1 < len(matched) && matched[j+1] < 0 {
			j++
		}
		added = append(added, Span{from + 1, j + 1})
	}
	return added, len(a.ids) - kept
}
