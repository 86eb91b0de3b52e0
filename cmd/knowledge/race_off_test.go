//go:build !race

package main

// raceFlag builds the program under test as the tests themselves were built.
const raceFlag = ""
