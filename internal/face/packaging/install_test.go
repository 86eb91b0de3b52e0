package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

const installer = "packaging/install.sh"

// release is a stand-in for the server that releases lie on.
type release struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string][]byte // by path
}

// put adds a version whose program says what it is and what it was given.
// wrong changes the archive after its checksum was taken.
func (r *release) put(t *testing.T, version string, wrong bool) {
	t.Helper()
	archive := packed(t, tar.Header{Name: "knowledge"}, "#!/bin/sh\n[ \"$1\" != version ] || { echo knowledge "+version+"; exit; }\nprintf 'ran:'; printf ' <%s>' \"$@\"; echo\nexit 7\n")
	sum := sha256.Sum256(archive)
	if wrong {
		archive = append(archive, "one byte more"...)
	}
	r.serve(version, sum, archive)
}

// packed is an archive of a file, and a licence; the file is a program where h
// does not say otherwise.
func packed(t *testing.T, h tar.Header, text string) []byte {
	t.Helper()
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	h.Size, h.Mode = int64(len(text)), 0o644
	for _, f := range []struct {
		tar.Header
		text string
	}{{tar.Header{Name: "LICENSE", Size: 1, Mode: 0o644}, "l"}, {h, text}} {
		if err := w.WriteHeader(&f.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []interface{ Close() error }{w, z} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return archive.Bytes()
}

// serve adds a version with an archive for this machine and its checksum.
func (r *release) serve(version string, sum [sha256.Size]byte, archive []byte) {
	name := Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}.Archive(version)
	dir := "/v" + version + "/"
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[dir+"checksums.txt"] = []byte(strings.Repeat("0", 64) + "  another.tar.gz\n" + fmt.Sprintf("%x", sum) + "  " + name + "\n")
	r.files[dir+name] = archive
}

func newRelease(t *testing.T) *release {
	t.Helper()
	r := &release{files: map[string][]byte{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if req.URL.Path == "/redirect/v9.9.9/checksums.txt" {
			http.Redirect(w, req, "ftp://127.0.0.1/checksums.txt", http.StatusFound)
			return
		}
		if to, ok := strings.CutPrefix(req.URL.Path, "/onward/"); ok { // to the same files, in plain
			http.Redirect(w, req, r.URL+"/"+to, http.StatusFound)
			return
		}
		b, ok := r.files[req.URL.Path]
		if !ok {
			http.NotFound(w, req)
			return
		}
		_, _ = w.Write(b)
	}))
	t.Cleanup(r.Close)
	return r
}

// place is where the installer runs: a home and a PATH of chosen programs.
type place struct {
	home, bin string
	env       []string
}

