package restapi

import (
	"path/filepath"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// clientKeys are the keys below which clients of the Model Context Protocol keep
// their servers.
var clientKeys = []string{"mcpServers", "servers", "context_servers"}

// ofClient returns the servers that a client's file names, nil when it is none.
func ofClient(doc *yaml.Node) *yaml.Node {
	if doc == nil || doc.Kind != yaml.MappingNode {
		return nil
	}
	for _, key := range clientKeys {
		if n := member(doc, key); n != nil && n.Kind == yaml.MappingNode {
			return n
		}
	}
	return nil
}

// importClient makes an API of each server in the file of a client, such as
// .mcp.json. Credentials in it are replaced by references.
func importClient(name string, servers *yaml.Node) (*Imported, error) {
	im := &Imported{Secrets: map[string]Ref{}}
	for i := 0; i+1 < len(servers.Content); i += 2 {
		said, v := servers.Content[i].Value, servers.Content[i+1]
		code := slug(said)
		if v.Kind != yaml.MappingNode || slices.Contains(im.Codes, code) {
			im.Notes = append(im.Notes, "the server "+clip(said, 60)+" is left out: it has no keys and values, or its name twice")
			continue
		}
		n := mapping("code", code)
		if said != code {
			n.Content = append(n.Content, scalar("name"), scalar(said))
		}
		switch url, command := valueOf(v, "url"), valueOf(v, "command"); {
		case valueOf(v, "type") == "sse":
			im.Notes = append(im.Notes, "the server "+said+" is left out: it speaks the older protocol of server-sent events, which is not spoken here")
			continue
		case url != "":
			n.Content = append(n.Content, scalar("mcp"), scalar(url))
			im.clientHeaders(n, code, member(v, "headers"))
		case command == "":
			im.Notes = append(im.Notes, "the server "+said+" is left out: it has neither a command nor an address")
			continue
		case strings.TrimSuffix(filepath.Base(command), ".exe") == "knowledge":
			im.Notes = append(im.Notes, "the server "+said+" is left out: it is this program")
			continue
		default:
			n.Content = append(n.Content, scalar("mcp"), im.clientProgram(code, command, v))
		}
		im.nodes, im.Codes = append(im.nodes, n), append(im.Codes, code)
	}
	if len(im.nodes) == 0 {
		return nil, kb.Errorf(kb.Invalid, "%s names no server that can be declared: %s", name, strings.Join(im.Notes, "; ")).WithHint(seeDocs)
	}
	return im, im.check(name)
}

func (im *Imported) clientProgram(code, command string, v *yaml.Node) *yaml.Node {
	list := []string{command}
	if args := member(v, "args"); args != nil {
		for _, a := range args.Content {
			list = append(list, a.Value)
		}
	}
	if slices.ContainsFunc(list, credential.MatchString) {
		im.Notes = append(im.Notes, "a credential in the command of "+code+" was not stored: give it to the program by a variable, below environment")
		for i := range list {
			list[i] = credential.ReplaceAllString(list[i], Redacted)
		}
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{scalar("command"), words(list)}}
	if dir := valueOf(v, "cwd"); filepath.IsAbs(dir) {
		n.Content = append(n.Content, scalar("directory"), scalar(dir))
	}
	env := mapping()
	if vars := member(v, "env"); vars != nil {
		for i := 0; i+1 < len(vars.Content); i += 2 {
			key, value := vars.Content[i].Value, vars.Content[i+1].Value
			if ref, ok := clientRef(value); ok {
				value, im.Secrets[code+", variable "+key] = ref.String(), ref
			} else if secretName(key) || credential.MatchString(value) {
				ref := Ref{Env: key}
				value, im.Secrets[code+", variable "+key] = ref.String(), ref
				im.Notes = append(im.Notes, "the value of the variable "+key+" of "+code+" was not stored")
			}
			env.Content = append(env.Content, scalar(key), scalar(value))
		}
	}
	if len(env.Content) > 0 {
		n.Content = append(n.Content, scalar("environment"), env)
	}
	return n
}

func (im *Imported) clientHeaders(n *yaml.Node, code string, heads *yaml.Node) {
	if heads == nil {
		return
	}
	custom := mapping()
	for i := 0; i+1 < len(heads.Content); i += 2 {
		key, value := heads.Content[i].Value, heads.Content[i+1].Value
		token, bearer := strings.CutPrefix(value, "Bearer ")
		if strings.EqualFold(key, "Authorization") && bearer {
			ref, ok := clientRef(token)
			if !ok {
				ref = Ref{Env: envFor(code, "TOKEN")}
				im.Notes = append(im.Notes, "the token of "+code+" was not stored")
			}
			im.Secrets[code] = ref
			n.Content = append(n.Content, scalar("authenticationType"), scalar(AuthBearer), scalar("apiKeyValue"), scalar(ref.String()))
			continue
		}
		if ref, ok := clientRef(value); ok {
			value, im.Secrets[code+", header "+key] = ref.String(), ref
		} else if secretName(key) || credential.MatchString(value) {
			ref := Ref{Env: envFor(code, strings.ToUpper(nonWord.ReplaceAllString(key, "_")))}
			value, im.Secrets[code+", header "+key] = ref.String(), ref
			im.Notes = append(im.Notes, "the value of the header "+key+" of "+code+" was not stored")
		}
		custom.Content = append(custom.Content, scalar(key), scalar(value))
	}
	if len(custom.Content) > 0 {
		n.Content = append(n.Content, scalar("customHeaders"), custom)
	}
}

var clientVariable = lazyregexp.New(`^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}$`)

// clientRef reads a reference to a variable as clients write them.
func clientRef(s string) (Ref, bool) {
	if m := clientVariable.FindStringSubmatch(strings.TrimSpace(s)); m != nil {
		return Ref{Env: m[1]}, true
	}
	return Ref{}, false
}
