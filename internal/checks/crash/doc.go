// Package crash rehearses faults on the whole program: processes killed at
// random moments, files that cannot be written, bytes that flip, many
// processes at once. It holds tests only; what each promises is in
// docs/design/008-faults.md. With KNOWLEDGE_CRASH=full in the environment
// they run with the counts of that document instead of a sample.
package crash