// newPlace has the programs that every system has, besides those named.
func newPlace(t *testing.T, programs ...string) place {
	t.Helper()
	dir := t.TempDir()
	p := place{home: filepath.Join(dir, "home with spaces"), bin: filepath.Join(dir, "bin")}
	for _, d := range []string{p.home, p.bin} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range append(programs, "sh", "uname", "mkdir", "rm", "mv", "tar", "gzip", "chmod", "cat", "tail", "sed") {
		full, err := exec.LookPath(n)
		if err != nil {
			t.Skipf("no program %s on the PATH", n)
		}
		if err := os.Symlink(full, filepath.Join(p.bin, n)); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{"HOME=" + p.home, "PATH=" + p.bin, "LC_ALL=C"}
	return p
}

// program puts a script on the PATH of the place, in place of what is there.
func (p place) program(t *testing.T, name, script string) {
	t.Helper()
	path := filepath.Join(p.bin, name)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// install runs the script as a pipe from curl does: on the standard input.
func (p place) install(t *testing.T, args ...string) (said string, status int) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(installer)))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(p.bin, "sh"), append([]string{"-s", "--"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = filepath.Dir(p.home), p.env, bytes.NewReader(script)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// kept are the files below a folder.
func kept(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func onUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("install.sh is for Linux and macOS")
	}
}

// next finds the last line of a run that went well: what to type now.
var next = regexp.MustCompile(`(?m)^next, in a folder of yours: (.+)\n\z`)

func TestInstallScript(t *testing.T) {
	onUnix(t)
	r := newRelease(t)
	v := command.Version
	r.put(t, v, false)
	r.put(t, "9.9.8", true)
	r.files["/v9.9.7/checksums.txt"] = []byte(strings.Repeat("0", 64) + "  knowledge_9.9.7_plan9_386.tar.gz\n")
	archive := Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}.Archive(v)
	for version, b := range map[string][]byte{
		"9.9.1": packed(t, tar.Header{Name: "../knowledge"}, "#!/bin/sh\n"),
		"9.9.2": packed(t, tar.Header{Name: "knowledge", Typeflag: tar.TypeSymlink, Linkname: "/bin/sh"}, ""),
		"9.9.3": packed(t, tar.Header{Name: "knowledge/", Typeflag: tar.TypeDir}, ""),
		"9.9.4": packed(t, tar.Header{Name: "knowledge"}, "#!/bin/sh\n"+strings.Repeat("#", 1<<16))[:60],
	} {
		r.serve(version, sha256.Sum256(b), b)
	}

	for _, tt := range []struct {
		name     string
		programs []string // on the PATH besides the usual ones
		change   func(t *testing.T, p place)
		env      []string
		args     []string
		status   int
		want     []string // what is said, in this order
		kept     []string // files in the home afterwards
	}{
		{name: "with curl", programs: []string{"curl", "sha256sum"},
			want: []string{"installed knowledge " + v + " as ", "is not on your PATH; for this shell: export PATH='", "coding agents: '", "next, in a folder of yours: '"}, kept: []string{".local/bin/knowledge"}},
		{name: "no curl but wget", programs: []string{"wget", "sha256sum"},
			want: []string{"installed knowledge " + v}, kept: []string{".local/bin/knowledge"}},
		{name: "neither", programs: []string{"sha256sum"}, status: 1,
			want: []string{"install.sh: neither curl nor wget is there to fetch " + r.URL + "/v" + v + "/checksums.txt; install one of them"}},
		{name: "neither, with a package manager", programs: []string{"sha256sum"}, status: 1,
			change: func(t *testing.T, p place) { p.program(t, "apk", "exit 1") },
			want:   []string{"neither curl nor wget", "install one of them: apk add curl\n"}},
		{name: "openssl for the checksum", programs: []string{"curl", "openssl"}, want: []string{"installed knowledge " + v}, kept: []string{".local/bin/knowledge"}},
		{name: "nothing for the checksum", programs: []string{"curl"}, status: 1, want: []string{"neither sha256sum, shasum nor openssl is there to check " + archive}},
		{name: "wrong checksum", programs: []string{"curl", "sha256sum"}, args: []string{"--version", "9.9.8"}, status: 1,
			want: []string{"install.sh: refused " + r.URL + "/v9.9.8/", "its SHA-256 is ", "; nothing was installed"}},
		{name: "no archive for this machine", programs: []string{"curl", "sha256sum"}, env: []string{"KNOWLEDGE_VERSION=v9.9.7"}, status: 1,
			want: []string{"version 9.9.7 has no archive for " + runtime.GOOS, ": go install github.com/seed-4f2d999b/knowledge/cmd/knowledge@v9.9.7\n"}},
		{name: "no such version", programs: []string{"curl", "sha256sum"}, args: []string{"--version=1.2.3"}, status: 1,
			want: []string{"cannot fetch " + r.URL + "/v1.2.3/checksums.txt (", "404"}},
		{name: "no such version, wget", programs: []string{"wget", "sha256sum"}, args: []string{"--version=1.2.3"}, status: 1,
			want: []string{"cannot fetch " + r.URL + "/v1.2.3/checksums.txt"}},
		{name: "another system", programs: []string{"curl", "sha256sum"}, change: func(t *testing.T, p place) { p.program(t, "uname", "echo Plan9") }, status: 1,
			want: []string{"there are no programs for Plan9 on Plan9; build it with Go: go install "}},
		{name: "windows", programs: []string{"curl"}, change: func(t *testing.T, p place) { p.program(t, "uname", "echo MINGW64_NT-10.0") }, status: 1,
			want: []string{"this is Windows; use its script: powershell "}},
		{name: "a file in the way", programs: []string{"curl", "sha256sum"}, args: []string{"--dir", "taken/bin"}, status: 1,
			change: func(t *testing.T, p place) { write(t, filepath.Join(filepath.Dir(p.home), "taken"), "x", 0o644) },
			want:   []string{"cannot make the folder ", "name one of yours: curl "}},
		{name: "a folder in the way", programs: []string{"curl", "sha256sum"}, args: []string{"--dir", "there"}, status: 1,
			change: func(t *testing.T, p place) {
				if err := os.MkdirAll(filepath.Join(filepath.Dir(p.home), "there", "knowledge"), 0o755); err != nil {
					t.Fatal(err)
				}
			},
			want: []string{"there/knowledge is a folder; name another place: curl "}},
		{name: "an older version", programs: []string{"curl", "sha256sum"},
			change: func(t *testing.T, p place) {
				write(t, filepath.Join(p.home, ".local/bin/knowledge"), "#!/bin/sh\necho knowledge 0.0.1\n", 0o755)
			},
			want: []string{"installed knowledge " + v, ", in place of knowledge 0.0.1\n"}, kept: []string{".local/bin/knowledge"}},
		{name: "a broken one", programs: []string{"curl", "sha256sum"},
			change: func(t *testing.T, p place) {
				write(t, filepath.Join(p.home, ".local/bin/knowledge"), "#!/bin/sh\nexit 3\n", 0o755)
			},
			want: []string{", in place of a program that did not start\n"}, kept: []string{".local/bin/knowledge"}},
		{name: "another one first on the PATH", programs: []string{"curl", "sha256sum"},
			change: func(t *testing.T, p place) { p.program(t, "knowledge", "echo knowledge 0.0.2") },
			want:   []string{"your PATH finds another one first, ", "to change that: export PATH='"}, kept: []string{".local/bin/knowledge"}},
		{name: "no home", programs: []string{"curl", "sha256sum"}, env: []string{"HOME="}, status: 1, want: []string{"there is no HOME to install into; name a folder: curl "}},
		{name: "a command at once", programs: []string{"curl", "sha256sum"}, args: []string{"search", "red lighthouse", "-n", "3"}, status: 7,
			want: []string{"installed knowledge " + v, "ran: <search> <red lighthouse> <-n> <3>\n"}, kept: []string{".local/bin/knowledge"}},
		{name: "no value", programs: []string{"curl"}, args: []string{"--dir"}, status: 1, want: []string{"--dir needs a value; give one: curl "}},
		{name: "no such option", programs: []string{"curl"}, args: []string{"--user"}, status: 1, want: []string{"there is no option --user; there are --version and --dir: curl "}},
		{name: "no version", programs: []string{"curl"}, args: []string{"--version", "../evil"}, status: 1, want: []string{`"../evil" is no version`}},
		{name: "plain http", programs: []string{"curl"}, env: []string{"KNOWLEDGE_RELEASE_URL=http://releases.example"}, status: 1,
			want: []string{"refused to fetch from http://releases.example: only https is safe", ": unset KNOWLEDGE_RELEASE_URL\n"}},
		{name: "http that looks like this machine", programs: []string{"curl"}, env: []string{"KNOWLEDGE_RELEASE_URL=http://127.0.0.1@releases.example/"}, status: 1, want: []string{"refused to fetch from "}},
		{name: "http that begins like this machine", programs: []string{"curl"}, env: []string{"KNOWLEDGE_RELEASE_URL=http://localhost.example/"}, status: 1, want: []string{"only https is safe"}},
		{name: "a redirect to another protocol", programs: []string{"curl", "sha256sum"}, args: []string{"--version", "9.9.9"}, env: []string{"KNOWLEDGE_RELEASE_URL=" + r.URL + "/redirect"}, status: 1, want: []string{"cannot fetch "}},
		{name: "a redirect to plain http", programs: []string{"curl", "sha256sum"}, env: []string{"KNOWLEDGE_RELEASE_URL=" + r.URL + "/onward"}, status: 1, want: []string{"cannot fetch "}},
		{name: "a name that leads out of the folder", programs: []string{"curl", "sha256sum"}, args: []string{"--version", "9.9.1"}, status: 1, want: []string{"cannot unpack "}},
		{name: "a link for a program", programs: []string{"curl", "sha256sum"}, args: []string{"--version", "9.9.2"}, status: 1, want: []string{"is no program but a link or a folder; nothing was installed"}},
		{name: "a folder for a program", programs: []string{"curl", "sha256sum"}, args: []string{"--version", "9.9.3"}, status: 1, want: []string{"is no program but a link or a folder; nothing was installed"}},
		{name: "an archive that was cut before it was summed", programs: []string{"curl", "sha256sum"}, args: []string{"--version", "9.9.4"}, status: 1, want: []string{"cannot unpack "}},
		{name: "quotes in the home", programs: []string{"curl", "sha256sum"},
			args: []string{"--dir", "it's \"a\" $(id) `place"}, want: []string{"installed knowledge " + v, "next, in a folder of yours: '"}},
		{name: "programs may not run there", programs: []string{"curl", "sha256sum"}, change: func(t *testing.T, p place) { p.program(t, "chmod", "exit 0") }, status: 1,
			want: []string{"the program does not start in ", "name another folder: curl "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.programs...)
			p.env = append(append(p.env, "KNOWLEDGE_RELEASE_URL="+r.URL+"/"), tt.env...)
			if tt.change != nil {
				tt.change(t, p)
			}
			said, status := p.install(t, tt.args...)
			if status != tt.status {
				t.Errorf("status %d, not %d", status, tt.status)
			}
			rest := said
			for _, w := range tt.want {
				_, after, ok := strings.Cut(rest, w)
				if !ok {
					t.Fatalf("it does not say %q, here or in this order:\n%s", w, said)
				}
				rest = after
			}
			if got := strings.Join(kept(t, p.home), " "); got != strings.Join(tt.kept, " ") {
				t.Errorf("it left %q", got)
			}
			if status == 1 && strings.Count(said, "\n") != 1 {
				t.Errorf("more than one line:\n%s", said)
			}
			if status != 0 {
				return
			}
			// The last line works when it is pasted.
			m := next.FindStringSubmatch(said)
			if m == nil {
				t.Fatalf("it does not end with what is next:\n%s", said)
			}
			cmd := exec.Command(filepath.Join(p.bin, "sh"), "-c", m[1]+" version")
			cmd.Env = p.env
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "knowledge "+v+"\n" {
				t.Errorf("%s: %v: %s", m[1], err, out)
			}
		})
	}
}

