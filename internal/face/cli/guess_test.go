package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/face/cli"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// TestForeignWords: what users of other programs type is answered with the line
// that was meant, and a line that only reads runs.
func TestForeignWords(t *testing.T) {
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	root := t.TempDir()
	data, dir := filepath.Join(root, "data"), filepath.Join(root, "ky")
	for name, text := range map[string]string{
		"ky/a.go":     "package a\n\ntype Session struct{}\n\n// Get gets.\nfunc (s *Session) Get() string { return redirect() }\n\nfunc redirect() string { return \"(x\" }\n",
		"ky/lib/b.py": "def redirect(x):\n    return x\n",
		"other/c.md":  "# Other\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	typed := func(args ...string) (status int, out, errs string) {
		var stdout, stderr bytes.Buffer
		status = cli.Run(context.Background(), faces, cli.Env{Args: append([]string{"--data-dir", data}, args...), Dir: dir,
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		return status, stdout.String(), stderr.String()
	}
	if status, _, errs := typed("store:create", "ky", "."); status != 0 {
		t.Fatal(errs)
	}
	for _, tc := range []struct{ typed, next string }{
		// words below a group
		{"store:remove ky", "did you mean: knowledge store:delete ky"},
		{"store:rm", "did you mean store:delete? see: knowledge store:delete --help"},
		{"store:drop ky", "did you mean: knowledge store:delete ky"},
		{"store:add x", "did you mean store:create? see: knowledge store:create --help"},
		{"store:new ../other", "did you mean: knowledge store:create ../other"},
		{"store:list", "did you mean: knowledge stores"},
		{"stores:list", "did you mean: knowledge stores"},
		{"stores list", "did you mean: knowledge stores"},
		{"job:list", "did you mean: knowledge jobs"},
		{"jobs ls", "did you mean: knowledge jobs"},
		{"job:stop x", "did you mean: knowledge job:cancel x"},
		{"job:show 1", "did you mean: knowledge job:status 1"},
		{"store remove ky", "did you mean: knowledge store:delete ky"},
		{"store swap ky ko", "list all with: knowledge help store"},
		{"store:swap ky ko", "list all with: knowledge help store"},
		// clients are no words
		{"install cursor", "did you mean: knowledge install --client cursor"},
		{"install cursor codex --dry-run", "did you mean: knowledge install --dry-run --client cursor,codex"},
		{"install ../other", "did you mean: knowledge install --project ../other"},
		{"install nope", "see which are here: knowledge clients"},
		{"uninstall cursor", "did you mean: knowledge uninstall --client cursor"},
		{"uninstall --purge cursor", "did you mean: knowledge uninstall --client cursor"},
		// ripgrep
		{"grep -C 3 redirect", ": knowledge grep redirect"},
		{"grep -C3 redirect", ": knowledge grep redirect"},
		{"grep -A 3 redirect", ": knowledge grep redirect"},
		{"grep --context=3 redirect", ": knowledge grep redirect"},
		{"grep redirect '*.py'", "did you mean: knowledge grep redirect --glob '*.py'"},
		{"grep redirect lib", "did you mean: knowledge grep redirect --glob 'lib/**'"},
		{"grep -l redirect", "each line begins with its file: knowledge grep redirect"},
		{"grep -rni redirect .", "it is not needed here: knowledge grep -i redirect"},
		{"grep -F 'redirect(x' a.go", `\Q and \E quote: knowledge grep '\Qredirect(x\E' --glob a.go`},
		{"grep -w redirect", `\b is the edge of a word: knowledge grep '\bredirect\b'`},
		{"grep -t py redirect", "files are chosen by --glob: knowledge grep redirect --glob '*.py'"},
		{"grep redirect a.go lib", "all files are searched, or those of --glob: knowledge grep redirect"},
		{"search redirect --glob '*.py'", ": knowledge search redirect"},
		{"search -C 3 redirect", ": knowledge search redirect"},
		{"--files", "did you mean: knowledge files"},
		{"files --type go", "files are chosen by --glob: knowledge files --glob '*.go'"},
		{"files -name '*.go'", "-n is --limit here; without it: knowledge files '*.go'"},
		// gh, docker, kubectl, npm and the usual tools
		{"get stores", "did you mean: knowledge stores"},
		{"describe store ky", "did you mean: knowledge store:info ky"},
		{"delete store ky", "did you mean: knowledge store:delete ky"},
		{"logs job 1", "did you mean: knowledge job:status 1"},
		{"repo clone https://example.org/a/b", "did you mean: knowledge store:create https://example.org/a/b"},
		{"images", "did you mean: knowledge stores"},
		{"inspect ky", "did you mean: knowledge store:info ky"},
		{"stores ky", "did you mean: knowledge store:info ky"},
		{"jobs 1", "did you mean: knowledge job:status 1"},
		{"store:delete ky -f", "did you mean: knowledge store:delete ky"},
		{"store:delete ky other", "one at a time: knowledge store:delete ky"},
		{"list_jobs", "did you mean: knowledge jobs"},
		{"tail a.go", "did you mean: knowledge read a.go"},
		{"read a.go 1-3", "did you mean: knowledge read a.go --lines 1-3"},
		{"read a.go -n 3", "lines are chosen by --lines: knowledge read a.go --lines 1-3"},
		{"show a.go#L6", "did you mean: knowledge show a.go:6"},
		{"show a.go#L6-L8", "did you mean: knowledge show a.go:6-8"},
		{"serve --port 8080", "the address is one flag: knowledge serve --addr 127.0.0.1:8080"},
		{"mcp --port 3000", "over HTTP the address is one flag: knowledge mcp --http 127.0.0.1:3000"},
		{"mcp --stdio", ": knowledge mcp"},
		{"-V", "did you mean: knowledge --version"},
		// code
		{"code:callers Sesion.get", "did you mean Session.Get? ask for it with: knowledge code:callers Session.Get"},
		{"code:references redirct -s ky", "did you mean redirect? ask for it with: knowledge code:references redirect --stores ky"},
	} {
		words, err := command.Words(tc.typed)
		if err != nil {
			t.Fatal(err)
		}
		status, out, errs := typed(words...)
		errs = strings.ReplaceAll(errs, " --data-dir "+kb.ShellWord(data), "")
		lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
		if status == 0 || out != "" || len(lines) != 2 || !strings.HasSuffix(lines[1], tc.next) {
			t.Errorf("%s: %d %s%s want %s", tc.typed, status, out, errs, tc.next)
			continue
		}
		_, next, _ := strings.Cut(tc.next, ": knowledge ")
		if words, err = command.Words(next); err != nil {
			t.Fatal(err)
		}
		c, err := product.Commands().Find(words[0])
		if err != nil || c.Effect != command.Reads || c.Name == "job:status" { // of no such job
			continue
		}
		if status, _, errs := typed(words...); status != 0 {
			t.Errorf("%s: %s: %d %s", tc.typed, next, status, errs)
		}
	}
}

// TestNoCallees: a declaration that calls nothing known is no callee of itself.
func TestNoCallees(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nfunc leaf() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := terminal(t, data, dir, "search", "leaf"); status != 0 {
		t.Fatal(errs)
	}
	for _, what := range []string{"code:callees", "code:callers", "code:references"} {
		status, out, errs := terminal(t, data, dir, "--format", "plain", what, "leaf")
		if status != 0 || out != "" || !strings.Contains(errs, "none are known") {
			t.Errorf("%s: %d %q %q", what, status, out, errs)
		}
	}
	if _, out, _ := terminal(t, data, dir, "--format", "plain", "code:definition", "leaf"); !strings.Contains(out, "a.go:L3") {
		t.Error(out)
	}
}
