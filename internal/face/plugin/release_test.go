package plugin

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// releaseConfig is what this package checks of .goreleaser.yaml.
type releaseConfig struct {
	Version int
	Project string `yaml:"project_name"`
	Builds  []struct {
		Main, Binary        string
		Env, Flags, Ldflags []string
		Goos, Goarch        []string
		Hooks               struct{ Post []struct{ Cmd string } }
	}
	Archives []struct {
		NameTemplate string `yaml:"name_template"`
		Formats      []string
		Overrides    []struct {
			Goos    string
			Formats []string
		} `yaml:"format_overrides"`
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
		Algorithm    string
		Extra        []glob `yaml:"extra_files"`
	}
	Release struct {
		Draft bool
		Extra []glob `yaml:"extra_files"`
	}
	Signs []struct {
		Cmd, Artifacts string
		Args           []string
	}
	SBOMs []struct {
		Cmd       string
		Args      []string
		Documents []string
	} `yaml:"sboms"`
}

type glob struct{ Glob string }

func readRelease(t *testing.T) releaseConfig {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c releaseConfig
	if err := yaml.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRelease: releases are built as the launcher expects them.
func TestRelease(t *testing.T) {
	c := readRelease(t)
	if len(c.Builds) != 1 || len(c.Archives) != 1 || len(c.SBOMs) != 1 || c.Version != 2 {
		t.Fatalf("%+v", c)
	}
	b := c.Builds[0]
	for _, want := range []string{"linux", "darwin", "windows"} {
		if !slices.Contains(b.Goos, want) {
			t.Errorf("no build for %s", want)
		}
	}
	if !slices.Equal(b.Goarch, []string{"amd64", "arm64"}) || b.Binary != "knowledge" {
		t.Errorf("%+v", b)
	}
	for _, flag := range []string{"-trimpath", "-buildvcs=false"} {
		if !slices.Contains(b.Flags, flag) {
			t.Errorf("built without %s", flag)
		}
	}
	if !slices.Contains(b.Env, "CGO_ENABLED=0") {
		t.Error("built with cgo")
	}
	// The name as the launcher spells it.
	launcher, err := os.ReadFile(filepath.Join(root, "bin", "knowledge"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Archives[0].NameTemplate != "knowledge_{{ .Version }}_{{ .Os }}_{{ .Arch }}" || !bytes.Contains(launcher, []byte("archive=knowledge_${version}_${os}_$arch.tar.gz")) {
		t.Errorf("the launcher and the release name archives differently: %s", c.Archives[0].NameTemplate)
	}
	if !slices.Equal(c.Archives[0].Formats, []string{"tar.gz"}) || c.Checksum.NameTemplate != "checksums.txt" || c.Checksum.Algorithm != "sha256" {
		t.Errorf("%+v %+v", c.Archives[0], c.Checksum)
	}
	// What lies in the release besides archives has a checksum; the checksums are signed.
	more := []glob{{"./dist/bundles/*"}, {"./packaging/install.sh"}, {"./packaging/install.ps1"}}
	if !slices.Equal(c.Checksum.Extra, more) || !slices.Equal(c.Release.Extra, more) || !c.Release.Draft {
		t.Errorf("%+v %+v", c.Checksum, c.Release)
	}
	if h := b.Hooks.Post; len(h) != 1 || !strings.HasPrefix(h[0].Cmd, "go run ./cmd/releasefiles bundle ") || !strings.HasSuffix(h[0].Cmd, " dist/bundles") {
		t.Errorf("%+v", h)
	}
	if len(c.Signs) != 1 || c.Signs[0].Cmd != "cosign" || c.Signs[0].Artifacts != "checksum" || !slices.Contains(c.Signs[0].Args, "${artifact}") {
		t.Errorf("%+v", c.Signs)
	}
}

// buildIn builds the program with the flags of its release.
func buildIn(t *testing.T, source, to string, env ...string) string {
	t.Helper()
	b := readRelease(t).Builds[0]
	args := append([]string{"build"}, b.Flags...)
	args = append(args, "-ldflags="+strings.Join(b.Ldflags, " "), "-o", to, b.Main)
	cmd := exec.Command("go", args...)
	cmd.Dir = source
	cmd.Env = append(append(os.Environ(), b.Env...), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}

// TestReproducible builds the commit in two places, with $KNOWLEDGE_SOAK each
// with an empty cache: the programs are equal to the byte.
func TestReproducible(t *testing.T) {
	if os.Getenv("KNOWLEDGE_PROGRAM") == "" {
		t.Skip("two builds are tried by .ci/clients")
	}
	archive, err := exec.Command("git", "-C", root, "archive", "HEAD").Output()
	if err != nil {
		t.Skip("no git repository")
	}
	var built [][]byte
	for _, place := range []string{"one", "another place"} {
		dir := t.TempDir()
		source := filepath.Join(dir, place)
		if err := os.MkdirAll(source, 0o755); err != nil {
			t.Fatal(err)
		}
		untar := exec.Command("tar", "-x", "-C", source)
		untar.Stdin = bytes.NewReader(archive)
		if out, err := untar.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var env []string
		if os.Getenv("KNOWLEDGE_SOAK") != "" {
			env = append(env, "GOCACHE="+filepath.Join(dir, "cache"))
		}
		to := buildIn(t, source, filepath.Join(dir, "knowledge"), env...)
		b, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		built = append(built, b)
		info, err := buildinfo.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range info.Settings {
			if strings.HasPrefix(s.Key, "vcs") || strings.Contains(s.Value, dir) {
				t.Errorf("the program tells where it was built: %s=%s", s.Key, s.Value)
			}
		}
		if bytes.Contains(b, []byte(dir)) {
			t.Error("the program holds the name of the folder it was built in")
		}
	}
	if !bytes.Equal(built[0], built[1]) {
		t.Error("two builds of one commit differ")
	}
	t.Logf("%d bytes each", len(built[0]))
}
