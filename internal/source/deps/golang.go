package deps

import (
	"bytes"
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// golang reads go.mod, which alone says the version in use. go.sum holds more
// than that: every version that was ever looked at.
var golang = ecosystem{
	name: "go",
	manifest: func(base string) parser {
		if base == "go.mod" {
			return goMod
		}
		return nil
	},
	exts: []string{".go"},
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
	for raw := range bytes.Lines(data) {
		line := strings.TrimSpace(string(raw))
		code, comment, _ := strings.Cut(line, "//")
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
		for i := range words {
			words[i] = strings.Trim(words[i], "\"`")
		}
		switch {
		case verb == "module" && len(words) > 0:
			p.owns("go", words[0])
		case verb == "require" && len(words) >= 2 && strings.HasPrefix(words[1], "v"):
			if !strings.HasPrefix(strings.TrimSpace(comment), "indirect") {
				list = append(list, declared{eco: "go", name: words[0], version: words[1], manifest: file})
			}
		case verb == "replace":
			for i, w := range words {
				if w == "=>" && i > 0 && i+1 < len(words) {
					to := [2]string{words[i+1]}
					if i+2 < len(words) {
						to[1] = words[i+2]
					}
					replaced[words[0]] = to
				}
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
				repo, sub := goRepository(to[0])
				d.repo = repo
				d.ref.Type, d.ref.Name = goRef(sub, to[1])
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

// goVanity maps the beginnings of module paths to repositories; {1} is the
// element of the path that follows. A module further below lies in that folder.
var goVanity = []struct{ prefix, repo string }{
	{"golang.org/x/", "https://github.com/golang/{1}"},
	{"google.golang.org/grpc", "https://github.com/grpc/grpc-go"},
	{"google.golang.org/protobuf", "https://github.com/protocolbuffers/protobuf-go"},
	{"google.golang.org/api", "https://github.com/googleapis/google-api-go-client"},
	{"google.golang.org/genproto", "https://github.com/googleapis/go-genproto"},
	{"google.golang.org/appengine", "https://github.com/golang/appengine"},
	{"cloud.google.com/go", "https://github.com/googleapis/google-cloud-go"},
	{"go.uber.org/", "https://github.com/uber-go/{1}"},
	{"go.opentelemetry.io/otel", "https://github.com/open-telemetry/opentelemetry-go"},
	{"go.opentelemetry.io/contrib", "https://github.com/open-telemetry/opentelemetry-go-contrib"},
	{"go.opentelemetry.io/collector", "https://github.com/open-telemetry/opentelemetry-collector"},
	{"go.opentelemetry.io/proto", "https://github.com/open-telemetry/opentelemetry-proto-go"},
	{"go.etcd.io/", "https://github.com/etcd-io/{1}"},
	{"go.mongodb.org/mongo-driver", "https://github.com/mongodb/mongo-go-driver"},
	{"go.yaml.in/yaml", "https://github.com/yaml/go-yaml"},
	{"go.temporal.io/sdk", "https://github.com/temporalio/sdk-go"},
	{"go.temporal.io/api", "https://github.com/temporalio/api-go"},
	{"k8s.io/", "https://github.com/kubernetes/{1}"},
	{"sigs.k8s.io/", "https://github.com/kubernetes-sigs/{1}"},
	{"gorm.io/driver/", "https://github.com/go-gorm/{1}"},
	{"gorm.io/gorm", "https://github.com/go-gorm/gorm"},
	{"gorm.io/", "https://github.com/go-gorm/{1}"},
	{"entgo.io/ent", "https://github.com/ent/ent"},
	{"honnef.co/go/tools", "https://github.com/dominikh/go-tools"},
	{"mvdan.cc/", "https://github.com/mvdan/{1}"},
	{"filippo.io/", "https://github.com/FiloSottile/{1}"},
	{"nhooyr.io/websocket", "https://github.com/coder/websocket"},
	{"connectrpc.com/connect", "https://github.com/connectrpc/connect-go"},
	{"buf.build/go/protovalidate", "https://github.com/bufbuild/protovalidate-go"},
	{"dario.cat/mergo", "https://github.com/imdario/mergo"},
	{"modernc.org/", "https://gitlab.com/cznic/{1}"},
	{"gotest.tools", "https://github.com/gotestyourself/gotest.tools"},
	{"rsc.io/", "https://github.com/rsc/{1}"},
	{"software.sslmate.com/src/go-pkcs12", "https://github.com/SSLMate/go-pkcs12"},
	{"github.com/open-telemetry/opentelemetry-collector-contrib", "https://github.com/open-telemetry/opentelemetry-collector-contrib"},
}

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
	for _, v := range goVanity {
		rest, ok := strings.CutPrefix(plain, v.prefix)
		if !ok || !strings.HasSuffix(v.prefix, "/") && rest != "" && rest[0] != '/' && rest[0] != '.' {
			continue
		}
		if !strings.Contains(v.repo, "{1}") {
			return v.repo, strings.Trim(rest, "/")
		}
		one, sub, _ := strings.Cut(rest, "/")
		if one != "" {
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

// goRef returns how a repository calls a version of the module in a folder.
func goRef(sub, version string) (typ refType, name string) {
	version = strings.TrimSuffix(version, "+incompatible")
	if m := goPseudoRE.FindStringSubmatch(version); m != nil {
		return refCommit, m[1]
	}
	return refTag, path.Join(sub, version)
}
