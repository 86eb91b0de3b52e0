// Command sbom writes the bill of materials of a program built by Go, as
// CycloneDX 1.5 in JSON, from what the linker wrote into the program:
//
//	sbom PROGRAM FILE
//
// The same program gives the same bytes: there is no time and no serial number.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM FILE")
		os.Exit(2)
	}
	b, err := bill(os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2], b, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// bill returns the document for the program at path.
func bill(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(f)
	if err != nil {
		return nil, err
	}
	d := document{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{component{
		Type: "application", Name: info.Main.Path, PURL: "pkg:golang/" + info.Main.Path,
		Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sum.Sum(nil))}},
	}}}
	for _, s := range info.Settings {
		d.Metadata.Component.Properties = append(d.Metadata.Component.Properties, property{"go:build:" + s.Key, s.Value})
	}
	toolchain := strings.TrimPrefix(info.GoVersion, "go")
	d.Components = []component{{Type: "library", Name: "std", Version: toolchain, PURL: "pkg:golang/std@" + toolchain}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.Components = append(d.Components, component{
			Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version,
			Properties: []property{{"go:sum", m.Sum}},
		})
	}
	b, err := json.MarshalIndent(d, "", "  ")
	return append(b, '\n'), err
}
