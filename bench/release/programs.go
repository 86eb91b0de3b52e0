package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/face/packaging"
)

// The channels that give a person the program.

func (l *trial) archive(r *row) error {
	home, env, err := l.env("archive")
	if err != nil {
		return err
	}
	if _, err := lab.Command(home, env, "tar", "-xzf", filepath.Join(l.dist, l.host.Archive(command.Version))); err != nil {
		return err
	}
	for _, n := range []string{"LICENSE", "NOTICE", "README.md", "knowledge.1"} {
		if _, err := os.Stat(filepath.Join(home, n)); err != nil {
			return err
		}
	}
	return l.ask(env, filepath.Join(home, "knowledge"))
}

func (l *trial) releases() string { return l.base + "/releases" }

// fetched is install.sh as a user gets it: from the release.
func (l *trial) fetched() string { return l.releases() + "/v" + command.Version + "/install.sh" }

func (l *trial) installScript(r *row) error {
	if err := on("curl"); err != nil {
		return err
	}
	home, env, err := l.env("install.sh", "KNOWLEDGE_RELEASE_URL="+l.releases())
	if err != nil {
		return err
	}
	out, err := lab.Command(l.docs, env, "sh", "-c", `curl -fsSL "`+l.fetched()+`" | sh`)
	if err != nil {
		return err
	}
	r.note = "says at the end: " + strings.Join(strings.Split(strings.ReplaceAll(strings.TrimSpace(out), home, "~"), "\n")[1:], " / ")
	return l.ask(env, filepath.Join(home, ".local", "bin", "knowledge"))
}

// emptyRoot is the first minute of somebody in a container: one command, in a
// root that holds busybox, an empty home and the folder of notes. No Go, no
// curl, no libc.
func (l *trial) emptyRoot(r *row) error {
	if err := asRoot(); err != nil {
		return err
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return skip("no program busybox on the PATH; apt-get install busybox-static")
	}
	root := filepath.Join(l.scratch, "root")
	for _, d := range []string{"bin", "home", "proc", "dev", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o777); err != nil {
			return err
		}
	}
	if _, err := lab.Command(l.scratch, nil, "cp", "-r", l.docs, filepath.Join(root, "notes")); err != nil {
		return err
	}
	b, err := os.ReadFile(busybox)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "bin", "busybox"), b, 0o755); err != nil {
		return err
	}
	if _, err := lab.Command(root, nil, "chroot", root, "/bin/busybox", "--install", "-s", "/bin"); err != nil {
		return skip("busybox does not run by itself: %v", err)
	}
	line := `mount -t proc proc "$1/proc" && : >"$1/dev/null" && mount --bind /dev/null "$1/dev/null" && exec chroot "$1" /bin/env -i HOME=/home PATH=/bin KNOWLEDGE_RELEASE_URL="$2" /bin/sh -c "cd /notes && wget -q -O - $3 | sh -s -- search '$4'"`
	began := time.Now()
	out, err := lab.Command(root, os.Environ(), "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", line, "sh", root, l.releases(), l.fetched(), question)
	r.took = time.Since(began)
	if err != nil {
		return err
	}
	// The lines of the installation come first.
	_, hits, ok := strings.Cut(out, "export PATH=")
	if !ok {
		return fmt.Errorf("no word about the PATH: %q", out)
	}
	_, hits, _ = strings.Cut(hits, "\n")
	r.note = "one command: wget … | sh -s -- search …"
	if r.took > time.Minute {
		return fmt.Errorf("it took %s, more than a minute", r.took)
	}
	return firstIs(hits)
}

func (l *trial) npm(r *row) error {
	if err := on("npm", "npx", "node"); err != nil {
		return err
	}
	home, env, err := l.env("npm", "npm_config_registry="+l.base+"/npm/", "npm_config_update_notifier=false", "PATH="+os.Getenv("PATH"))
	if err != nil {
		return err
	}
	began := time.Now()
	out, err := lab.Command(l.docs, env, "npx", "-y", packaging.NpmPackage, "search", question)
	if err != nil {
		return err
	}
	if err := firstIs(out); err != nil {
		return err
	}
	r.took = time.Since(began)
	// One program was installed, not six.
	programs, err := filepath.Glob(filepath.Join(home, ".npm", "_npx", "*", "node_modules", packaging.NpmPackage+"-*"))
	if err != nil || len(programs) != 1 || filepath.Base(programs[0]) != filepath.Base(l.host.NpmPackage()) {
		return fmt.Errorf("npm installed %v, %v", programs, err)
	}
	wrapper := filepath.Join(filepath.Dir(programs[0]), filepath.Base(packaging.NpmPackage), "knowledge.js")
	return l.wrapperIsTrue(r, env, wrapper, programs[0])
}

