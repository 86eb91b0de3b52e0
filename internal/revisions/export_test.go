package revisions

// Most sets how much text may be indexed anew, until restore is called.
func Most(bytes int64) (restore func()) {
	was := mostText
	mostText = bytes
	return func() { mostText = was }
}

// MostKept is how many generations are kept.
const MostKept = mostKept
