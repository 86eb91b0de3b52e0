// Package specdoc reads one specification: it takes the text of a document and
// says what it is, which sections it has and what it states about others
// (kb.SpecDoc). It knows no other document and no path. Texts are Markdown,
// Gherkin, StrictDoc or reStructuredText; each other format is turned into the
// page that Markdown gives, with its fields as front matter.
package specdoc
