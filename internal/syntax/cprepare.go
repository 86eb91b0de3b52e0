package syntax

func cPrepare(text string) string { return text }
