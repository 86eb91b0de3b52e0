package plugin

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

var checksums = flag.String("binaries", "", "write plugin.json with the programs of this checksums file beside it")

// TestWriteBinaries is how a release job writes the manifest of its release:
//
//	go test ./internal/plugin -run TestWriteBinaries -binaries $PWD/dist/checksums.txt
func TestWriteBinaries(t *testing.T) {
	if *checksums == "" {
		t.Skip("for release jobs, with -binaries FILE")
	}
	sums, err := os.ReadFile(*checksums)
	if err != nil {
		t.Fatal(err)
	}
	b, err := WithBinaries(sums)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(*checksums), "plugin.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestWithBinaries: the manifest of a release is the committed one and the
// programs of every platform, by names that the client and both launchers know.
func TestWithBinaries(t *testing.T) {
	var sums strings.Builder
	for n, p := range triples {
		fmt.Fprintf(&sums, "%064x  knowledge_%s_%s_%s.tar.gz\n", n, command.Version, p.os, p.arch)
		fmt.Fprintf(&sums, "%064x  knowledge_%s_%s_%s%s\n", n+16, command.Version, p.os, p.arch, p.suffix)
	}
	got, err := WithBinaries([]byte(sums.String()))
	if err != nil {
		t.Fatal(err)
	}
	var with map[string]json.RawMessage
	if err := json.Unmarshal(got, &with); err != nil {
		t.Fatal(err)
	}
	var binaries map[string]struct{ SHA256 string }
	if err := json.Unmarshal(with["binaries"], &binaries); err != nil {
		t.Fatal(err)
	}
	delete(with, "binaries")
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	committed := files[".claude-plugin/plugin.json"]
	rest, err := json.Marshal(with)
	if err != nil {
		t.Fatal(err)
	}
	var want, have bytes.Buffer
	var sorted map[string]json.RawMessage
	if err := json.Unmarshal(committed, &sorted); err != nil {
		t.Fatal(err)
	}
	plain, _ := json.Marshal(sorted)
	if json.Compact(&want, plain) != nil || json.Compact(&have, rest) != nil || want.String() != have.String() {
		t.Errorf("the rest differs:\n%s\n%s", &have, &want)
	}
	if bytes.Contains(committed, []byte("binaries")) {
		t.Error("the committed manifest names binaries, which are those of no release")
	}
	name := regexp.MustCompile(`^[a-z0-9](?:[a-z0-9._-]*[a-z0-9_-])?$`) // what the client accepts
	for n, p := range triples {
		file := "knowledge-" + p.triple + p.suffix
		if b, ok := binaries[file]; !ok || b.SHA256 != fmt.Sprintf("%064x", n+16) || !name.MatchString(file) {
			t.Errorf("%s: %+v", file, b)
		}
		launcher := "bin/knowledge"
		spelled := strings.Replace(strings.Replace(p.triple, "x86_64", "$cpu", 1), "aarch64", "$cpu", 1)
		spelled = "/knowledge-" + strings.TrimSuffix(spelled, "musl")
		if p.os == "windows" {
			launcher, spelled = "bin/knowledge.cmd", `\`+file
		}
		if text, err := os.ReadFile(filepath.Join(root, launcher)); err != nil || !strings.Contains(string(text), spelled) {
			t.Errorf("%s does not look for %s (%v)", launcher, spelled, err)
		}
	}
	if len(binaries) != len(triples) {
		t.Errorf("%d binaries", len(binaries))
	}
	if _, err := WithBinaries([]byte("0000  x\n")); err == nil {
		t.Error("checksums of nothing are taken")
	}
}

// A program that the client fetched lies beside the launcher and goes before
// all others; that of another machine is no program.
func TestLauncherTakesWhatTheClientFetched(t *testing.T) {
	i := newInstall(t, nil, 0)
	i.write("bin/knowledge-sparc-unknown-linux-musl", "#!/bin/sh\necho wrong\n")
	if out, err := i.run("version"); err == nil {
		t.Errorf("a program for another machine ran: %s", out)
	}
	for _, p := range triples {
		if p.os != "windows" {
			i.write("bin/knowledge-"+p.triple, "#!/bin/sh\necho fetched by the client for "+p.arch+"\n")
		}
	}
	if out, err := i.run("version"); err != nil || !strings.HasPrefix(out, "fetched by the client for ") {
		t.Errorf("%v: %s", err, out)
	}
}
