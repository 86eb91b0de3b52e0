// Package kbtest holds the conformance suites of the interfaces in package kb,
// which every implementation runs, and Remote, indexes on the other side of a
// pipe that speaks JSON. It is for tests alone.
package kbtest