// On the PATH it is named by its name.
func TestInstallOnPath(t *testing.T) {
	onUnix(t)
	r := newRelease(t)
	r.put(t, command.Version, false)
	p := newPlace(t, "curl", "sha256sum")
	p.env = append(p.env, "KNOWLEDGE_RELEASE_URL="+r.URL, "KNOWLEDGE_INSTALL_DIR="+p.bin)
	want := "installed knowledge " + command.Version + " as " + p.bin + "/knowledge\nto give it to your coding agents: knowledge install\nnext, in a folder of yours: knowledge\n"
	if said, status := p.install(t); status != 0 || said != want {
		t.Errorf("%d: %s", status, said)
	}
}

// Half a script, as of a connection that broke, does nothing at all.
func TestInstallCutOff(t *testing.T) {
	onUnix(t)
	script, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(installer)))
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	for at := 200; at < len(script)-len("main \"$@\"\n"); at += 200 {
		cmd := exec.Command(filepath.Join(p.bin, "sh"))
		cmd.Env, cmd.Stdin = p.env, bytes.NewReader(script[:at])
		_ = cmd.Run() // a syntax error, or nothing
		if left := kept(t, p.home); left != nil {
			t.Fatalf("the first %d bytes made %v", at, left)
		}
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestShellcheck lints the script where the linter is installed.
func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("no program shellcheck on the PATH")
	}
	if out, err := exec.Command("shellcheck", filepath.Join(root, filepath.FromSlash(installer))).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// There is no PowerShell to try install.ps1 with: its steps are compared with
