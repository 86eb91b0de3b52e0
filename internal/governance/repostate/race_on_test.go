//go:build race

package repostate

const raceEnabled = true
