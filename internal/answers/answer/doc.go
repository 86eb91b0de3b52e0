// Package answer makes an answer out of what stores say: it has passages
// ranked by package search, takes the sentences and lines that answer, orders
// them and cites each. No model is needed; nothing is said that is not
// in a source, and the answer to a question that nothing supports says so.
//
//	question → concepts (words, weighed by how rare they are, with their
//	English where the question is Spanish) → passages → sentences, each with
//	its lines → score → choice without repetition → text with [1], sources
//
// The score of a sentence is
//
//	0.60·(share of the concepts, by weight, in the sentence and around it)
//	+ 0.20·(cosine of sentence and question) + 0.12·(score of its passage)
//	+ cues (a definition for "what is", a number for "how many", …)
//
// and the support of an answer how much of the concepts its sentences cover.
// Below the support that was calibrated on judged questions (bench/answers)
// nothing is answered.
//
// Sessions hold earlier questions in memory, so that one that leans on them
// ("and how is it configured?") is completed with what they were about.
package answer
