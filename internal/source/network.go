package source

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// The address of a remote repository comes from a text: an agent's, a project
// file's, a lockfile's. Every connection to one passes the guard of package
// outbound: go-git's requests are made by its client, with their redirects;
// ssh dials the addresses that it judged; installed git works through its relay.

const (
	remoteTime  = 24 * time.Hour // of one request with its body; the context ends it before
	remoteBytes = 1 << 40        // of one pack
)

// guard returns the client that reaches remotes.
func (o *Opener) guard() (*outbound.Client, error) {
	o.once.Do(func() {
		installGuard()
		p := o.Network
		p.MaxBytes, p.Timeout, p.Ports = remoteBytes, remoteTime, []uint64{22}
		if p.Proxy == "" {
			// The proxies of the environment are the user's, as git takes them.
			p.ProxyFor = outbound.EnvironmentProxy
		}
		o.client, o.clientErr = outbound.New(p)
	})
	return o.client, o.clientErr
}

// CheckRemote refuses the canonical source of a remote repository that will
// not be reached, as far as that is known without a request.
func (o *Opener) CheckRemote(source string) error {
	if !isRemote(source) {
		return nil
	}
	c, err := o.guard()
	if err != nil {
		return err
	}
	return c.CheckHost(remoteAddr(source))
}

// remoteAddr is the host and port of a remote as its URL names them.
func remoteAddr(source string) (host, port string) {
	if u, err := url.Parse(source); err == nil && u.Host != "" {
		if port = u.Port(); port == "" {
			port = transports[u.Scheme].port
		}
		return u.Hostname(), port
	}
	return hostOf(source), "22"
}

// clientKey is where a context carries the client for go-git's requests.
type clientKey struct{}

var installOnce sync.Once

// installGuard makes go-git ask the client in the context, and takes from it
// the protocols that are not used. go-git keeps one table for the process.
func installGuard() {
	installOnce.Do(func() {
		guarded := githttp.NewClient(&http.Client{
			Transport:     tripper{},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // followed below
		})
		client.InstallProtocol("https", guarded)
		client.InstallProtocol("http", guarded)
		client.InstallProtocol("git", nil)
		client.InstallProtocol("file", nil)
	})
}

// tripper makes go-git's requests.
type tripper struct{}

// RoundTrip implements http.RoundTripper. It follows redirects, since each is
// to be judged. A password stays with the origin that it is for: go-git would
// take it along to wherever the first request was sent on to.
func (tripper) RoundTrip(req *http.Request) (*http.Response, error) {
	c, ok := req.Context().Value(clientKey{}).(*outbound.Client)
	if !ok {
		return nil, kb.Errorf(kb.Internal, "a repository was asked for past the guard")
	}
	resp, err := c.Do(req.Context(), req)
	if err != nil {
		return nil, err
	}
	if req.Header.Get("Authorization") != "" && !outbound.SameOrigin(req.URL, resp.Request.URL) {
		resp.Body.Close()
		return nil, kb.Errorf(kb.Denied, "the host %q sends its readers on to %q, which is not told a password that is not for it", req.URL.Host, resp.Request.URL.Host).
			WithHint("name the repository by its address there, if you trust that host")
	}
	return resp, nil
}

// sshRoute is how a host is reached by ssh.
type sshRoute struct {
	user, host, port string   // as the user's settings of ssh have them
	addrs            []string // that the guard let through, in order; none where the user's own proxy finds the host
	jump             bool     // the user's settings lead through another host
}

// sshRoute resolves the host of an ssh URL. What web.allow names counts as it
// is written in the URL, and as the user's settings of ssh spell it out.
func (o *Opener) sshRoute(ctx context.Context, source string) (sshRoute, error) {
	c, err := o.guard()
	if err != nil {
		return sshRoute{}, err
	}
	alias, port := remoteAddr(source)
	r := sshRoute{user: sshUser(source), host: alias, port: port}
	setting := func(key string) string {
		if gitssh.DefaultSSHConfig == nil {
			return ""
		}
		return gitssh.DefaultSSHConfig.Get(alias, key)
	}
	if h := setting("Hostname"); h != "" {
		r.host = strings.ReplaceAll(h, "%h", alias)
		if p := setting("Port"); p != "" && port == "22" {
			r.port = p
		}
	}
	for _, key := range []string{"ProxyJump", "ProxyCommand"} {
		if v := setting(key); v != "" && !strings.EqualFold(v, "none") {
			r.jump = true
		}
	}
	if r.host != alias && c.Allows(alias, r.port) {
		// The user let this alias through.
		ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", r.host)
		if err != nil {
			return r, kb.Errorf(kb.Away, "the host %q cannot be found", r.host).WithHint("check ~/.ssh/config and the network")
		}
		for _, ip := range ips {
			r.addrs = append(r.addrs, ip.Unmap().String())
		}
		return r, nil
	}
	ips, err := c.Resolve(ctx, r.host, r.port)
	if err != nil {
		return r, err
	}
	for _, ip := range ips {
		r.addrs = append(r.addrs, ip.String())
	}
	return r, nil
}

// at is the URL of the same repository at an address of its host.
func (r sshRoute) at(source, addr string) string {
	path := ""
	if u, err := url.Parse(source); err == nil && u.Host != "" {
		path = u.EscapedPath()
	} else if m := scpRE.FindStringSubmatch(source); m != nil {
		path = m[3]
		if !strings.HasPrefix(path, "/") && !strings.Contains(addr, ":") {
			// It begins at the home directory, which a URL cannot say.
			return r.user + "@" + addr + ":" + r.port + ":" + path
		}
		path = "/" + strings.TrimPrefix(path, "/")
		path = (&url.URL{Path: path}).EscapedPath()
	}
	return "ssh://" + url.User(r.user).String() + "@" + net.JoinHostPort(addr, r.port) + path
}

