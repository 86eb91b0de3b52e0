// Package httpapi is the face that programs on this machine and our own page
// speak to: every command of the registry as POST /api/commands/NAME, and
// the routes of seed 004, which are other spellings of the same commands.
//
// A route has the access class of the command that it runs in the end: what
// Execute's arguments name, not execute itself. Package httpguard says what a
// class asks of Host, Origin and token. Answers are the commands' results as
// JSON; failures are {"error":{"code","message","hint"}} with a status that
// follows from the code alone.
package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// DefaultAddr is where Serve listens by default.
const DefaultAddr = "127.0.0.1:7390"

// maxBody bounds a request's body in bytes.
const maxBody = 1 << 20

// Options says where to serve and whom.
type Options struct {
	// Addr is host:port; "" is DefaultAddr. For Handler it is the address
	// that the handler is reached at.
	Addr string
	// Token is what write routes need; "" makes a new one.
	Token string
	// TokenFrom says where the user knows the token from, which is then not
	// printed: "$KNOWLEDGE_TOKEN", or a file.
	TokenFrom string
	// OpenRead lets programs on this machine read without the token.
	OpenRead bool
	// RequireToken asks for the token for what is public or open, too.
	RequireToken bool
	// Origins are pages that may ask the commands of class Answer, in a browser
	// on this machine without a token: "https://docs.example.org".
	Origins []string
	// Hosts are further names for the Host header, without port.
	Hosts []string
	// Public is the address of a second listener, which the public may reach:
	// see ServePublic. "" opens none.
	Public string
	// Log takes the address with the token, and the stacks of defects; nil is os.Stderr.
	Log io.Writer
	// MCP, when not nil, makes what serves the Model Context Protocol at /mcp,
	// behind the guard that it is given.
	MCP func(*httpguard.Guard) http.Handler
	// MCPPaths are further paths that it serves.
	MCPPaths []string
	// Page, when not nil, makes what serves the page for people, by patterns of
	// http.ServeMux, behind the guard that it is given.
	Page func(*httpguard.Guard) map[string]http.Handler
	// Ready, when not nil, is called when the address has been printed.
	Ready func()
}

func (o Options) log() io.Writer {
	if o.Log == nil {
		return os.Stderr
	}
	return o.Log
}

// Serve serves the API until ctx ends, and returns nil then. The address with
// the token is printed once on o.Log, unless the user knows the token.
func Serve(ctx context.Context, a *app.App, o Options) error {
	listed, err := answers.Origins(ctx, a)
	if err != nil {
		return err
	}
	o.Origins = append(slices.Clone(o.Origins), listed...)
	for _, origin := range o.Origins {
		if err := checkOrigin(origin); err != nil {
			return err
		}
	}
	if o.Addr == "" {
		o.Addr = DefaultAddr
	}
	ln, err := httpguard.Listen(ctx, o.Addr)
	if err != nil {
		return err
	}
	o.Addr = ln.Addr().String()
	if o.Token == "" {
		o.Token = httpguard.NewToken()
	}
	if o.TokenFrom != "" {
		fmt.Fprintf(o.log(), "%s/ with the token in %s\n", httpguard.URL(o.Addr), o.TokenFrom)
	} else {
		fmt.Fprintf(o.log(), "%s/#token=%s\n", httpguard.URL(o.Addr), o.Token)
	}
	if o.OpenRead {
		fmt.Fprintln(o.log(), "reading needs no token: every user and every program of this machine can search and read all that is indexed")
	}
	if o.Ready != nil {
		o.Ready()
	}
	if o.Public == "" {
		return httpguard.Run(ctx, httpguard.Server(Handler(a, o)), ln)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	beside := make(chan error, 1)
	go func() {
		defer stop() // one without the other is not what was asked for
		beside <- ServePublic(ctx, a, o.Public, o)
	}()
	err = httpguard.Run(ctx, httpguard.Server(Handler(a, o)), ln)
	stop()
	return cmp.Or(<-beside, err)
}

// checkOrigin accepts scheme://host[:port] and nothing that would let everyone in.
func checkOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
		strings.Contains(u.Host, "*") || origin != u.Scheme+"://"+strings.ToLower(u.Host) {
		return kb.Errorf(kb.Invalid, "%q is not an origin", origin).
			WithHint("write scheme, host and port alone, for example https://docs.example.org")
	}
	return nil
}

// Handler returns the API with its guard.
func Handler(a *app.App, o Options) http.Handler { return newService(a, o) }

// MemberHandler returns the commands of a table as routes, and nothing else, behind
// a guard: what one of several users reaches.
func MemberHandler(a *app.App, table *command.Table, guard *httpguard.Guard, log io.Writer) http.Handler {
	s := &service{app: a, log: log, mux: http.NewServeMux(), table: table, find: table.Find, guard: guard}
	s.commands()
	return s
}

func newService(a *app.App, o Options) *service {
	if o.Addr == "" {
		o.Addr = DefaultAddr
	}
	if o.Token == "" {
		o.Token = httpguard.NewToken() // no client knows it, so none writes
	}
	s := &service{
		app: a, log: o.log(), mux: http.NewServeMux(), table: product.Commands(), find: product.Commands().Find,
		guard: &httpguard.Guard{
			Bound: o.Addr, Secret: o.Token, OpenRead: o.OpenRead, RequireToken: o.RequireToken, Origins: o.Origins, Hosts: o.Hosts,
			// A page's widget asks a few times a minute; this is for the rest.
			Limit: &httpguard.Limiter{Rate: 1, Burst: 20},
		},
		// A person rates a few answers of a conversation.
		ratings:        &httpguard.Limiter{Rate: 0.1, Burst: 30},
		sessionRatings: &httpguard.Limiter{Rate: 1.0 / 60, Burst: 10},
	}
	s.routes()
	if o.MCP != nil {
		mcp := o.MCP(s.guard)
		for _, path := range append([]string{"/mcp"}, o.MCPPaths...) {
			s.mux.Handle(path, mcp)
		}
	}
	if o.Page != nil {
		for pattern, h := range o.Page(s.guard) {
			if pattern == root {
				s.page = h
				continue
			}
			s.mux.Handle(pattern, h)
		}
	}
	return s
}

// service is the API of one server.
type service struct {
	app    *app.App
	log    io.Writer
	mux    *http.ServeMux
	guard  *httpguard.Guard
	table  *command.Table
	find   func(name string) (command.Command, error) // of table, but in tests
	page   http.Handler                               // for people at /; nil where there is none
	public bool                                       // knows the public side alone: see public.go
	names  sync.Map                                   // what shown remembers

	asking chan struct{} // places that answers are made at
	// How many ratings are taken without the token, by address, and by session.
	ratings, sessionRatings *httpguard.Limiter
}