// this table, by what each cannot do without, and it is marked untried.
func TestPowerShellSteps(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "packaging", "install.ps1"))
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile(`(?m)^ +# (\d)\. `).Split(string(b), -1)
	want := [][]string{
		{"$ErrorActionPreference = 'Stop'"},
		{"$version = '" + command.Version + "'", "KNOWLEDGE_VERSION", "KNOWLEDGE_INSTALL_DIR", `$env:LOCALAPPDATA`},
		{"PROCESSOR_ARCHITEW6432", "'AMD64' { 'amd64' }", "'ARM64' { 'arm64' }", `"knowledge_${version}_windows_$arch.zip"`},
		{"KNOWLEDGE_RELEASE_URL", "'^https://[^@ ]+$'", "Tls12"},
		{`"$from/checksums.txt"`, `"$from/$archive"`},
		{"Get-FileHash -Algorithm SHA256", "if ($got -ne $want) { throw"},
		{"Expand-Archive", "version\n", "Move-Item -Force"},
		{"SetEnvironmentVariable('Path'", "$name install"},
	}
	if len(steps) != len(want) {
		t.Fatalf("%d steps, not %d", len(steps), len(want))
	}
	for i, words := range want {
		for _, w := range words {
			if !strings.Contains(steps[i], w) {
				t.Errorf("step %d lacks %s", i, w)
			}
		}
	}
	if open, closed := bytes.Count(b, []byte("{")), bytes.Count(b, []byte("}")); open != closed {
		t.Errorf("%d braces are opened and %d closed", open, closed)
	}
}
