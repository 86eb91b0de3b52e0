package mcpsource

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// program is a server that is a process.
type program struct {
	cmd       *exec.Cmd
	transport *transport.Stdio
	stdin     io.Closer
	out       *lines
	err       *tail
	done      chan struct{} // closed when the process has ended
	stopping  sync.Once
}

// inherited are the variables that a program gets of our environment: what finds
// programs, files and certificates, and nothing that may be a secret.
var inherited = strings.Fields(`PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_ALL LC_CTYPE TZ TMPDIR TEMP TMP TERM
	XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS
	SystemRoot SystemDrive WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES ProgramFiles(x86)
	USERPROFILE HOMEDRIVE HOMEPATH USERNAME NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE`)

// stopWait is how long a program has to end by itself once its input has ended.
const stopWait = 2 * time.Second

// startProgram starts a server that is a program.
func startProgram(ctx context.Context, s *Pool, l restapi.Link) (*program, error) {
	extra, err := l.Environment(ctx)
	if err != nil {
		return nil, err
	}
	var env []string
	for _, name := range inherited {
		if v := s.Env(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	dir := l.Server.Dir
	if dir == "" {
		dir = s.Dir
	}
	name := l.Server.Command[0]
	if strings.ContainsRune(filepath.ToSlash(name), '/') && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	cmd := exec.Command(name, l.Server.Command[1:]...) // it outlives the call
	cmd.Env, cmd.Dir = append(env, extra...), dir
	contain(cmd)
	p := &program{cmd: cmd, err: &tail{}, done: make(chan struct{})}
	cmd.Stderr = p.err
	cmd.WaitDelay = stopWait // what it started may hold its pipes
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, kb.Errorf(kb.NotFound, "the program of %s cannot be started: %s", l.Code, kb.Clip(oneLine(err.Error()), 200)).
			WithHint("a person may correct mcp in %s", l.File)
	}
	p.stdin = in
	p.out = &lines{from: bufio.NewReaderSize(out, 32<<10), most: 4*l.MaxBytes + 1<<20}
	p.transport = transport.NewIO(p.out, in, io.NopCloser(strings.NewReader("")))
	p.out.ended = func() {
		p.kill()       // what ends its output serves no more
		_ = cmd.Wait() // how it ended matters to nobody
		close(p.done)
	}
	return p, nil
}

func (p *program) ended() bool { return p.out.over.Load() }

func (p *program) kill() { killGroup(p.cmd) }

// stop ends the program: by the end of its input, then by force.
func (p *program) stop() {
	p.stopping.Do(func() { p.stdin.Close() })
	select {
	case <-p.done:
	case <-time.After(stopWait):
		p.kill()
	}
}

// said returns the end of what the program wrote to stderr.
func (p *program) said() string { return p.err.String() }

// fault says what was wrong with what the program wrote, nil when nothing was.
func (p *program) fault(l restapi.Link) error {
	if !p.out.large.Load() {
		return nil
	}
	return kb.Errorf(kb.TooLarge, "the program of %s wrote a message of more than %d bytes and was stopped", l.Code, p.out.most).
		WithHint("ask it for less; a person may raise maxBytes of %s", l.Code)
}

// lines reads what a program writes, of which no line may be longer than most.
type lines struct {
	from  *bufio.Reader
	most  int64
	line  int64 // bytes of the line at hand
	ended func()
	once  sync.Once
	large atomic.Bool
	over  atomic.Bool
}

// Read ends with io.EOF whatever happens: the client would write anything else to the log.
func (r *lines) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	for _, c := range b[:n] {
		if r.line++; c == '\n' {
			r.line = 0
		}
	}
	if r.line > r.most {
		r.large.Store(true)
		err = io.EOF
	}
	if err != nil {
		r.over.Store(true)
		r.once.Do(func() { go r.ended() })
		return n, io.EOF
	}
	return n, nil
}

// tailBytes is how much of what a program writes to stderr is kept.
const tailBytes = 8 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	end []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, b[max(0, len(b)-tailBytes):]...)
	if len(t.end) > 2*tailBytes {
		t.end = append([]byte(nil), t.end[len(t.end)-tailBytes:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.end[max(0, len(t.end)-tailBytes):]), "")
}
