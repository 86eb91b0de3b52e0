// Package answer makes an answer out of what stores say: it has passages
// ranked by package search, takes the few sentences of the best of them that
// answer, with what they lean on, and cites each. No model is needed; nothing is
// said that is not in a source, and the answer to a question that nothing
// supports says so.
//
//	question → stores it names → concepts (words and sayings, weighed by how rare
//	they are, with their English where the question is Spanish, with words that
//	are used for them, and spelt right) → passages in the order of package search,
//	those beside them, of one language → sentences, each with its lines
//	→ the best, then what adds to it → with a list its introduction, with "This"
//	what it goes on from, with a row its head, code whole → text with [1], sources
//
// The score of a sentence is made of the share of the concepts, by weight, in it
// and around it, of its likeness to the question, with and without what all
// sentences that were found have in common, of the place of its passage in the
// ranking, of cues (an amount in the measure of "how long", a denial for "can I", …), of
// a heading that asks the same, and, in a conversation, of how near it is to
// what was cited before. Where the place is not plain the best of several
// sections are taken, and what a kind of question asks for is added.
//
// The confidence of an answer is the share of answers with such signs that were
// right when they were graded by hand (bench/answers). Below what tells right
// answers from others nothing is answered; where passages disagree it is low.
//
// Sessions hold earlier questions in memory, so that one that leans on them
// ("and how is it configured?") is completed with what they were about, and goes
// on near the lines that they were answered from.
package answer
