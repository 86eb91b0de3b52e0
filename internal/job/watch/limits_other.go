//go:build !linux && !darwin

package watch

const watchHint = "close programs that watch many folders"

// Network returns "": this system has no single way to find the folders on other
// machines.
func Network(string) string { return "" }

// Limits returns how many directories one user can watch, and by how many
// watchers, 0 where the system does not say.
func Limits() (watches, watchers int) { return 0, 0 }
