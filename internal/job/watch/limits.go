package watch

import "strings"

// hintOf returns what to do about a folder that cannot be watched.
func hintOf(why string) string {
	if strings.Contains(why, "network file system") {
		return "nothing needs to be done: changes are seen a little later"
	}
	return watchHint
}
