//go:build !linux

package browser

// count knows the first process alone where there is no /proc.
func count(pid int, _ string) int {
	if gone(pid) {
		return 0
	}
	return 1
}
