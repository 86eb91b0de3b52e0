// Package cli is the face for people at a terminal: it turns words and flags
// into the arguments of a command of the registry and its result into tables,
// tab-separated lines or JSON. Every command, flag, choice and completion
// comes from the registry; only mcp, serve, work and version are its own.
package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// Faces are the other faces of the program, which the command line can start.
// Each returns when ctx ends or its input does.
type Faces struct {
	MCP   func(context.Context, *app.App, MCPOptions) error
	Serve func(context.Context, *app.App, ServeOptions) error
	UI    func(context.Context, *app.App, UIOptions) error
	// Worker is the program that runs jobs, with its first arguments; the rest
	// is "work JOB" with this run's data directory. Empty: jobs run in this
	// process and end with it.
	Worker []string
	// Program is app.Config.Program.
	Program string
}

// MCPOptions are the flags of `knowledge mcp`.
type MCPOptions struct {
	Tools  string          // "default" or "kdd"
	HTTP   string          // HOST:PORT to listen on; "" speaks over Stdin and Stdout
	NoAuth bool            // no bearer token over HTTP
	Token  httpguard.Given // over HTTP; none makes a new one

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// ServeOptions are the flags of `knowledge serve`.
type ServeOptions struct {
	Addr         string          // HOST:PORT
	Public       string          // HOST:PORT that the public may reach; "" for none
	Team         string          // HOST:PORT that the users of a team reach, and nothing else is opened; "" for none
	OpenRead     bool            // no token for what only reads, on this machine
	RequireToken bool            // also for what is public or open
	Token        httpguard.Given // none makes a new one

	Beside                       bool // open the two servers beside, asked for or not by anything else
	NoEvidence, NoEnterprise     bool // leave one of them out
	EvidencePort, EnterprisePort *int // nil: by the environment

	Stdout, Stderr io.Writer
}

// UIOptions are the flags of `knowledge ui`.
type UIOptions struct {
	Query  string
	Stores []string
	Print  bool // the place that is chosen, in the place of opening it
	Color  bool

	Stdout io.Writer
}

// Env is what a run of the program takes from its process.
type Env struct {
	Args           []string // without the program's name
	Dir            string   // working directory
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal and ErrTerminal say whether Stdout and Stderr are terminals:
	// tables and bars there, tab-separated and plain lines elsewhere.
	Terminal, ErrTerminal bool
	Width, Height         int                 // of Stdout, 0 for unknown
	ErrWidth              int                 // of Stderr
	Getenv                func(string) string // nil is os.Getenv
	// InTerminal says whether Stdin is one: a person may be asked.
	InTerminal bool
}

// Main runs the program with the process's own arguments and files, and
// returns its exit status.
func Main(ctx context.Context, faces Faces) int {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // deleted under us: what needs it will say so
	}
	size := func(f *os.File) (width, height int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0, 0 // no terminal
		}
		return width, height
	}
	width, height := size(os.Stdout)
	errWidth, _ := size(os.Stderr)
	return Run(ctx, faces, Env{
		Width: width, Height: height, ErrWidth: errWidth,
		Args: os.Args[1:], Dir: dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminal:    term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		InTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
	})
}

// Run runs the program once and returns its exit status: see command.Exits.
func Run(ctx context.Context, faces Faces, env Env) int {
	s := newSession(faces, env)
	args, err := s.seedForm(env.Args)
	if err == nil {
		err = enoughSpace(spaceLimit())
	}
	if err != nil {
		s.complain(err)
		return command.ExitStatus(err)
	}
	s.words = underscored(args)
	root := s.root()
	root.SetArgs(s.words)
	root.SetIn(env.Stdin)
	root.SetOut(s.Out)
	root.SetErr(env.Stderr)

	err = root.ExecuteContext(ctx)
	if e := s.close(); err == nil {
		err = e
	}
	if err != nil {
		if e := (*kb.Error)(nil); !errors.As(err, &e) && ctx.Err() != nil {
			err = kb.Errorf(kb.Canceled, "interrupted")
		}
		s.complain(err)
	}
	if err == nil {
		return s.status
	}
	return command.ExitStatus(err)
}

func newSession(faces Faces, env Env) *session {
	if env.Getenv == nil {
		env.Getenv = os.Getenv
	}
	s := &session{faces: faces, env: env, out: &output{w: env.Stdout}}
	s.buffer = bufio.NewWriterSize(s.out, 32<<10)
	s.Printer = &printer.Printer{Out: visible.Writer{W: s.buffer}, Terminal: env.Terminal, Width: env.Width, Words: s.forTerminal}
	s.errs = &printer.Printer{Out: visible.Writer{W: env.Stderr}, Terminal: env.ErrTerminal, Width: env.ErrWidth}
	s.Aside = s.errs
	s.paint("auto")
	return s
}

// session is one run of the program.
type session struct {
	*printer.Printer // the one door: nothing else writes to buffer

	faces  Faces
	env    Env
	buffer *bufio.Writer
	out    *output          // what buffer is written to
	errs   *printer.Printer // for standard error

	dataDir, project string
	format           string // "", json, table or plain
	json, quiet      bool
	color            string // auto, always or never
	noPager          bool
	indent           bool // JSON is

	words   []string // the arguments as they are understood
	running string   // the words of the command that runs, "store:create"
	dry     bool     // only see whether the words make sense

	app    *app.App // nil until a command needs it
	status int      // that a verdict asks for
}

// open returns the app, made on first use.
func (s *session) open() (*app.App, error) {
	if s.app != nil {
		return s.app, nil
	}
	a, err := product.New(app.Config{Version: command.Version, DataDir: s.dataDir, Project: s.project, Dir: s.env.Dir, Worker: s.faces.Worker, Program: s.faces.Program})
	if err != nil {
		return nil, err
	}
	s.app = a
	return a, nil
}

func (s *session) close() error {
	err := errors.Join(s.buffer.Flush(), s.out.end(s))
	if s.app != nil {
		err = errors.Join(err, s.app.Close())
	}
	return err
}
