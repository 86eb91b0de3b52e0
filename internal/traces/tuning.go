package traces

// Tuning holds the numbers that the order of causes depends on. They are fitted
// to the open part of the mutants of bench/traces.
type Tuning struct {
	// Keep is what a frame counts, times Raise where its line raises by itself and
	// Null where it failed on a value that was not there.
	Keep, Raise, Null float64
	// Down is what a call counts of the function that made it, of whose calls
	// together it has a share to the power of Split.
	Down, Split float64
	// Half and HalfFrame are how many lines a function has that counts one half
	// of the longest, called and on the stack.
	Half, HalfFrame float64
	// Fade is what a frame counts of the one that it called.
	Fade float64
	// What a call counts by its line, of one on the line of the frame: each step
	// along the values that are used there, a condition that it stands under,
	// another line before it, after it; of a function that has returned a line
	// that its result does not come from, and any line where it returns nothing.
	Chain, Guard, Before, After, Other, Silent float64
	// Damp is added to what the calls of a function weigh together: one call that
	// has little to do with it does not get all of the blame.
	Damp float64
	// Soft is how sure a call is that is known by its name alone, Member one that
	// may only read a member, Writer what gave a member of the object its value.
	Soft, Member, Writer float64
	// MostAlike is how many declarations may have a name that tells one.
	MostAlike int
	// Test is what code of tests counts of other code.
	Test float64
	// Message is what a declaration gains that has the names which the message has,
	// Literal one that has a text of it,
	// Named one whose name the
	// test's name has where there is no stack, NamedRaised where there is one.
	Message, Literal, Named, NamedRaised float64
	// Spectrum is how much of the blame depends on which tests fail and which do
	// not: 0 none, 1 all.
	Spectrum float64
	// Uncommitted and Recent are what a declaration gains whose lines differ from
	// the last commit, or from what they were a while ago.
	Uncommitted, Recent float64
}

var fitted = Tuning{
	Keep: 1, Raise: 0.7, Null: 0.9, Fade: 0.6,
	Down: 0.9, Split: 0.1, Half: 20, HalfFrame: 0.5,
	Chain: 0.8, Guard: 0.5, Before: 0.1, After: 0.03, Other: 0.6, Silent: 0.8,
	Damp: 0.3, Soft: 0.5, Member: 0.3, Writer: 0.4, MostAlike: 8,
	Test: 0.02, Message: 0.5, Literal: 2, Named: 1.5, NamedRaised: 0.2, Spectrum: 0.8,
	Uncommitted: 2, Recent: 0.5,
}

// Fitted returns a copy of the tuning that the product uses.
func Fitted() *Tuning {
	t := fitted
	return &t
}
