package source

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// attempt is one way to reach a remote: a spelling of its URL and credentials.
type attempt struct {
	url  string
	auth transport.AuthMethod
	how  string // "without credentials", "with ~/.netrc", …
}

// method is one request, by go-git and by installed git.
type method struct {
	gogit func(context.Context, attempt) error
	exec  func(env []string, url string) error
}

// Errors of a request besides a kb.Error, with which the caller goes on.
var (
	errNoRef   = errors.New("the remote has no such reference")
	errNoExact = errors.New("the remote gives no commits by hash")
)

// try makes the request until one way works: anonymously first, so that no
// secret is sent where none is needed, under both spellings of the URL; then
// with each credential that there is for the host; then by installed git.
func (f *fetcher) try(ctx context.Context, m method) error {
	guard, err := f.o.guard()
	if err != nil {
		return err
	}
	guarded := context.WithValue(ctx, clientKey{}, guard)
	if f.won != nil {
		return f.outcome(ctx, m.gogit(guarded, *f.won))
	}
	url := f.source
	if f.o.remoteURL != nil {
		url = f.o.remoteURL(url)
	}
	t := trial{f: f, m: m, urls: []string{url, url + ".git"}}
	answered, err := t.anonymously(guarded)
	if !answered && t.asks && strings.HasPrefix(url, "http") {
		answered, err = t.withCredentials(guarded)
	}
	if answered {
		return f.outcome(ctx, err)
	}
	failure := f.outcome(ctx, t.last)
	if f.o.NoGit || !worthFallback(t.last) || !haveGit() {
		return failure
	}
	return t.byGit(ctx, failure)
}

// trial is what one request has tried so far.
type trial struct {
	f     *fetcher
	m     method
	urls  []string // the spellings of one URL
	last  error    // what says most of why no way worked
	tried []string
	asks  bool // the server wants credentials
}

// request makes the request one way, and reports whether that answers it.
func (t *trial) request(ctx context.Context, ways ...attempt) (bool, error) {
	var a attempt
	var err error
	for _, a = range ways {
		if err = t.m.gogit(ctx, a); !dialFailed(err) {
			break
		}
	}
	if !settled(err) && ctx.Err() == nil {
		t.tried = appendNew(t.tried, a.how)
		return false, err
	}
	t.f.won = &a
	return true, err
}

func (t *trial) anonymously(ctx context.Context) (bool, error) {
	for _, u := range t.urls {
		ways := []attempt{{u, nil, "without credentials"}}
		if isSSH(u) {
			var err error
			if ways, err = t.f.o.sshAttempts(ctx, u); err != nil {
				return true, err
			}
		}
		answered, err := t.request(ctx, ways...)
		if answered {
			return true, err
		}
		missing := errors.Is(err, transport.ErrRepositoryNotFound)
		if t.last == nil || !missing {
			t.last = err
		}
		t.asks = t.asks || wantsAuth(err)
		if !missing && !wantsAuth(err) {
			break // the other spelling would fare no better
		}
	}
	return false, nil
}

func (t *trial) withCredentials(ctx context.Context) (bool, error) {
	for _, c := range t.f.o.credentials(ctx, t.urls[0]) {
		auth, ok := c.get()
		if !ok {
			continue
		}
		for _, u := range t.urls {
			answered, err := t.request(ctx, attempt{u, auth, "with " + c.how})
			if answered {
				return true, err
			}
			t.last = err
		}
	}
	return false, nil
}

// byGit makes the request by installed git; failure is what all else came to.
func (t *trial) byGit(ctx context.Context, failure error) error {
	f := t.f
	env, refused, stop, err := f.o.underGuard(ctx, t.urls[0])
	if err != nil {
		return f.outcome(ctx, err)
	}
	defer stop()
	var gitErr error
	for _, u := range t.urls {
		gitErr = t.m.exec(env, u)
		if errors.Is(gitErr, errNoRef) && dumb(t.urls[0], t.last) {
			break
		}
		if gitErr == nil || errors.Is(gitErr, errNoRef) || errors.Is(gitErr, errNoExact) {
			f.t.note("go-git failed (%s, %s); installed git was used instead", oneLine(t.last.Error()), strings.Join(t.tried, ", "))
			return gitErr
		}
		if ctx.Err() != nil {
			return canceled(ctx.Err())
		}
	}
	if err := refused(); err != nil {
		return err
	}
	var ke *kb.Error
	if errors.As(failure, &ke) {
		return ke.WithHint("tried %s, and installed git: %s; %s", strings.Join(t.tried, ", "),
			strings.TrimRight(oneLine(gitErr.Error()), ".:"), ke.Hint)
	}
	return failure
}

