package command_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

type in struct {
	Name   string          `json:"name" arg:"1" help:"a name"`
	Mode   string          `json:"mode,omitempty" enum:"hybrid|vector|fts" help:"how"`
	Limit  int             `json:"limit,omitempty" default:"20" help:"at most this many"`
	Ratio  float64         `json:"ratio,omitempty"`
	Cut    *float64        `json:"cut"`
	Force  bool            `json:"force,omitempty"`
	Stores []string        `json:"stores,omitempty" help:"which stores"`
	Args   json.RawMessage `json:"args,omitempty"`
	Secret string          `json:"secret,omitempty" cli:"only"`
}

// echo returns what it was given.
var echo = command.New("echo", "Return what is given", command.Reads,
	func(_ context.Context, _ *app.App, v in) (in, error) { return v, nil })

func ptr(x float64) *float64 { return &x }

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		args string
		want in
	}{
		{`{"name":"a"}`, in{Name: "a", Limit: 20}},
		{`{"name":"a","limit":null,"cut":null,"stores":null}`, in{Name: "a", Limit: 20}},
		{`{"name":"a","limit":"10"}`, in{Name: "a", Limit: 10}},
		{`{"name":"a","limit":1e1}`, in{Name: "a", Limit: 10}},
		{`{"name":"a","limit":3,"ratio":0.5,"cut":0,"force":"true"}`, in{Name: "a", Limit: 3, Ratio: .5, Cut: ptr(0), Force: true}},
		{`{"name":"a","mode":"fts"}`, in{Name: "a", Mode: "fts", Limit: 20}},
		{`{"name":"a","mode":""}`, in{Name: "a", Limit: 20}},
		{`{"name":"a","stores":["x","y"]}`, in{Name: "a", Limit: 20, Stores: []string{"x", "y"}}},
		{`{"name":"a","stores":"x"}`, in{Name: "a", Limit: 20, Stores: []string{"x"}}},
		{`{"name":"a","stores":"[\"x\",\"y\"]"}`, in{Name: "a", Limit: 20, Stores: []string{"x", "y"}}},
		{`{"name":"a","args":{"b":[1]}}`, in{Name: "a", Limit: 20, Args: json.RawMessage(`{"b":[1]}`)}},
		{`{"name":"a","args":"{\"b\":1}"}`, in{Name: "a", Limit: 20, Args: json.RawMessage(`{"b":1}`)}},
		{`{"name":"a","args":""}`, in{Name: "a", Limit: 20}},
	} {
		got, err := echo.Run(context.Background(), nil, json.RawMessage(tc.args))
		if err != nil {
			t.Errorf("%s: %v", tc.args, err)
			continue
		}
		if d := cmp.Diff(tc.want, got.(in)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.args, d)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	long := strings.Repeat("x", 500)
	for _, tc := range []struct {
		args, message, hint string
		code                kb.Code
	}{
		{``, `echo needs the argument "name"`, `name: a name`, kb.Invalid},
		{`null`, `echo needs the argument "name"`, `name: a name`, kb.Invalid},
		{`{"name":"  "}`, `argument "name" of echo is empty`, `name: a name`, kb.Invalid},
		{`{"name":"a","limt":3}`, `echo has no argument "limt"`, `did you mean "limit"?`, kb.Invalid},
		{`{"Name":"a"}`, `echo has no argument "Name"`, `did you mean "name"?`, kb.Invalid},
		{`{"name":"a","zzz":1}`, `echo has no argument "zzz"`, `it takes: name, mode, limit, ratio, cut, force, stores, args`, kb.Invalid},
		{`{"name":"a","limit":"ten"}`, `argument "limit" must be a whole number, not the string "ten"`, `limit: at most this many`, kb.Invalid},
		{`{"name":"a","limit":1.5}`, `argument "limit" must be a whole number, not 1.5`, ``, kb.Invalid},
		{`{"name":"a","limit":1e99}`, `argument "limit" must be a whole number, not 1e99`, ``, kb.Invalid},
		{`{"name":"a","limit":[1]}`, `argument "limit" must be a whole number, not a list`, ``, kb.Invalid},
		{`{"name":"a","limit":"NaN"}`, `argument "limit" must be a whole number`, ``, kb.Invalid},
		{`{"name":"a","ratio":true}`, `argument "ratio" must be a number, not true`, `give it as a number`, kb.Invalid},
		{`{"name":"a","force":1}`, `argument "force" must be true or false, not 1`, ``, kb.Invalid},
		{`{"name":7}`, `argument "name" must be a string, not 7`, ``, kb.Invalid},
		{`{"name":"a","mode":"hybird"}`, `argument "mode" must be one of hybrid, vector, fts, not "hybird"`, `did you mean "hybrid"?`, kb.Invalid},
		{`{"name":"a","mode":"qqqqqq"}`, `argument "mode" must be one of`, `choose one`, kb.Invalid},
		{`{"name":"a","stores":{}}`, `argument "stores" must be a list of strings, not an object`, `which stores`, kb.Invalid},
		{`{"name":"a","stores":["x",3]}`, `argument "stores" must be a list of strings, and 3 is not one`, ``, kb.Invalid},
		{`{"name":"a","args":[1]}`, `argument "args" must be an object, not a list`, ``, kb.Invalid},
		{`{"name":"a","args":"{"}`, `argument "args" must be an object`, ``, kb.Invalid},
		{`{"name":"a","secret":"x"}`, `argument "secret" of echo is for the command line only`, `leave it out`, kb.Denied},
		{`{"name":"a"`, `the arguments of echo are not valid JSON`, `send a JSON object`, kb.Invalid},
		{`[1]`, `the arguments of echo must be an object, not a list`, ``, kb.Invalid},
		{`"x"`, `the arguments of echo must be an object, not the string "x"`, ``, kb.Invalid},
		{`{"name":"a","` + long + `":1}`, `echo has no argument "xxx`, `it takes`, kb.Invalid},
		{`{"name":"` + strings.Repeat("x", command.MaxRequest) + `"}`, `over the limit of 1048576`, `send less`, kb.TooLarge},
	} {
		show := tc.args[:min(len(tc.args), 60)]
		_, err := echo.Run(context.Background(), nil, json.RawMessage(tc.args))
		if err == nil {
			t.Errorf("%s: no error", show)
			continue
		}
		if kb.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.message) || !strings.Contains(kb.HintOf(err), tc.hint) || kb.HintOf(err) == "" {
			t.Errorf("%s: %s: %v\n  hint: %s", show, kb.CodeOf(err), err, kb.HintOf(err))
		}
		if len(err.Error()) > 200 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the message is long: %v", show, err)
		}
	}
}

