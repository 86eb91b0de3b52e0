package source

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// credential is a place that may hold a name and password for a host.
type credential struct {
	how string // for messages; never the secret
	get func() (transport.AuthMethod, bool)
}

// credentials returns the places to ask for an https URL, in order: netrc,
// git's credential helpers, the variables that the user named for the host.
// Over plain http no password is sent.
func (o *Opener) credentials(ctx context.Context, rawURL string) []credential {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "https" {
		return nil
	}
	out := []credential{{"~/.netrc", func() (transport.AuthMethod, bool) {
		return netrc(readSmall(netrcPath()), u.Hostname())
	}}}
	if !o.NoGit && haveGit() {
		out = append(out, credential{"git credential fill", func() (transport.AuthMethod, bool) {
			return credentialFill(ctx, u)
		}})
	}
	for _, t := range o.Tokens {
		if strings.EqualFold(t.Host, u.Host) {
			out = append(out, credential{"$" + t.Env, func() (transport.AuthMethod, bool) {
				v := strings.TrimSpace(os.Getenv(t.Env))
				// Any name does for the hosts that take tokens as passwords.
				return &githttp.BasicAuth{Username: "x-access-token", Password: v}, v != ""
			}})
		}
	}
	return out
}

// Needs returns the set variables that hold tokens for the host of a source:
// a process without them might not reach what this one does.
func (o *Opener) Needs(spec kb.Spec) []string {
	u, err := url.Parse(spec.Source)
	if err != nil || u.Host == "" {
		return nil
	}
	var names []string
	for _, t := range o.Tokens {
		if strings.EqualFold(t.Host, u.Host) && os.Getenv(t.Env) != "" {
			names = append(names, t.Env)
		}
	}
	return names
}

func netrcPath() string {
	if p := os.Getenv("NETRC"); p != "" {
		return p
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(home, "_netrc")
	}
	return filepath.Join(home, ".netrc")
}

// netrc finds the entry of a host. The "default" entry is not used: it would
// hand a password to whatever host an agent asks for.
func netrc(text, host string) (transport.AuthMethod, bool) {
	var user, password string
	in, inMacro := false, false
	for line := range strings.SplitSeq(text, "\n") {
		fields := strings.Fields(line)
		if inMacro {
			inMacro = len(fields) > 0
			continue
		}
		for i := 0; i < len(fields); i++ {
			if strings.HasPrefix(fields[i], "#") {
				break
			}
			next := ""
			if i+1 < len(fields) {
				next = fields[i+1]
			}
			switch fields[i] {
			case "machine":
				if in && password != "" {
					return &githttp.BasicAuth{Username: user, Password: password}, true
				}
				in = strings.EqualFold(next, host)
				user, password = "", ""
				i++
			case "default":
				if in && password != "" {
					return &githttp.BasicAuth{Username: user, Password: password}, true
				}
				in = false
			case "login":
				if in {
					user = next
				}
				i++
			case "password":
				if in {
					password = next
				}
				i++
			case "account":
				i++
			case "macdef":
				inMacro = true
				i = len(fields)
			}
		}
	}
	return &githttp.BasicAuth{Username: user, Password: password}, in && password != ""
}

// credentialFill asks git's helpers. They are the user's own programs; git
// is kept from asking on the terminal.
func credentialFill(ctx context.Context, u *url.URL) (transport.AuthMethod, bool) {
	ask := "protocol=" + u.Scheme + "\nhost=" + u.Host + "\npath=" + strings.TrimPrefix(u.Path, "/") + "\n\n"
	out, err := runGit(ctx, nil, ask, nil, "credential", "fill")
	if err != nil {
		return nil, false
	}
	a := &githttp.BasicAuth{}
	for line := range strings.SplitSeq(string(out), "\n") {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\r"), "=")
		switch key {
		case "username":
			a.Username = value
		case "password":
			a.Password = value
		}
	}
	return a, a.Password != ""
}

// defaultKeys are tried after the agent's, if they have no passphrase.
var defaultKeys = []string{"id_ed25519", "id_ecdsa", "id_rsa"}

// sshAuth returns how to log in to the host of an ssh URL: the keys of the
// agent and the default keys of the user, in one handshake. Host keys are
// checked against known_hosts, strictly: see pinned. For other URLs the result
// is empty.
func sshAuth(rawURL string) attempt {
	if !isSSH(rawURL) {
		return attempt{}
	}
	user := sshUser(rawURL)
	return attempt{
		how: "with the ssh agent and default keys",
		auth: &gitssh.PublicKeysCallback{User: user, Callback: func() ([]ssh.Signer, error) {
			var all []ssh.Signer
			if agent, err := gitssh.NewSSHAgentAuth(user); err == nil {
				if signers, err := agent.Callback(); err == nil {
					all = append(all, signers...)
				}
			}
			home, err := os.UserHomeDir()
			if err != nil {
				return all, nil
			}
			for _, name := range defaultKeys {
				pem := readSmall(filepath.Join(home, ".ssh", name))
				if pem == "" {
					continue
				}
				if s, err := ssh.ParsePrivateKey([]byte(pem)); err == nil {
					all = append(all, s)
				}
			}
			if len(all) == 0 {
				return nil, errors.New("the ssh agent has no keys, and no default key without a passphrase exists")
			}
			return all, nil
		}},
	}
}
