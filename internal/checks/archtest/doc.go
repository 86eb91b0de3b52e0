// Package archtest holds tests of the repository itself and nothing else: the
// layers that ARCHITECTURE.md promises, the house rules that a compiler does
// not know, and that what the prose names is there. They read and parse files
// and run no tool, so that the test cache sees what they depend on.
package archtest