// wrapperIsTrue: the launcher of npm ends as the program ends, by status and
// by signal, and says in one line when the program is missing.
func (l *trial) wrapperIsTrue(r *row, env []string, wrapper, dependency string) error {
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command("node", append([]string{wrapper}, args...)...)
		cmd.Dir, cmd.Env = l.docs, env
		return cmd
	}
	var left *exec.ExitError
	program := exec.Command(filepath.Join(dependency, "knowledge"), "serch")
	program.Dir, program.Env = l.docs, env
	if err := program.Run(); !errors.As(err, &left) {
		return fmt.Errorf("the program takes a wrong command: %w", err)
	}
	want := left.ExitCode()
	if err := run("serch").Run(); !errors.As(err, &left) || left.ExitCode() != want {
		return fmt.Errorf("the wrapper ends a wrong command with %w, the program with status %d", err, want)
	}
	server := run("mcp")
	in, err := server.StdinPipe() // open, so that only the signal ends it
	if err != nil {
		return err
	}
	defer in.Close()
	if err := server.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	time.Sleep(2 * time.Second)
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-ended:
		r.note = fmt.Sprintf("one of six programs was installed; exit status %d is passed on; SIGTERM ends the server and it", want)
	case <-time.After(20 * time.Second):
		_ = server.Process.Kill()
		return errors.New("SIGTERM does not end the wrapper of a server")
	}
	if err := os.RemoveAll(dependency); err != nil {
		return err
	}
	out, err := run("version").CombinedOutput()
	if !errors.As(err, &left) || !strings.Contains(string(out), "; install it: npm install "+l.host.NpmPackage()+"@"+command.Version) {
		return fmt.Errorf("without its program the wrapper says %q", out)
	}
	return nil
}

func (l *trial) goInstall(r *row) error {
	cache, err := lab.Command(l.source, os.Environ(), "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	home, env, err := l.env("go", "PATH="+os.Getenv("PATH"))
	if err != nil {
		return err
	}
	build, err := lab.Command(l.source, os.Environ(), "go", "env", "GOCACHE")
	if err != nil {
		return err
	}
	// Dependencies come from what this machine has downloaded; nothing is
	// asked of the network.
	goEnv := append(env, "GOPROXY="+l.base+"/go,file://"+filepath.Join(strings.TrimSpace(cache), "cache", "download"), "GONOSUMDB=*", "GOFLAGS=-trimpath -modcacherw",
		"GOCACHE="+strings.TrimSpace(build), "GOBIN="+filepath.Join(home, "bin"), "GOMODCACHE="+filepath.Join(home, "mod"), "CGO_ENABLED=0", "GOTOOLCHAIN=local")
	if _, err := lab.Command(home, goEnv, "go", "install", modulePath+"/cmd/knowledge@v"+command.Version); err != nil {
		return err
	}
	r.note = "with a filled build cache"
	return l.ask(env, filepath.Join(home, "bin", "knowledge"))
}

// image builds the container image and runs it unpacked, as its user, with
// the folder of notes and a volume where docker would mount them.
func (l *trial) image(r *row) error {
	if err := on("buildah"); err != nil {
		return err
	}
	if err := asRoot(); err != nil {
		return err
	}
	// Storage of its own, on any file system.
	env := append(os.Environ(), "STORAGE_DRIVER=vfs", "BUILDAH_ISOLATION=chroot", "CONTAINERS_STORAGE_CONF="+filepath.Join(l.scratch, "storage.conf"))
	conf := fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n", filepath.Join(l.scratch, "images"), filepath.Join(l.scratch, "images-run"))
	if err := os.WriteFile(filepath.Join(l.scratch, "storage.conf"), []byte(conf), 0o644); err != nil {
		return err
	}
	buildah := func(args ...string) (string, error) {
		out, err := lab.Command(l.source, env, "buildah", args...)
		return strings.TrimSpace(out), err
	}
	if _, err := buildah("bud", "-q", "-f", filepath.Join(l.source, "packaging", "Dockerfile"), "-t", "knowledge", l.channel("docker")); err != nil {
		return err
	}
	config, err := buildah("inspect", "--type", "image", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Volumes}} {{.OCIv1.Config.WorkingDir}} {{.OCIv1.Config.Env}}", "knowledge")
	if err != nil {
		return err
	}
	if want := "65532:65532 [/knowledge --project /work] map[/data:{}] /work "; !strings.HasPrefix(config, want) {
		return fmt.Errorf("the image is configured as %q, not %q", config, want)
	}
	container, err := buildah("from", "knowledge")
	if err != nil {
		return err
	}
	root, err := buildah("mount", container)
	if err != nil {
		return err
	}
	defer func() { _, _ = buildah("rm", container) }()
	if _, err := lab.Command(root, nil, "cp", "-r", l.docs+"/.", filepath.Join(root, "work")); err != nil {
		return err
	}
	total, err := lab.DirSize(root)
	if err != nil {
		return err
	}
	for _, d := range []string{"proc", "dev"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			return err
		}
	}
	// What docker does when it runs an image.
	const script = `root=$1; shift; mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && exec chroot --userspec=65532:65532 "$root" /knowledge --project /work "$@"`
	inside := func(stdin string, args ...string) (string, error) {
		cmd := exec.Command("unshare", append([]string{"--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh", root}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "KNOWLEDGE_DATA_DIR=/data", "HOME=/data"}
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if left := (*exec.ExitError)(nil); errors.As(err, &left) {
			err = fmt.Errorf("%w: %s", err, left.Stderr)
		}
		return string(out), err
	}
	began := time.Now()
	out, err := inside("", "search", question)
	if err != nil {
		return err
	}
	if err := firstIs(out); err != nil {
		return err
	}
	r.took = time.Since(began)
	reply, err := inside(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n", "mcp")
	if err != nil || !strings.Contains(reply, `"serverInfo"`) {
		return fmt.Errorf("mcp answers %q, %w", reply, err)
	}
	if owner, err := lab.Command(root, nil, "stat", "-c", "%u", filepath.Join(root, "data", "knowledge.db")); err != nil || strings.TrimSpace(owner) != "65532" {
		return fmt.Errorf("the volume has no database of the image's user: %q, %w", owner, err)
	}
	r.installed = "unpacked"
	r.note = fmt.Sprintf("%s unpacked: the program, certificates, licences; run as user 65532 with chroot; mcp answers initialize", lab.MB(total))
	return nil
}