// dumb reports whether git may have taken any web page for a repository of the
// old protocol, in which all references are missing.
func dumb(url string, err error) bool {
	var cert *tls.CertificateVerificationError
	return strings.HasPrefix(url, "http") && !wantsAuth(err) && !errors.As(err, &cert)
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// settled reports whether the remote has answered: yes, or that it lacks what was asked for.
func settled(err error) bool {
	return err == nil || errors.Is(err, git.NoMatchingRefSpecError{}) || errors.Is(err, git.ErrExactSHA1NotSupported) ||
		errors.Is(err, transport.ErrEmptyRemoteRepository)
}

func wantsAuth(err error) bool {
	return errors.Is(err, transport.ErrAuthenticationRequired) || errors.Is(err, transport.ErrAuthorizationFailed)
}

// worthFallback reports whether installed git may do better: with credentials,
// certificates, ssh settings or protocols that go-git does not know. A host
// that does not answer will not answer git either, and what the guard refuses
// is refused.
func worthFallback(err error) bool {
	if kb.CodeOf(err) == kb.Denied {
		return false
	}
	var dns *net.DNSError
	var op *net.OpError
	return err != nil && !errors.As(err, &dns) && !(errors.As(err, &op) && op.Op == "dial") &&
		!errors.Is(err, syscall.ENOSPC) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// outcome turns what go-git says into one sentence and a hint.
func (f *fetcher) outcome(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return canceled(ctx.Err())
	}
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var known *kb.Error
	host := hostOf(f.source)
	switch {
	case errors.As(err, &known) && known.Code == kb.Denied:
		return known
	case errors.Is(err, git.NoMatchingRefSpecError{}):
		return errNoRef
	case errors.Is(err, git.ErrExactSHA1NotSupported), strings.Contains(err.Error(), "not our ref"):
		return errNoExact
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return kb.Errorf(kb.NotFound, "the repository %q is empty", f.source).WithHint("push something to it first")
	case errors.As(err, &dns):
		return kb.Errorf(kb.Away, "the host %q cannot be found", host).WithHint("check the spelling of the URL and the network")
	case errors.As(err, &op) && op.Op == "dial", errors.As(err, &op) && op.Timeout():
		return kb.Errorf(kb.Away, "the host %q does not answer: %s", host, oneLine(op.Err.Error())).WithHint("check the network, and try again later")
	case wantsAuth(err):
		return kb.Errorf(kb.Denied, "the host %q asks for credentials to read %q, or there is no such repository", host, f.source).
			WithHint("check the spelling, and give git credentials for it: git credential approve, or ~/.netrc")
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return kb.Errorf(kb.NotFound, "there is no repository at %q", f.source).WithHint("check the URL; a private repository may look missing to who has no access; to crawl a site, give type web")
	case errors.As(err, &cert), errors.As(err, &authority):
		return kb.Errorf(kb.Denied, "the certificate of %q is not trusted: %s", host, oneLine(err.Error())).WithHint("set SSL_CERT_FILE to the authority that signed it")
	case errors.Is(err, syscall.ENOSPC):
		return diskError(f.dir, err)
	case isSSH(f.source) && strings.Contains(err.Error(), "key mismatch"):
		return kb.Errorf(kb.Denied, "the host %q shows another key than ~/.ssh/known_hosts has of it", host).
			WithHint("ask its operator whether the key was changed, and see what ssh says: ssh %s", sshTarget(f.source))
	case isSSH(f.source) && sshUnknown.MatchString(err.Error()):
		return kb.Errorf(kb.Denied, "the host %q is not in ~/.ssh/known_hosts", host).
			WithHint("compare its key with what its operator publishes, and accept it: ssh %s", sshTarget(f.source))
	case isSSH(f.source) && sshRefused.MatchString(err.Error()):
		return kb.Errorf(kb.Denied, "no ssh access to %q: %s", host, oneLine(err.Error())).
			WithHint("make this work without a question: ssh %s", sshTarget(f.source))
	default:
		return kb.Errorf(kb.Away, "fetching %q failed: %s", f.source, oneLine(err.Error())).WithHint("see what this says: git ls-remote %s", f.source)
	}
}

var sshUnknown = lazyregexp.New(`(?i)knownhosts|known_hosts`)

var sshRefused = lazyregexp.New(`(?i)handshake|knownhosts|known_hosts|unable to authenticate|SSH_AUTH_SOCK|agent|permission denied|publickey`)

func diskError(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return kb.Errorf(kb.Full, "no space left for the copy of the repository in %q", dir).WithHint("make room and try again")
	}
	return kb.Errorf(kb.Denied, "cannot write %q: %s", dir, cause(err)).WithHint("check the permissions of the data directory")
}

// oneLine is the text up to its first line end, bounded.
func oneLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.ToValidUTF8(redact(kb.Clip(s, 200)), "?")
}

func isSSH(source string) bool {
	return strings.HasPrefix(source, "ssh://") || isRemote(source) && !strings.Contains(source, "://")
}

// hostOf returns the host of a canonical URL, with its port if it has one.
func hostOf(source string) string {
	if u, err := url.Parse(source); err == nil && u.Host != "" {
		return u.Host
	}
	if m := scpRE.FindStringSubmatch(source); m != nil {
		return m[2]
	}
	return source
}

// sshTarget is what a user types after "ssh" to try the connection.
func sshTarget(source string) string {
	if m := scpRE.FindStringSubmatch(source); m != nil && !strings.Contains(source, "://") {
		return strings.TrimSuffix(m[1]+"@"+m[2], "@")
	}
	u, err := url.Parse(source)
	if err != nil {
		return source
	}
	s := u.Hostname()
	if u.User.Username() != "" {
		s = u.User.Username() + "@" + s
	}
	if u.Port() != "" {
		s = "-p " + u.Port() + " " + s
	}
	return s
}

// sideband reads what a server says while it packs, and reports its counts.
type sideband struct {
	ctx   context.Context
	phase string
	line  []byte
}

var countRE = lazyregexp.New(`^(?:remote: )?(Counting|Compressing|Receiving|Resolving) [a-z]+:\s+\d+% \((\d+)/(\d+)\)`)

// Write implements io.Writer. Lines end in "\r" or "\n".
func (s *sideband) Write(p []byte) (int, error) {
	for _, c := range p {
		if c != '\r' && c != '\n' {
			if len(s.line) < 200 {
				s.line = append(s.line, c)
			}
			continue
		}
		if m := countRE.FindSubmatch(bytes.TrimSpace(s.line)); m != nil {
			done, _ := strconv.ParseInt(string(m[2]), 10, 64)
			total, _ := strconv.ParseInt(string(m[3]), 10, 64)
			kb.Report(s.ctx, kb.Progress{Phase: s.phase, Done: done, Total: total})
		}
		s.line = s.line[:0]
	}
	return len(p), nil
}
