package eval

// Fitted is a stand-in until there is a fit.
type Fitted struct{}

func (f *Fitted) text() string { return "" }