// pinned is a login whose server shows the key that known_hosts has of the
// host's name, though it is dialled by its address.
type pinned struct {
	gitssh.AuthMethod
	name string // host:port
}

// ClientConfig implements gitssh.AuthMethod.
func (p pinned) ClientConfig() (*ssh.ClientConfig, error) {
	c, err := p.AuthMethod.ClientConfig()
	if err != nil {
		return nil, err
	}
	db, err := gitssh.NewKnownHostsDb()
	if err != nil {
		return nil, err
	}
	check := db.HostKeyCallback()
	c.HostKeyCallback = func(_ string, remote net.Addr, key ssh.PublicKey) error { return check(p.name, remote, key) }
	c.HostKeyAlgorithms = db.HostKeyAlgorithms(p.name)
	return c, nil
}

// sshAttempts are the ways to reach an ssh URL: an address each, at most two,
// so that a machine without IPv6 finds the host too.
func (o *Opener) sshAttempts(ctx context.Context, source string) ([]attempt, error) {
	route, err := o.sshRoute(ctx, source)
	if err != nil {
		return nil, err
	}
	var out []attempt
	for _, addr := range route.addrs[:min(len(route.addrs), 4)] {
		a := sshAuth(source)
		login, ok := a.auth.(gitssh.AuthMethod)
		if !ok {
			return nil, kb.Errorf(kb.Invalid, "%q is no address of a repository", source).WithHint("write user@host:path")
		}
		a.auth, a.url = pinned{login, net.JoinHostPort(route.host, route.port)}, route.at(source, addr)
		out = append(out, a)
	}
	return out, nil
}

// dialFailed reports that a connection was not made, so that another address may do.
func dialFailed(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// underGuard prepares a run of installed git on a remote: the environment that
// keeps it within the guard, and what says after a failure whether the guard
// was the cause. Where the user's own settings lead through a proxy, that goes
// before the guard's relay, and the host is judged as far as it resolves here.
func (o *Opener) underGuard(ctx context.Context, source string) (env []string, refused func() error, stop func(), err error) {
	refused, stop = func() error { return nil }, func() {}
	c, err := o.guard()
	if err != nil {
		return nil, refused, stop, err
	}
	if isSSH(source) {
		route, err := o.sshRoute(ctx, source)
		if err != nil || route.jump {
			return nil, refused, stop, err
		}
		if os.Getenv("GIT_SSH") != "" || os.Getenv("GIT_SSH_COMMAND") != "" || gitSetting(ctx, "core.sshCommand") != "" {
			return nil, refused, stop, nil // a program of the user's, whose options are its own
		}
		name := route.host
		if route.port != "22" {
			name = "[" + route.host + "]:" + route.port
		}
		return []string{fmt.Sprintf("GIT_SSH_COMMAND=ssh -o HostName=%s -o HostKeyAlias=%s -o BatchMode=yes", route.addrs[0], name)}, refused, stop, nil
	}
	u, err := url.Parse(source)
	if err != nil {
		return nil, refused, stop, kb.Errorf(kb.Invalid, "%q is not a well-formed URL", source).WithHint("write https://host/path")
	}
	if err := c.CheckRoute(ctx, u); err != nil {
		return nil, refused, stop, err
	}
	if proxied(u) || gitSetting(ctx, "http.proxy", source) != "" {
		return []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.followRedirects", "GIT_CONFIG_VALUE_0=false"}, refused, stop, nil
	}
	relay, err := c.Relay()
	if err != nil {
		return nil, refused, stop, err
	}
	env = []string{"http_proxy=" + relay.URL, "https_proxy=" + relay.URL, "no_proxy=", "NO_PROXY=", "all_proxy=", "ALL_PROXY="}
	stop = relay.Close
	if u.Scheme != "https" {
		// No password goes out in the clear: curl would look into ~/.netrc.
		home, err := os.MkdirTemp("", "knowledge-home-")
		if err != nil {
			relay.Close()
			return nil, refused, func() {}, kb.Errorf(kb.Denied, "no temporary directory can be made: %w", err).WithHint("check the permissions of %s", os.TempDir())
		}
		env = append(env, "HOME="+home, "USERPROFILE="+home, "NETRC=", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=")
		stop = func() { relay.Close(); os.RemoveAll(home) }
	}
	return env, relay.Refused, stop, nil
}

// proxied reports whether the environment names a proxy for a URL.
func proxied(u *url.URL) bool {
	return outbound.EnvironmentProxy(u) != nil || os.Getenv("all_proxy") != "" || os.Getenv("ALL_PROXY") != ""
}

// gitSetting asks installed git for a setting of the user's, as it holds for a URL.
func gitSetting(ctx context.Context, key string, urls ...string) string {
	args := []string{"config", "--get", key}
	if len(urls) > 0 {
		args = append([]string{"config", "--get-urlmatch", key}, urls...)
	}
	out, err := runGit(ctx, nil, "", nil, args...)
	if err != nil {
		return "" // it is not set
	}
	return strings.TrimSpace(string(out))
}

// sshUser is the name to log in with.
func sshUser(source string) string {
	if ep, err := transport.NewEndpoint(source); err == nil && ep.User != "" {
		return ep.User
	}
	if u := os.Getenv("USER"); u != "" {
		return u
	}
	return "git"
}
