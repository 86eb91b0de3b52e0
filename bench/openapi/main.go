// Command openapi imports public OpenAPI documents as declared APIs and checks
// what comes of each: that the definitions are read back without a fault, that
// the schema of every tool is one, and how long it took.
//
//	openapi [-out DIR] [FILE|URL …]
//
// Without arguments a few documents of well-known services are fetched; what
// cannot be is skipped, and said.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

var documents = []string{
	"https://raw.githubusercontent.com/swagger-api/swagger-petstore/master/src/main/resources/openapi.yaml",
	"https://raw.githubusercontent.com/OAI/OpenAPI-Specification/main/_archive_/schemas/v3.0/pass/uspto.yaml",
	"https://raw.githubusercontent.com/discord/discord-api-spec/main/specs/openapi.json",
	"https://raw.githubusercontent.com/github/rest-api-description/main/descriptions/api.github.com/api.github.com.json",
	"https://raw.githubusercontent.com/stripe/openapi/master/openapi/spec3.json",
}

func main() {
	out := flag.String("out", "bench/runs", "folder of the report")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func run(out string, args []string) error {
	if len(args) == 0 {
		args = documents
	}
	var r lab.Report
	r.Printf("# Public OpenAPI documents as declared APIs\n\n%s, %s.\n\n    .ci/extra openapi\n\n", time.Now().Format(time.DateOnly), lab.Machine())
	rows := [][]string{{"document", "KB", "tools", "parameters", "enabled", "schemas that are none", "faults", "ms"}}
	var notes, bad []string
	for _, a := range args {
		text, err := read(a)
		if err != nil {
			fmt.Printf("skipped %s: %v\n", a, err)
			notes = append(notes, fmt.Sprintf("skipped: %s (%v)", path.Base(a), err))
			continue
		}
		row, said, err := measure(a, text)
		if err != nil {
			bad = append(bad, fmt.Sprintf("%s: %v (%s)", name(a), err, kb.HintOf(err)))
			continue
		}
		rows = append(rows, row)
		for _, s := range said {
			notes = append(notes, name(a)+": "+s)
		}
	}
	if len(rows) == 1 && len(bad) == 0 {
		fmt.Println("skipped: no document could be had; give files or URLs")
		return nil
	}
	r.Table(rows...)
	for _, n := range append(bad, notes...) {
		r.Printf("- %s\n", n)
	}
	fmt.Print(r.String())
	p, err := r.Write(out, "openapi")
	if err != nil {
		return err
	}
	fmt.Println("written to", p)
	if len(bad) > 0 {
		return errors.New(strings.Join(bad, "; "))
	}
	return nil
}

func name(a string) string {
	return path.Base(path.Dir(a)) + "/" + path.Base(a)
}

func read(a string) ([]byte, error) {
	if !strings.Contains(a, "://") {
		return os.ReadFile(a)
	}
	c, err := outbound.New(outbound.Policy{MaxBytes: restapi.MaxOpenAPI, Timeout: 2 * time.Minute})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	req, err := http.NewRequest(http.MethodGet, a, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(context.Background(), req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	return io.ReadAll(resp.Body)
}

func measure(a string, text []byte) (row, notes []string, err error) {
	start := time.Now()
	im, err := restapi.ImportOpenAPI(name(a), text, restapi.ImportOptions{})
	if err != nil {
		return nil, nil, err
	}
	merged, _, err := restapi.Merge("apis.yaml", nil, im)
	if err != nil {
		return nil, nil, err
	}
	took := time.Since(start)
	f, err := restapi.Parse("apis.yaml", merged)
	if err != nil {
		return nil, nil, err
	}
	tools, params, enabled, wrong := 0, 0, 0, 0
	for _, p := range f.Providers {
		for i := range p.Tools {
			t := &p.Tools[i]
			tools++
			params += len(t.Params)
			if t.Enabled {
				enabled++
			}
			if err := check(t); err != nil {
				wrong++
				notes = append(notes, fmt.Sprintf("%s: %v", t.Code, err))
			}
		}
	}
	if wrong > 0 || len(f.Problems) > 0 {
		err = fmt.Errorf("%d schemas are none, %d faults", wrong, len(f.Problems))
	}
	itoa := strconv.Itoa
	return []string{name(a), itoa(len(text) >> 10), itoa(tools), itoa(params), itoa(enabled), itoa(wrong), itoa(len(f.Problems)), lab.Ms(took)}, append(notes, im.Notes...), err
}

// check compiles a tool's schema and validates its example by it.
func check(t *restapi.Tool) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(t.Schema())))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", doc); err != nil {
		return err
	}
	s, err := c.Compile("tool.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(t.Example())))
	if err != nil {
		return err
	}
	return s.Validate(v)
}
