package syntax

import "strings"

// html reads templates and pages without headings (those with headings are
// cut at them): what has an id is a section, as links name it.
var html = &spec{
	grammar:  "html",
	comments: []string{"comment"},
	data:     true,
	rules: rules{{"element script_element style_element", func(w *walk, n int32) {
		id := htmlID(w, w.child(n, "start_tag", "self_closing_tag"))
		if id < 0 {
			w.children(n)
			return
		}
		end := int(w.nodes[w.first(n)].End)
		w.declare(declaration{node: n, name: id, kind: "section", sigEnd: end}, func() { w.children(n) })
	}}},
}

// htmlID returns the value of a tag's id, -1 without one or when a template
// makes it.
func htmlID(w *walk, tag int32) int32 {
	if tag < 0 {
		return -1
	}
	for a := w.first(tag); a >= 0; a = w.next(tag, a) {
		if w.typ(a) != "attribute" || !strings.EqualFold(w.text(w.child(a, "attribute_name")), "id") {
			continue
		}
		v := w.child(a, "attribute_value")
		if v < 0 {
			v = w.child(w.child(a, "quoted_attribute_value"), "attribute_value")
		}
		if id := w.text(v); id != "" && !strings.ContainsAny(id, "{}<>$ \n") {
			return v
		}
	}
	return -1
}
