package plugin

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// install is a copy of the launcher's files in a folder of their own.
type install struct {
	*testing.T
	dir  string
	env  []string
	gets atomic.Int32
	host *httptest.Server
}

// archiveName is the archive that the launcher of this machine asks for.
func archiveName() string {
	return fmt.Sprintf("knowledge_%s_%s_%s.tar.gz", command.Version, runtime.GOOS, runtime.GOARCH)
}

// newInstall installs the launcher, and a host that serves archive at the
// place of this version, after wait.
func newInstall(t *testing.T, archive []byte, wait time.Duration) *install {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		if _, err := exec.LookPath("wget"); err != nil {
			t.Skip("neither curl nor wget is there, one of which the launcher needs")
		}
	}
	i := &install{T: t, dir: filepath.Join(t.TempDir(), "my plugin")}
	for _, name := range []string{"bin/knowledge", ".claude-plugin/stub", ".claude-plugin/replies", ".claude-plugin/plugin.json"} {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		i.write(name, string(b))
	}
	i.host = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.gets.Add(1)
		if r.URL.Path != "/v"+command.Version+"/"+archiveName() {
			http.NotFound(w, r)
			return
		}
		time.Sleep(wait)
		_, _ = w.Write(archive)
	}))
	t.Cleanup(i.host.Close)
	i.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + i.dir + "/home", "KNOWLEDGE_RELEASE_URL=" + i.host.URL}
	return i
}

func (i *install) write(path, text string) {
	i.Helper()
	full := filepath.Join(i.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		i.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o755); err != nil {
		i.Fatal(err)
	}
}

// promise writes the checksum that the repository carries for this machine.
func (i *install) promise(archive []byte) {
	i.Helper()
	i.write(".claude-plugin/checksums.txt", fmt.Sprintf("%064x  knowledge_0.0.1_linux_amd64.tar.gz\n%x  %s\n", 0, sha256.Sum256(archive), archiveName()))
}

func (i *install) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(i.dir, "bin/knowledge"), args...)
	cmd.Env, cmd.Dir = i.env, i.dir
	return cmd
}

func (i *install) run(args ...string) (string, error) {
	out, err := i.command(args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// fetched is what is kept of a release.
var fetched = []string{"knowledge", "knowledge.sum"}

// programs returns what is installed below the place for programs.
func (i *install) programs(place string) []string {
	var names []string
	_ = filepath.WalkDir(filepath.Join(i.dir, place), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, filepath.Base(p))
		}
		return nil
	})
	return names
}

// packed is a release archive whose program is a script.
func packed(t *testing.T, script string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, text string }{{"LICENSE", "x"}, {"knowledge", "#!/bin/sh\n" + script}} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text)), Format: tar.FormatPAX}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLauncherFetches(t *testing.T) {
	archive := packed(t, `echo "$0 got $*"`)
	i := newInstall(t, archive, 0)
	i.promise(archive)
	for _, place := range []string{"home/.cache/knowledge/bin", "cache/knowledge/bin"} {
		for range 2 {
			out, err := i.run("search", "two words")
			if want := filepath.Join(i.dir, place, command.Version, "knowledge") + " got search two words"; err != nil || out != want {
				t.Fatalf("%v: %s, want %s", err, out, want)
			}
		}
		if got := i.programs(place); !slices.Equal(got, fetched) {
			t.Errorf("left in %s: %q", place, got)
		}
		i.env = append(i.env, "XDG_CACHE_HOME="+filepath.Join(i.dir, "cache"))
	}
	if n := i.gets.Load(); n != 2 {
		t.Errorf("fetched %d times, want once a place", n)
	}
}

// Where there is no curl, wget does.
func TestLauncherFetchesWithWget(t *testing.T) {
	archive := packed(t, `echo "got $*"`)
	i := newInstall(t, archive, 0)
	i.promise(archive)
	path := filepath.Join(i.dir, "path")
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"sh", "mkdir", "rm", "mv", "chmod", "uname", "tar", "gzip", "openssl", "wget", "stat", "find"} {
		at, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("no program %s on the PATH", tool)
		}
		if err := os.Symlink(at, filepath.Join(path, tool)); err != nil {
			t.Fatal(err)
		}
	}
	i.env = append(i.env, "PATH="+path)
	if out, err := i.run("version"); err != nil || out != "got version" {
		t.Errorf("%v: %s", err, out)
	}
}

