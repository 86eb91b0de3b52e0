// Command knowledge gives agents and people ranked, cited knowledge of code.
// It only wires the faces together; "knowledge help" explains the rest.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/face/cli"
	"github.com/seed-4f2d999b/knowledge/internal/face/hook"
	"github.com/seed-4f2d999b/knowledge/internal/face/httpapi"
	"github.com/seed-4f2d999b/knowledge/internal/face/mcpserver"
	"github.com/seed-4f2d999b/knowledge/internal/face/page"
	"github.com/seed-4f2d999b/knowledge/internal/face/teamserver"
	"github.com/seed-4f2d999b/knowledge/internal/face/ui"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidencehttp"
	"github.com/seed-4f2d999b/knowledge/internal/platform/heap"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

func main() {
	// A client waits for its hooks at every turn: they come before all else,
	// and nothing that they meet is a failure.
	if len(os.Args) > 1 && os.Args[1] == "hook" {
		runHook(os.Args[2:])
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	faces := cli.Faces{MCP: serveMCP, Serve: serveHTTP, UI: showUI}
	if exe, err := os.Executable(); err == nil {
		faces.Worker = []string{exe}
	}
	os.Exit(cli.Main(ctx, faces))
}

func runHook(args []string) {
	if term.IsTerminal(int(os.Stdin.Fd())) { // no person types an event
		fmt.Fprintln(os.Stderr, "knowledge: hook answers programs that agents run in, which say on standard input what happens; for people there is: knowledge help")
		return
	}
	e := hook.Env{Stdin: os.Stdin, Stdout: os.Stdout, Getenv: os.Getenv, Now: time.Now}
	e.Dir, _ = os.Getwd()
	if len(args) > 0 {
		e.Event = args[0]
	}
	hook.Run(context.Background(), e)
}

func serveMCP(ctx context.Context, a *app.App, o cli.MCPOptions) error {
	defer background(ctx, a)()
	opts := mcpserver.Options{Tools: o.Tools, Addr: o.HTTP, NoAuth: o.NoAuth, Token: o.Token.Token, TokenFrom: known(o.Token), Log: o.Stderr}
	if o.HTTP != "" {
		return mcpserver.ServeHTTP(ctx, a, opts)
	}
	return mcpserver.ServeStdio(ctx, a, opts, o.Stdin, o.Stdout)
}

// serverGC is how much of what a server keeps may be garbage, in percent: its tables
// live as long as it does, and each of many sessions has a server of its own.
const serverGC = 40

// firstGC is the same until a server has answered its first question, for which the
// tables are made: with less they would be gone through a dozen times as they grow.
const firstGC = 200

// collect has the collector of a server keep to firstGC, and soon after the first
// question to serverGC.
func collect(ctx context.Context, a *app.App) {
	heap.SetPercent(firstGC)
	for !a.HasAsked() {
		if !pause(ctx, time.Second) {
			return
		}
	}
	if pause(ctx, 2*time.Second) {
		heap.SetPercent(serverGC)
		debug.FreeOSMemory()
	}
}

// pause waits and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// background lets a server follow its project and keep the clock; the
// function that it returns ends that.
func background(ctx context.Context, a *app.App) func() {
	ctx, stop := context.WithCancel(ctx)
	go collect(ctx, a)
	done := make(chan struct{})
	go func() {
		defer close(done)
		follow.Background(ctx, a)
	}()
	return func() {
		stop()
		<-done
	}
}

func showUI(ctx context.Context, a *app.App, o cli.UIOptions) error {
	return ui.Run(ctx, a, ui.Options{Query: o.Query, Stores: o.Stores, Print: o.Print, Color: o.Color, Stdout: o.Stdout, Getenv: os.Getenv})
}

func serveHTTP(ctx context.Context, a *app.App, o cli.ServeOptions) error {
	defer background(ctx, a)()
	if o.Team != "" {
		return serveTeam(ctx, a, o)
	}
	token := cmp.Or(o.Token.Token, httpguard.NewToken())
	ctx, stop := context.WithCancel(ctx)
	wait := func() {}
	defer func() { stop(); wait() }()
	mcp, err := mcpserver.Handler(ctx, a, mcpserver.Options{Log: o.Stdout})
	if err != nil {
		return err
	}
	return httpapi.Serve(ctx, a, httpapi.Options{MCP: mcp, MCPPaths: mcpserver.WellKnown, Page: page.Handlers, Addr: o.Addr, Public: o.Public, Token: token, TokenFrom: known(o.Token), OpenRead: o.OpenRead, RequireToken: o.RequireToken, Log: o.Stdout,
		Ready: func() {
			wait = evidencehttp.Start(ctx, a, evidencehttp.Options{
				Wanted: o.Beside, NoEvidence: o.NoEvidence, NoEnterprise: o.NoEnterprise, EvidencePort: o.EvidencePort, EnterprisePort: o.EnterprisePort,
				Token: token, RequireToken: o.RequireToken, Log: o.Stdout})
		}})
}

// serveTeam serves the users of a team; SIGHUP has their rights read again at once.
func serveTeam(ctx context.Context, a *app.App, o cli.ServeOptions) error {
	hup, reload := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hup:
				reload <- struct{}{}
			}
		}
	}()
	return teamserver.Serve(ctx, a, teamserver.Options{Addr: o.Team, Page: page.Handlers, Reload: reload, Log: o.Stderr,
		MCP: func(ctx context.Context, a *app.App, t *command.Table, g *httpguard.Guard, log io.Writer) (http.Handler, error) {
			h, err := mcpserver.Handler(ctx, a, mcpserver.Options{Commands: t, Log: log})
			if err != nil {
				return nil, err
			}
			return h(g), nil
		},
		API: func(_ context.Context, a *app.App, t *command.Table, g *httpguard.Guard, log io.Writer) (http.Handler, error) {
			return httpapi.MemberHandler(a, t, g, log), nil
		}})
}

// known is where the user knows a token from; "" when it was not shown yet.
func known(t httpguard.Given) string {
	if t.New {
		return ""
	}
	return t.From
}