func TestFromCLI(t *testing.T) {
	got, err := echo.Run(command.FromCLI(context.Background()), nil, json.RawMessage(`{"name":"a","secret":"s"}`))
	if err != nil || got.(in).Secret != "s" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestSchema(t *testing.T) {
	want := `{"type":"object","properties":{"name":{"type":"string"},"mode":{"type":"string","enum":["hybrid","vector","fts"]},` +
		`"limit":{"type":"integer"},"ratio":{"type":"number"},"cut":{"type":"number"},"force":{"type":"boolean"},` +
		`"stores":{"type":"array","items":{"type":"string"}},"args":{"type":"object"}},"required":["name"]}`
	if d := cmp.Diff(want, string(echo.Schema())); d != "" {
		t.Error(d)
	}
}

func TestRender(t *testing.T) {
	if got := printer.Render(command.Message{Message: "a < b"}); got != "a < b" {
		t.Errorf("text: %s", got)
	}
	if got := printer.Render(map[string]string{"k": "a<b>&c"}); got != `{"k":"a<b>&c"}` {
		t.Errorf("json: %s", got)
	}
}

// FuzzArguments: whatever is sent, decoding ends with a value or with one
// short sentence and a hint.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"name":"a","limit":"1","stores":"[]","args":"{}"}`, ` { "cut" : null , "name" : "\ud800" } `, `[]`, `{"name":""`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		_, err := echo.Run(context.Background(), nil, args)
		if err == nil {
			return
		}
		if code := kb.CodeOf(err); code == kb.Internal || code == kb.Canceled {
			t.Errorf("%q: %s %v", args, code, err)
		}
		if kb.HintOf(err) == "" || len(err.Error()) > 400 {
			t.Errorf("%q: %v (%s)", args, err, kb.HintOf(err))
		}
	})
}
