// Package evidencehttp is the face for clients of the evidence and enterprise
// servers whose wire formats a seed fixed: two listeners of their own, with
// the paths, filters, pages, order, statuses and headers of the originals.
// What is answered comes from package app; this translates.
//
// `knowledge serve` alone opens both, when they are wanted: see Options.Wanted. They
// only read: what the originals call mutating tools are plans here too.
// Package httpguard checks Host and Origin; no CORS header is sent. A client
// that sends no Origin may declare its body as it likes.
package evidencehttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/governance"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// Where the originals listen.
const (
	defaultHost           = "127.0.0.1"
	defaultEvidencePort   = 7341
	defaultEnterprisePort = 7391
)

// maxBody bounds a request's body in bytes.
const maxBody = 1 << 20

// Options choose the servers, their addresses and their clients.
type Options struct {
	// Wanted opens both, as do a port below, a variable KNOWLEDGE_EVIDENCE_…,
	// KNOWLEDGE_ENTERPRISE_… or PUMUKI_…, and evidence in the project at the start.
	Wanted                   bool
	NoEvidence, NoEnterprise bool
	// EvidencePort and EnterprisePort, when not nil, come before the
	// environment; 0 takes a free one.
	EvidencePort, EnterprisePort *int
	// Token is what clients on other machines must send, and with RequireToken
	// all clients: those of this machine know of none. "" requires none, and
	// serves loopback only.
	Token        string
	RequireToken bool
	Env          func(string) string // nil is os.Getenv
	Environ      []string            // "NAME=value" of every variable; nil is os.Environ
	Log          io.Writer           // takes the addresses, and what could not be served; nil is os.Stderr
}

// Start opens the two listeners and serves until ctx ends; wait returns when
// both have stopped. A listener that cannot be opened is reported on
// o.Log and left out.
func Start(ctx context.Context, a *app.App, o Options) (wait func()) {
	if o.Log == nil {
		o.Log = os.Stderr
	}
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if !o.wanted(a) {
		if !o.NoEvidence || !o.NoEnterprise {
			fmt.Fprintf(o.Log, "the evidence (%d) and enterprise (%d) servers are not open; open them with: knowledge serve --evidence\n", defaultEvidencePort, defaultEnterprisePort)
		}
		return func() {}
	}
	var running sync.WaitGroup
	serve := func(what string, off bool, addr string, err error, handler func(g *httpguard.Guard) http.Handler, path string) {
		if off {
			return
		}
		if err == nil && o.Token == "" && !httpguard.IsLoopback(addr) {
			err = kb.Errorf(kb.Invalid, "%s is not an address of this machine alone", addr).
				WithHint("listen on 127.0.0.1")
		}
		var ln net.Listener
		if err == nil {
			ln, err = httpguard.Listen(ctx, addr)
		}
		if err != nil {
			said, hint := fmt.Sprintf("%s: not served: %v", what, err), kb.HintOf(err)
			if kb.CodeOf(err) == kb.Busy {
				said += occupant(ctx, addr)
				hint = fmt.Sprintf("--%s-port N takes another port (0: a free one), --no-%s does without", what, what)
			}
			fmt.Fprintf(o.Log, "%s. %s\n", said, hint)
			return
		}
		g := o.guard(ln.Addr().String())
		fmt.Fprintf(o.Log, "%s: %s%s\n", what, httpguard.URL(g.Bound), path)
		running.Go(func() { _ = httpguard.Run(ctx, httpguard.Server(handler(g)), ln) }) // ends with ctx, or with the listener
	}
	route := Route(o.Env)
	addr, err := address(o.Env, o.EvidencePort, defaultEvidencePort, "KNOWLEDGE_EVIDENCE", "PUMUKI_EVIDENCE")
	serve("evidence", o.NoEvidence, addr, err, func(g *httpguard.Guard) http.Handler { return Evidence(a, route, g, o.Log) }, route)
	addr, err = address(o.Env, o.EnterprisePort, defaultEnterprisePort, "KNOWLEDGE_ENTERPRISE", "PUMUKI_ENTERPRISE_MCP")
	serve("enterprise", o.NoEnterprise, addr, err, func(g *httpguard.Guard) http.Handler { return Enterprise(a, route, g, o.Log) }, "")
	return running.Wait
}

