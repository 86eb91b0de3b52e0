// Package specdoc reads one specification: it takes the text of a Markdown
// document and says what it is, which sections it has and what it states about
// others (kb.SpecDoc). It knows no other document and no path.
package specdoc
