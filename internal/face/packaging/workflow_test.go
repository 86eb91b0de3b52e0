package packaging

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// TestWorkflow: what the workflow of a release does fits what the other files
// say of it: the GoReleaser that was tried, the image's name and tag, rights no
// wider than they must be.
func TestWorkflow(t *testing.T) {
	read := func(parts ...string) string {
		b, err := os.ReadFile(filepath.Join(append([]string{root}, parts...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	text := read(".github", "workflows", "release.yml")
	var w struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Steps       []struct {
				Uses, Run string
				With      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	if len(w.Jobs) != 1 || len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		t.Fatalf("%+v", w)
	}
	tried := regexp.MustCompile(`goreleaser/v2@(v[\d.]+)"`).FindStringSubmatch(read("bench", "release", "main.go"))
	did := map[string]string{}
	for _, s := range w.Jobs["release"].Steps {
		action, _, _ := strings.Cut(s.Uses, "@")
		switch action {
		case "goreleaser/goreleaser-action":
			if tried == nil || s.With["version"] != tried[1] {
				t.Errorf("GoReleaser %q is used, and %v tried", s.With["version"], tried)
			}
		case "docker/build-push-action":
			if s.With["file"] != "packaging/Dockerfile" || s.With["context"] != "dist/channels/docker" || !strings.HasPrefix(s.With["tags"], strings.TrimSuffix(Image, owner+"/"+name)+"${{ github.repository }}:") {
				t.Errorf("%+v", s.With)
			}
		}
		did[action+s.Run] = s.With["subject-checksums"]
	}
	for _, step := range []string{"sigstore/cosign-installer", "goreleaser/goreleaser-action", "go run ./cmd/releasefiles channels dist", "actions/attest-build-provenance", "docker/build-push-action"} {
		if _, ok := did[step]; !ok {
			t.Errorf("the workflow lacks %s", step)
		}
	}
}

// TestNpmLauncher tries packaging/npm/knowledge.js with a program that stands
// in, where there is Node.js: words, input, output, status and signal pass.
func TestNpmLauncher(t *testing.T) {
	onUnix(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no program node on the PATH")
	}
	platform, err := exec.Command(node, "-p", "process.platform + '-' + process.arch").Output()
	if err != nil {
		t.Skip("node does not run")
	}
	script, err := os.ReadFile(filepath.Join(root, "packaging", "npm", "knowledge.js"))
	if err != nil {
		t.Fatal(err)
	}
	scope := filepath.Join(t.TempDir(), "node_modules", "@"+owner)
	wrapper := filepath.Join(scope, name, "knowledge.js")
	write(t, wrapper, string(script), 0o755)
	write(t, filepath.Join(scope, name, "package.json"), string(npmWrapper("1.2.3")), 0o644)
	dependency := name + "-" + strings.TrimSpace(string(platform))
	run := func(stdin string, args ...string) (string, *os.ProcessState) {
		cmd := exec.Command(node, append([]string{wrapper}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState
	}

	missing, state := run("", "version")
	if state.ExitCode() != 1 || strings.Count(missing, "\n") != 1 || !strings.HasSuffix(missing, ": npm install @"+owner+"/"+dependency+"@1.2.3\n") {
		t.Errorf("without its program it says %q, %v", missing, state)
	}

	manifest, err := json.Marshal(map[string]string{"name": "@" + owner + "/" + dependency, "version": "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(scope, dependency, "package.json"), string(manifest), 0o644)
	write(t, filepath.Join(scope, dependency, name), "#!/bin/sh\n[ \"$1\" != die ] || kill -TERM $$\nprintf '<%s>' \"$@\"\ncat\nexit 7\n", 0o755)
	if out, state := run("from the input", "a b", "", "--c"); out != "<a b><><--c>from the input" || state.ExitCode() != 7 {
		t.Errorf("%q, %v", out, state)
	}
	if out, state := run("", "die"); !strings.Contains(state.String(), "terminated") {
		t.Errorf("the program ended by a signal, and the wrapper by %v: %s", state, out)
	}
}
