package source

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// serveSSH serves one repository to a client with the key, under any path, and
// returns the address and the server's line for known_hosts.
func serveSSH(t *testing.T, dir string, key ssh.PublicKey) (addr, known string) {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	host, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if string(k.Marshal()) != string(key.Marshal()) {
			return nil, os.ErrPermission
		}
		return nil, nil
	}}
	cfg.AddHostKey(host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	session := func(ch ssh.Channel, reqs <-chan *ssh.Request) {
		defer ch.Close()
		for r := range reqs {
			r.Reply(r.Type == "exec", nil)
			if r.Type != "exec" {
				continue
			}
			cmd := exec.Command("git", "-c", "safe.directory=*", "upload-pack", dir)
			in, _ := cmd.StdinPipe()
			cmd.Stdout = ch
			go func() { io.Copy(in, ch); in.Close() }()
			status := []byte{0, 0, 0, 0}
			if cmd.Run() != nil {
				status[3] = 1
			}
			ch.SendRequest("exit-status", false, status)
			return
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, chans, reqs, err := ssh.NewServerConn(c, cfg)
				if err != nil {
					return
				}
				go ssh.DiscardRequests(reqs)
				for nc := range chans {
					if ch, reqs, err := nc.Accept(); err == nil {
						go session(ch, reqs)
					}
				}
			}()
		}
	}()
	return l.Addr().String(), knownhosts.Line([]string{l.Addr().String()}, host.PublicKey()) + "\n"
}

func TestRemoteSSH(t *testing.T) {
	needGit(t)
	o := newOrigin(t)
	want := o.commit("main", text("by ssh\n"))
	o.head("main")
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	addr, known := serveSSH(t, filepath.Join(o.dir, ".git"), key)
	src := "ssh://git@" + addr + "/some/repo"

	op := newOpener(t)
	op.NoGit = true
	t.Setenv("SSH_AUTH_SOCK", "")
	home := os.Getenv("HOME")
	t.Setenv("USERPROFILE", home)
	dotSSH := filepath.Join(home, ".ssh")
	os.Mkdir(dotSSH, 0o700)
	knownFile := filepath.Join(dotSSH, "known_hosts")
	t.Setenv("SSH_KNOWN_HOSTS", knownFile)
	refused := func(what string) {
		t.Helper()
		_, err := op.Open(t.Context(), repoSpec(src, kb.Ref{}))
		if kb.CodeOf(err) != kb.Denied || !strings.Contains(kb.HintOf(err), "ssh -p ") {
			t.Errorf("%s: %v (%s; %s)", what, err, kb.CodeOf(err), kb.HintOf(err))
		}
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(knownFile, []byte(known), 0o600)
	refused("no key")
	os.WriteFile(filepath.Join(dotSSH, "id_ed25519"), pem.EncodeToMemory(block), 0o600)
	for range 2 {
		if body, version, _ := mustRead(t, op, repoSpec(src, kb.Ref{})); body != "by ssh\n" || version != want.String() {
			t.Errorf("%q at %s", body, version)
		}
	}
	// By a name: the address that was judged is dialled, and the key is that of the name.
	_, port, _ := net.SplitHostPort(addr)
	named := newOpener(t)
	t.Setenv("HOME", home)
	named.NoGit = true
	named.Network = outbound.Policy{Allow: []string{"git.test"}, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	byName := "ssh://git@git.test:" + port + "/some/repo"
	if _, err := named.Open(t.Context(), repoSpec(byName, kb.Ref{})); kb.CodeOf(err) != kb.Denied {
		t.Errorf("known_hosts has the key of the address alone: %v", err)
	}
	os.WriteFile(knownFile, []byte(strings.Replace(known, "127.0.0.1", "git.test", 1)), 0o600)
	if body, _, _ := mustRead(t, named, repoSpec(byName, kb.Ref{})); body != "by ssh\n" {
		t.Errorf("by name: %q", body)
	}
	os.WriteFile(knownFile, nil, 0o600)
	refused("unknown host key")
	_, other, _ := ed25519.GenerateKey(rand.Reader)
	imposter, _ := ssh.NewSignerFromKey(other)
	os.WriteFile(knownFile, []byte(knownhosts.Line([]string{addr}, imposter.PublicKey())+"\n"), 0o600)
	refused("changed host key")
}