// guard lets clients of this machine in without a token, since the originals'
// know of none, unless the owner requires it of all.
func (o *Options) guard(bound string) *httpguard.Guard {
	return &httpguard.Guard{Bound: bound, Secret: o.Token, OpenRead: !o.RequireToken}
}

// wanted reports whether the two servers are to be opened.
func (o *Options) wanted(a *app.App) bool {
	if o.Wanted || o.EvidencePort != nil || o.EnterprisePort != nil || governance.HasEvidence(a) {
		return true
	}
	for _, v := range o.Environ {
		for _, prefix := range []string{"KNOWLEDGE_EVIDENCE_", "KNOWLEDGE_ENTERPRISE_", "PUMUKI_"} {
			if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, prefix) && value != "" {
				return true
			}
		}
	}
	return false
}

// either returns the first of two variables that is set, and its name.
func either(env func(string) string, ours, theirs string) (value, name string) {
	if v := env(ours); v != "" {
		return v, ours
	}
	return env(theirs), theirs
}

func address(env func(string) string, flag *int, port int, ours, theirs string) (string, error) {
	host, _ := either(env, ours+"_HOST", theirs+"_HOST")
	if host == "" {
		host = defaultHost
	}
	if flag != nil {
		port = *flag
	} else if v, name := either(env, ours+"_PORT", theirs+"_PORT"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > 65535 {
			return "", kb.Errorf(kb.Invalid, "$%s is %q, which is no port", name, v).
				WithHint("set it to a number up to 65535")
		}
		port = n
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port)), nil
}

// Route returns where the evidence is served: with a slash before it and none behind.
func Route(env func(string) string) string {
	v, _ := either(env, "KNOWLEDGE_EVIDENCE_ROUTE", "PUMUKI_EVIDENCE_ROUTE")
	if v = strings.Trim(strings.TrimSpace(v), "/"); v == "" {
		return evidence.DefaultRoute
	}
	return "/" + v
}

// occupant describes the server that occupies an address.
func occupant(ctx context.Context, addr string) string {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/status", nil)
	if err != nil {
		return ""
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	var said struct {
		RepoRoot string
		Evidence struct{ Path string }
	}
	if json.NewDecoder(io.LimitReader(res.Body, maxBody)).Decode(&said) != nil {
		return " (it speaks HTTP)"
	}
	for _, about := range []string{said.RepoRoot, said.Evidence.Path} {
		if about != "" {
			return fmt.Sprintf(" (such a server already, for %q)", about)
		}
	}
	return " (it speaks HTTP)"
}

type failure struct {
	Error string `json:"error"`
}

var (
	notAllowed = failure{"Method not allowed"}
	notFound   = failure{"Not found"}
)

// answer writes v as the originals do: compact JSON without a newline.
func answer(w http.ResponseWriter, status int, v any) {
	body := printer.Shown(v)
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// guarded checks each request, and turns defects into an answer.
func guarded(g *httpguard.Guard, log io.Writer, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				fmt.Fprintf(log, "knowledge: panic in %s %s: %v\n%s", r.Method, r.URL.Path, p, debug.Stack())
				answer(w, http.StatusInternalServerError, failure{"Internal error"})
			}
		}()
		if status, err := g.Check(r, httpguard.Read); err != nil {
			if status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			answer(w, status, failure{err.Error() + ". " + err.Hint})
			return
		}
		next(w, r)
	})
}

// fail answers with an error of the program itself.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if code := kb.CodeOf(err); code == kb.NotFound {
		status = http.StatusNotFound
	} else if errors.Is(err, context.Canceled) || code == kb.Canceled {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, failure{err.Error()})
}

// trimmed is the path without slashes at its end.
func trimmed(r *http.Request) string { return strings.TrimRight(r.URL.EscapedPath(), "/") }
