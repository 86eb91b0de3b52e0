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
	"regexp"
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
	rows := [][]string{{"document", "KB", "operations", "carried whole", "with a loss", "left out", "parameters", "schemas that are none", "examples that fit", "ms"}}
	var notes, bad []string
	for _, a := range args {
		text, err := read(a)
		if err != nil {
			fmt.Printf("skipped %s: %v\n", a, err)
			notes = append(notes, fmt.Sprintf("skipped: %s (%v)", path.Base(a), err))
			continue
		}
		row, said, err := measure(a, text)
		for _, s := range said {
			notes = append(notes, name(a)+": "+s)
		}
		if err != nil {
			bad = append(bad, fmt.Sprintf("%s: %v (%s)", name(a), err, kb.HintOf(err)))
			continue
		}
		rows = append(rows, row)
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
	im, err := restapi.ImportOpenAPI(name(a), text, restapi.ImportOptions{From: "https://docs.example/openapi"})
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
	tools, params, wrong, fit := 0, 0, 0, 0
	for _, p := range f.Providers {
		for i := range p.Tools {
			t := &p.Tools[i]
			tools++
			params += len(t.Params)
			ok, err := check(t)
			if err != nil {
				wrong++
				notes = append(notes, fmt.Sprintf("%s: %v", t.Code, err))
			}
			if ok {
				fit++
			}
		}
	}
	if wrong > 0 || len(f.Problems) > 0 {
		err = fmt.Errorf("%d schemas are none, %d faults", wrong, len(f.Problems))
	}
	lossy, out := map[string]bool{}, 0
	for _, l := range im.Losses {
		notes = append(notes, "lost: "+l.String())
		if l.LeftOut {
			out++
		} else {
			lossy[l.Operation] = true
		}
	}
	all := tools + out
	whole := tools - len(lossy)
	itoa := strconv.Itoa
	return []string{name(a), itoa(len(text) >> 10), itoa(all), fmt.Sprintf("%d (%.1f %%)", whole, 100*float64(whole)/float64(max(1, all))), itoa(len(lossy)), itoa(out),
		itoa(params), itoa(wrong), itoa(fit), lab.Ms(took)}, append(notes, im.Notes...), err
}

// check compiles a tool's schema, and reports whether its example fits it.
func check(t *restapi.Tool) (fits bool, err error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(t.Schema())))
	if err != nil {
		return false, err
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(anyPattern)
	if err := c.AddResource("tool.json", doc); err != nil {
		return false, err
	}
	s, err := c.Compile("tool.json")
	if err != nil {
		return false, err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(t.Example())))
	if err != nil {
		return false, err
	}
	return s.Validate(v) == nil, nil
}

// anyPattern takes patterns in the dialect of JavaScript, which Go cannot compile, as
// ones that match everything.
func anyPattern(s string) (jsonschema.Regexp, error) {
	r, err := regexp.Compile(s)
	if err != nil {
		return everything(s), nil
	}
	return r, nil
}

type everything string

func (e everything) MatchString(string) bool { return true }
func (e everything) String() string          { return string(e) }
