package deps

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// golang reads go.mod only: go.sum also holds versions that are not in use.
var golang = ecosystem{
	name:  "go",
	files: map[string]parser{"go.mod": goMod},
	exts:  []string{".go"},
	imports: func(text []byte, emit func(string)) {
		inBlock := false
		for line := range bytes.Lines(text) {
			line = bytes.TrimSpace(line)
			switch {
			case inBlock && bytes.HasPrefix(line, []byte(")")):
				inBlock = false
			case inBlock || bytes.HasPrefix(line, []byte("import ")):
				if _, rest, ok := bytes.Cut(line, []byte(`"`)); ok {
					if p, _, ok := bytes.Cut(rest, []byte(`"`)); ok {
						emit(string(p))
					}
				} else if bytes.HasSuffix(line, []byte("(")) {
					inBlock = true
				}
			case bytes.HasPrefix(line, []byte("func ")) || bytes.HasPrefix(line, []byte("type ")):
				return
			}
		}
	},
	matcher: func(p *collector, deps []*Dependency) func(string) []*Dependency {
		prefixes := map[string][]*Dependency{}
		for _, d := range deps {
			prefixes[d.Name] = append(prefixes[d.Name], d)
		}
		for name := range p.own["go"] {
			prefixes[name] = []*Dependency{} // of the project itself, which may lie below a dependency
		}
		return longest(prefixes, "/")
	},
}

func goMod(p *collector, file string, data []byte) {
	block := ""
	replaced := map[string][2]string{}
	var list []declared
	for line := range bytes.Lines(data) {
		code, comment, _ := strings.Cut(string(line), "//")
		words := strings.Fields(code)
		if len(words) == 0 {
			continue
		}
		verb := block
		if block == "" {
			verb, words = words[0], words[1:]
			if len(words) == 1 && words[0] == "(" {
				block = verb
				continue
			}
		} else if words[0] == ")" {
			block = ""
			continue
		}
		for i, w := range words {
			words[i] = strings.Trim(w, "\"`")
		}
		switch {
		case verb == "module" && len(words) > 0:
			p.owns("go", words[0])
		case verb == "require" && len(words) >= 2 && strings.HasPrefix(words[1], "v"):
			d := declared{eco: "go", name: words[0], version: words[1], manifest: file}
			if strings.HasPrefix(strings.TrimSpace(comment), "indirect") {
				p.brought = append(p.brought, d)
			} else {
				list = append(list, d)
			}
		case verb == "replace":
			if i := slices.Index(words, "=>"); i > 0 && i+1 < len(words) {
				var to [2]string // module and version, or a folder
				copy(to[:], words[i+1:])
				replaced[words[0]] = to
			}
		}
	}
	for _, d := range list {
		if to, ok := replaced[d.name]; ok {
			if to[1] == "" {
				p.owns("go", d.name) // a folder
				continue
			}
			d.version = to[1]
			if to[0] != d.name {
				var sub string
				d.repo, sub = goRepository(to[0])
				d.ref = goRef(sub, to[1])
			}
		}
		p.declared = append(p.declared, d)
	}
}

var (
	goMajorRE  = lazyregexp.New(`^v[2-9][0-9]*$|^v1[0-9]+$`)
	goPseudoRE = lazyregexp.New(`[-.][0-9]{14}-([0-9a-f]{12})$`)
	goPkgInRE  = lazyregexp.New(`^gopkg\.in/(?:([^/]+)/)?([^/]+)\.v[0-9]+(?:-unstable)?$`)
)

// goRepository returns the repository of a module and its folder there.
func goRepository(module string) (repo, sub string) {
	words := strings.Split(module, "/")
	if len(words) > 1 && goMajorRE.MatchString(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	switch words[0] {
	case "github.com", "bitbucket.org", "codeberg.org", "gitlab.com", "gitee.com", "git.sr.ht":
		if len(words) < 3 {
			return "", ""
		}
		return "https://" + strings.TrimSuffix(strings.Join(words[:3], "/"), ".git"), strings.Join(words[3:], "/")
	}
	if m := goPkgInRE.FindStringSubmatch(module); m != nil {
		if m[1] == "" {
			return "https://github.com/go-" + m[2] + "/" + m[2], ""
		}
		return "https://github.com/" + m[1] + "/" + m[2], ""
	}
	plain := strings.Join(words, "/")
	for _, v := range knownPackages().golang {
		rest, ok := strings.CutPrefix(plain, v.prefix)
		one, sub, _ := strings.Cut(rest, "/")
		switch {
		case !ok:
		case !strings.HasSuffix(v.prefix, "/"):
			if rest == "" || rest[0] == '/' || rest[0] == '.' {
				return v.repo, strings.Trim(rest, "/")
			}
		case one != "":
			return strings.ReplaceAll(v.repo, "{1}", one), sub
		}
	}
	// A host that names repositories itself, with the ending that git knows.
	for i, w := range words {
		if strings.HasSuffix(w, ".git") {
			return "https://" + strings.Join(words[:i+1], "/"), strings.Join(words[i+1:], "/")
		}
	}
	return "", ""
}

// goRef returns the tag or commit of a version of the module in a folder.
func goRef(sub, version string) kb.Ref {
	version = strings.TrimSuffix(version, "+incompatible")
	if m := goPseudoRE.FindStringSubmatch(version); m != nil {
		return kb.Ref{Type: kb.RefCommit, Name: m[1]}
	}
	return kb.Ref{Type: kb.RefTag, Name: path.Join(sub, version)}
}