// What cannot be had is said in one line, and nothing is installed.
func TestLauncherRefuses(t *testing.T) {
	good := packed(t, "echo good")
	for _, tt := range []struct {
		name    string
		promise []byte // nil: no checksums
		served  []byte
		url     string
		want    string
	}{
		{"another program", good, packed(t, "echo bad"), "", "its SHA-256 is "},
		{"half of it", good, good[:len(good)/2], "", "its SHA-256 is "},
		{"no archive", []byte("not gzip"), []byte("not gzip"), "", "cannot unpack "},
		{"no host", good, good, "http://127.0.0.1:1", "cannot fetch http://127.0.0.1:1/v"},
		{"not there", good, good, "HOST/elsewhere", "cannot fetch http://"},
		{"not https", good, good, "http://example.org", "only https is safe"},
		{"not quite loopback", good, good, "http://127.0.0.1.example.org", "only https is safe"},
		{"loopback as user", good, good, "http://127.0.0.1:80@example.org", "an address with @, spaces"},
		{"two words", good, good, "https://example.org/a b", "an address with @, spaces"},
		{"an option", good, good, "-o/etc/passwd", "only https is safe"},
		{"a command", good, good, "https://example.org/$(id)", "an address with @, spaces"},
		{"no scheme", good, good, "file:///etc", "only https is safe"},
		{"no release", nil, good, "", "no release of version " + command.Version + " is known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := newInstall(t, tt.served, 0)
			if tt.promise != nil {
				i.promise(tt.promise)
			}
			if tt.url != "" {
				i.env = append(i.env, "KNOWLEDGE_RELEASE_URL="+strings.Replace(tt.url, "HOST", i.host.URL, 1))
			}
			out, err := i.run("version")
			lines := strings.Split(out, "\n")
			// The fetching program may say its own line before.
			if last := lines[len(lines)-1]; err == nil || len(lines) > 2 || !strings.HasPrefix(last, "knowledge: ") || !strings.Contains(last, tt.want) {
				t.Errorf("%v: %s", err, out)
			}
			if got := i.programs("home"); len(got) != 0 {
				t.Errorf("installed: %q", got)
			}
		})
	}
	t.Run("a link", func(t *testing.T) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		if err := errors.Join(w.WriteHeader(&tar.Header{Name: "knowledge", Typeflag: tar.TypeSymlink, Linkname: "/bin/echo"}), w.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
		i := newInstall(t, b.Bytes(), 0)
		i.promise(b.Bytes())
		if out, err := i.run("version"); err == nil || !strings.Contains(out, "is no program but a link") || len(i.programs("home")) != 0 {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("no place", func(t *testing.T) {
		i := newInstall(t, good, 0)
		i.env = i.env[:1]
		if out, err := i.run("version"); err == nil || !strings.Contains(out, "set HOME") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// Several sessions may start at once on a new machine.
func TestLaunchersAtOnce(t *testing.T) {
	archive := packed(t, "echo good")
	i := newInstall(t, archive, 50*time.Millisecond)
	i.promise(archive)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if out, err := i.run("version"); err != nil || out != "good" {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	if got := i.programs("home"); !slices.Equal(got, fetched) || i.gets.Load() != 1 {
		t.Errorf("left: %q, fetched %d times", got, i.gets.Load())
	}
}

// TestStubHandsOver: while the program is on its way the stub answers; the
// first call waits for it, and it sees that call and all that follows, bytes
// as they were.
func TestStubHandsOver(t *testing.T) {
	archive := packed(t, `echo "program got $*"; exec cat`)
	i := newInstall(t, archive, 300*time.Millisecond)
	i.promise(archive)
	cmd := i.command("mcp", "--project", "two words")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	expect := func(want string) {
		t.Helper()
		got, err := lines.ReadString('\n')
		if err != nil || !strings.HasPrefix(got, want) {
			t.Fatalf("%v: %q, want %q", err, got, want)
		}
	}
	say := func(s string) {
		t.Helper()
		if _, err := io.WriteString(in, s+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	expect(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"`)
	if n := len(i.programs("home/.cache/knowledge/bin/" + command.Version)); n != 0 {
		t.Error("the program was there before the stub was asked")
	}
	first := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"\\ %s  $(x) \"` + "`" + `"}}}`
	second := `{"jsonrpc":"2.0","id":3,"method":"ping"}`
	say(first + "\n" + second)
	expect("program got mcp --project two words\n")
	expect(first + "\n")
	expect(second + "\n")
	say(second)
	expect(second + "\n")
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("%v %q", err, rest)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := i.programs("home"); !slices.Equal(got, fetched) {
		t.Errorf("left: %q", got)
	}
}

// Without a program, a call says why in one line, and asks again.
func TestStubTellsWhy(t *testing.T) {
	good := packed(t, "exec cat")
	i := newInstall(t, packed(t, "echo bad"), 0)
	i.promise(good)
	cmd := i.command("mcp")
	cmd.Stdin = strings.NewReader(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search"}}`+"\n", 2))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, l := range lines {
		if !strings.Contains(l, `"isError":true`) || !strings.Contains(l, "nothing was installed") {
			t.Errorf("%s", l)
		}
	}
	if len(lines) != 2 || i.gets.Load() != 2 {
		t.Errorf("%d answers, %d fetches", len(lines), i.gets.Load())
	}
}

// A full disk is told with what shows it: the same build by hand would fail too.
func TestLauncherBuildsOnFullDisk(t *testing.T) {
	i := newInstall(t, nil, 0)
	i.source("0")
	i.write("path/go", "#!/bin/sh\necho 'go: write /x: no space left on device' >&2\nexit 1\n")
	out, err := i.run("version")
	if want := "no space left on device; see what is left with: df -h '" + i.dir + "/home/.cache/knowledge/bin' '/tmp'"; err == nil || !strings.HasSuffix(out, want) {
		t.Errorf("%v: %s", err, out)
	}
	if got := i.programs("home/.cache"); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

// source makes the install a copy of the repository, without .git as clients
// make it, and a stand-in for Go that counts its runs, takes its time and writes a program that
// repeats its arguments.
func (i *install) source(takes string) (builds func() int) {
	i.Helper()
	for name, text := range map[string]string{"cmd/knowledge/main.go": "package main\n", "internal/x.go": "package x\n", "go.mod": "module github.com/" + owner + "/knowledge\n\ngo 1.26.0\n", "home/count": ""} {
		i.write(name, text)
	}
	i.write("path/go", "#!/bin/sh\necho run >>\"$COUNT\"\nsleep "+takes+"\nwhile [ \"$1\" != -o ]; do shift; done\nprintf '#!/bin/sh\\necho \"$@\"\\nexec cat\\n' >\"$2\"\nchmod +x \"$2\"\n")
	count := filepath.Join(i.dir, "home/count")
	i.env = append(i.env, "PATH="+filepath.Join(i.dir, "path")+":/usr/bin:/bin", "COUNT="+count)
	return func() int {
		i.Helper()
		b, err := os.ReadFile(count)
		if err != nil {
			i.Fatal(err)
		}
		return bytes.Count(b, []byte("\n"))
	}
}

// A copy of the source builds once, outside itself, and again when a file has changed.
func TestLauncherBuildsSource(t *testing.T) {
	archive := packed(t, "echo release")
	i := newInstall(t, archive, 0)
	builds := i.source("0")
	run := func(want string, runs int) {
		t.Helper()
		out, err := i.run("version", "two words")
		if err != nil || out != want {
			t.Fatalf("%v: %s", err, out)
		}
		if n := builds(); n != runs {
			t.Errorf("built %d times, want %d", n, runs)
		}
	}
	run("version two words", 1)
	run("version two words", 1)
	i.write("internal/new.go", "package x\n")
	run("version two words", 2)
	if more, _ := filepath.Glob(filepath.Join(i.dir, "*")); len(more) != 7 {
		t.Errorf("the launcher writes into the source: %v", more)
	}
	// Once there is a release it goes before a build, unless a build is asked for.
	i.promise(archive)
	i.write("internal/newer.go", "package x\n")
	run("release", 2)
	i.env = append(i.env, "KNOWLEDGE_BUILD=1")
	run("version two words", 3)
	// The source of another program is not ours to build.
	i.write("go.mod", "module x\n")
	i.env = i.env[:len(i.env)-1]
	if err := os.RemoveAll(filepath.Join(i.dir, "home/.cache")); err != nil {
		t.Fatal(err)
	}
	run("release", 3)
}
