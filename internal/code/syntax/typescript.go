package syntax

// TypeScript and TSX are JavaScript's rules with more types of nodes.
var (
	typescript = &spec{
		grammar:  "typescript",
		nodes:    concat(jsNodes, tsNodes),
		comments: []string{"comment", "html_comment"},
		visit:    visitJavaScript,
	}
	tsx = &spec{
		grammar:  "tsx",
		nodes:    concat(jsNodes, tsNodes, jsxNodes),
		comments: []string{"comment", "html_comment"},
		visit:    visitJavaScript,
	}
)
