package kb

// Facts are what the text of one document says about names beyond what it
// defines: what it imports and which names it uses where. They know no other
// document; what a use refers to is decided when documents are joined, see
// Edge.
type Facts struct {
	// Package is the package, module or namespace that the document says it
	// belongs to, as written: "net/http" is not known to a file, "http" is;
	// "com.google.gson", "Newtonsoft.Json.Linq". Empty where the language has
	// none, or the path says it.
	Package    string
	Imports    []Import
	References []Reference
	Bindings   []Binding
	// Spec is set for Markdown documents of prose: what the specification
	// graph is joined from.
	Spec *SpecDoc
}

// Import is one name that a document brings in from elsewhere.
type Import struct {
	// Path is the module as written: "net/http", "./util", "os.path",
	// "..models" (dots as in Python), "crate::io", "foo/bar.h".
	Path string
	// Name is what is taken out of it: "" for the module itself, "*" for all
	// that it offers, "default" for a default export.
	Name string
	// Local is the name it goes by here; "" when nothing new can be said by
	// name (an include, a star import, a side effect).
	Local string
	Line  int // 1-based
}

// UseKind says how a name is used.
type UseKind uint8

// The kinds of references.
const (
	UseName    UseKind = iota // read or written
	UseCall                   // called, or constructed by a call: f(), x.f(), new T()
	UseType                   // named as a type: annotation, cast, generic argument
	UseInherit                // named as base class, interface or trait
	UseKinds                  // how many kinds there are
)

// String names a kind: "use", "call", "type", "inherit".
func (k UseKind) String() string {
	if int(k) < len(useKinds) {
		return useKinds[k]
	}
	return "use"
}

var useKinds = [UseKinds]string{"use", "call", "type", "inherit"}

// Reference is one use of a name, outside imports and outside the name's own
// declaration.
type Reference struct {
	Name string // the last identifier, as written: "Serve" of s.srv.Serve()
	// Qualifier is the plain chain of names before it, joined with ".":
	// "s.srv", "http", "self", "super", "Foo". It is "()" after anything else
	// (a call, an index), "" for a name alone.
	Qualifier string
	Kind      UseKind
	Line      int // 1-based
	// Args is one more than the number of arguments of a call, 0 when that is
	// not known. Overloads differ in it.
	Args int
}

// Binding is a name that is local to a declaration: a parameter, a variable,
// a loop variable, a field of a class. A use of that name must not be resolved
// outside.
type Binding struct {
	Name string // "x"; a field is written as "self.x", whatever the language calls the receiver
	// Type is its type as written, or the constructor it was made by, without
	// pointers, references, generic arguments and nullability:
	// "Server" of x *Server, x := &Server{}, x = Server(). "" when unknown.
	Type string
	// From and To are the lines between which it holds, 1-based, inclusive.
	From, To int
}

// Edge is a reference whose target is known: the declaration, in the same
// document or another, that defines the name.
type Edge struct {
	From Spot // where the name is; Decl is the innermost declaration around it, "" at top level
	To   Spot // the declaration; Line is where its name is
	Kind UseKind
	// Confidence is in (0,1]: 1 from a type checker or when scope and imports
	// leave no choice, less when the receiver's type was inferred.
	Confidence float64
}

// Spot is a line of a document in one index.
type Spot struct {
	Path string
	Line int    // 1-based
	Decl string // qualified name of a declaration: "Server.Serve"
}
