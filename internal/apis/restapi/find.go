package restapi

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Find returns the tool that a name means among the providers: its code, or
// its display name when no other tool has that. The hint of the error names
// the nearest code.
func Find(all []*Provider, name string) (*Provider, *Tool, error) {
	var codes []string
	var of *Provider
	var byName []*Tool
	for _, p := range all {
		for j := range p.Tools {
			t := &p.Tools[j]
			if t.Code == name {
				return p, t, nil
			}
			codes = append(codes, t.Code)
			if strings.EqualFold(t.Name, name) {
				of, byName = p, append(byName, t)
			}
		}
	}
	if len(byName) == 1 {
		return of, byName[0], nil
	}
	err := kb.Errorf(kb.NotFound, "no declared API has a tool %q", clip(name, 60))
	if near := kb.Nearest(name, codes); near != "" {
		return nil, nil, err.WithHint("did you mean %q? \"apis\" lists them all", near)
	}
	return nil, nil, err.WithHint("\"apis\" lists them all")
}
