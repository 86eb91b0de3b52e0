package restapi_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
)

// signature computes the signature of a request from Amazon's description of version
// 4 ("Create a signed AWS API request"), to compare with that of the library.
func signature(r *http.Request, body []byte, secret string) (string, error) {
	var scope, signed, got string
	for _, part := range strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ", ") {
		switch k, v, _ := strings.Cut(part, "="); k {
		case "Credential":
			_, scope, _ = strings.Cut(v, "/")
		case "SignedHeaders":
			signed = v
		case "Signature":
			got = v
		}
	}
	sum := func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
	mac := func(key []byte, s string) []byte {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(s))
		return m.Sum(nil)
	}
	var query []string
	for k, list := range r.URL.Query() {
		for _, v := range list {
			query = append(query, strings.ReplaceAll(url.QueryEscape(k), "+", "%20")+"="+strings.ReplaceAll(url.QueryEscape(v), "+", "%20"))
		}
	}
	slices.Sort(query)
	heads := ""
	for _, h := range strings.Split(signed, ";") {
		v := r.Header.Get(h)
		switch h {
		case "host":
			v = r.Host
		case "content-length":
			v = fmt.Sprint(r.ContentLength)
		}
		heads += h + ":" + strings.TrimSpace(v) + "\n"
	}
	canonical := strings.Join([]string{r.Method, (&url.URL{Path: r.URL.EscapedPath()}).EscapedPath(), strings.Join(query, "&"), heads, signed, sum(body)}, "\n")
	toSign := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + sum([]byte(canonical))
	key := []byte("AWS4" + secret)
	for _, part := range strings.Split(scope, "/") {
		key = mac(key, part)
	}
	if want := hex.EncodeToString(mac(key, toSign)); want != got {
		return scope, fmt.Errorf("signature %s, want %s of\n%s", got, want, canonical)
	}
	return scope, nil
}

// TestSigV4: requests carry the signature that Amazon describes, and nothing of the
// keys stands in replies or definitions.
func TestSigV4(t *testing.T) {
	const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		scope, err := signature(r, body, secret)
		if err != nil || !strings.HasSuffix(scope, "/eu-west-1/execute-api/aws4_request") || r.Header.Get("X-Amz-Security-Token") != "session-of-an-hour" {
			t.Errorf("%s %v %v", scope, err, r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"auth":%q,"key":%q}`, r.Header.Get("Authorization"), secret)
	}))
	defer ts.Close()
	text := "apis:\n  - code: a\n    baseUrl: " + ts.URL + "/stage\n    authenticationType: AWS_SIGV4\n    awsRegion: eu-west-1\n    awsService: execute-api\n" +
		"    accessKeyId: ${ID}\n    apiKeyValue: ${KEY}\n    sessionToken: ${SESSION}\n" +
		"    tools:\n      - {code: get, endpointPath: '/a/{x}', parameters: [{name: x}, {name: q}, {name: b}]}\n      - {code: post, httpMethod: POST, endpointPath: /p, parameters: [{name: v}]}\n"
	f, err := restapi.Parse("apis.yaml", []byte(text))
	if err != nil || len(f.Problems) > 0 {
		t.Fatal(err, f.Problems)
	}
	c := &restapi.Caller{Client: func(*restapi.Provider) (restapi.Client, error) { return direct{}, nil },
		Secrets: &restapi.Resolver{Env: func(n string) string {
			return map[string]string{"ID": "AKIDEXAMPLE", "KEY": secret, "SESSION": "session-of-an-hour"}[n]
		}}}
	p := f.Providers[0]
	for i, args := range []string{`{"x":"é y","q":"a b&c","b":"1"}`, `{"v":"ñ"}`} {
		r, err := c.Call(t.Context(), p, &p.Tools[i], json.RawMessage(args))
		if err != nil || strings.Contains(string(r.JSON), secret) || strings.Contains(string(r.JSON), "AKIDEXAMPLE") {
			t.Errorf("%v %+v", err, r)
		}
	}
	dry, err := c.Dry(t.Context(), p, &p.Tools[1], json.RawMessage(`{"v":"x"}`))
	if b, _ := json.Marshal(dry); err != nil || strings.Contains(string(b), secret) || strings.Contains(string(b), "AKIDEXAMPLE") {
		t.Errorf("%v %s", err, b)
	}
	f, err = restapi.Parse("apis.yaml", []byte(strings.Replace(text, "${ID}", "AKIDEXAMPLE", 1)))
	if err != nil || len(f.Problems) == 0 || strings.Contains(fmt.Sprint(f.Problems), "AKIDEXAMPLE") {
		t.Errorf("%v %v", err, f.Problems)
	}
}
