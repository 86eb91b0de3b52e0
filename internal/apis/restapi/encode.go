package restapi

import (
	"bytes"
	"errors"
	"fmt"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// atOnce is how many tools are written at once. The encoder keeps all that it has
// to write until it ends, in a list that grows by copying: for the 1,123 operations of
// Kubernetes 190 MB, where the text has 4.
const atOnce = 50

// encode writes definitions, their long lists of tools piece by piece.
func encode(doc *yaml.Node) ([]byte, error) {
	var lists []*yaml.Node
	for _, at := range longLists(doc, 0) {
		list := *at
		lists = append(lists, list)
		*at = scalar(placeOf(len(lists) - 1))
		defer func() { *at = list }()
	}
	out, err := encodeNode(doc)
	if err != nil || len(lists) == 0 {
		return out, err
	}
	var b bytes.Buffer
	b.Grow(len(out) + 4<<20)
	next := 0
	for line := range bytes.Lines(out) {
		head, found := bytes.CutSuffix(bytes.TrimRight(line, "\n"), []byte(" "+placeOf(next)))
		if !found {
			b.Write(line)
			continue
		}
		b.Write(head)
		b.WriteByte('\n')
		margin := bytes.Repeat([]byte{' '}, bytes.IndexByte(head, 't')+2)
		for list := lists[next].Content; len(list) > 0; list = list[min(len(list), atOnce):] {
			piece, err := encodeNode(sequence(list[:min(len(list), atOnce)]...))
			if err != nil {
				return nil, err
			}
			for l := range bytes.Lines(piece) {
				if len(l) > 1 {
					b.Write(margin)
				}
				b.Write(l)
			}
		}
		next++
	}
	if next != len(lists) {
		return nil, kb.Errorf(kb.Internal, "the definitions cannot be written: %d of %d lists are missing", len(lists)-next, len(lists))
	}
	return b.Bytes(), nil
}

// placeOf stands for a list until it is written.
func placeOf(i int) string { return fmt.Sprintf("the-list-of-tools-%d-goes-here", i) }

// longLists returns where the lists of tools are that are written apart: of APIs as
// the program writes them, without comments of their own.
func longLists(n *yaml.Node, depth int) []**yaml.Node {
	if depth > 4 || n.Style&yaml.FlowStyle != 0 {
		return nil
	}
	var all []**yaml.Node
	for i, c := range n.Content {
		v := &n.Content[i]
		switch {
		case n.Kind == yaml.MappingNode && (i%2 == 0 || n.Content[i-1].Value != "apis" && n.Content[i-1].Value != "providers" && n.Content[i-1].Value != "tools"):
		case n.Kind == yaml.MappingNode && n.Content[i-1].Value == "tools":
			if c.Kind == yaml.SequenceNode && len(c.Content) > atOnce && c.Style&yaml.FlowStyle == 0 && c.HeadComment+c.LineComment+c.FootComment+c.Anchor == "" {
				all = append(all, v)
			}
		default:
			all = append(all, longLists(c, depth+1)...)
		}
	}
	return all
}

func encodeNode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(n), enc.Close()); err != nil {
		return nil, kb.Errorf(kb.Internal, "the definitions cannot be written: %w", err)
	}
	return b.Bytes(), nil
}
