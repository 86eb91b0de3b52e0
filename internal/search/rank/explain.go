package rank

import "math"

// addUp notes in Parts what the signals of the passage do not say: another
// passage of the document speaks more for it, or its place is that of another
// page. With it parts, the demotions as factors, give what the score is made of.
func (s *Scored) addUp() {
	if s.Parts == nil {
		return
	}
	sum, factor := 0.0, 1.0
	for _, v := range s.Parts {
		if v < 0 {
			factor *= 1 + v
		} else {
			sum += v
		}
	}
	if rest := math.Round((s.raw-sum*factor)*1000) / 1000; math.Abs(rest) > 0.004 {
		s.Parts[Rest] = rest
	}
}

// Rest is the part of a score that no signal of the passage gives. It is added,
// also where it is negative.
const Rest = "rest"
