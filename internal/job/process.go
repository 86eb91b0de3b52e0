package job

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Processes returns a runner that runs jobs in processes of their own, which
// outlive the one that submits: command is the program and its arguments, to
// which the id of the job is added; it calls Manager.Drain. The processes are
// detached and inherit nothing but the environment; what they say on stderr
// (which is what a crash says) goes to the file log.
//
// A process is only started when a slot is free. Otherwise the job stays
// queued: who ends a job gives its slot back before it looks for the next
// one, and who submits writes the row before it looks for a slot, so that one
// of the two sees the other.
func Processes(command []string, log string) func(*Manager) Runner {
	return func(m *Manager) Runner {
		return &processes{
			m: m, command: command, log: log,
			failed: map[string]int{}, cramped: map[string]bool{}, alive: map[string]bool{},
		}
	}
}

// maxStarts is how many processes may end without having taken their job, or
// without having written its end, before Start returns an error.
const maxStarts = 3

type processes struct {
	m       *Manager
	command []string
	log     string

	mu      sync.Mutex
	failed  map[string]int  // processes that ended before their job began
	cramped map[string]bool // jobs of failed that found no space
	alive   map[string]bool // jobs whose process has not ended
}

func (p *processes) Start(ctx context.Context, j kb.Job) error {
	if p.m.base.Err() != nil {
		return context.Cause(p.m.base)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive[j.ID] || !p.m.orphan(j.ID) {
		return nil // a child is starting, or another process runs it
	}
	if free, err := p.m.slotFree(ctx, j.ID); err != nil || !free {
		return err
	}
	if p.failed[j.ID] >= maxStarts {
		if err := p.m.room(); err != nil { // a worker that cannot even open the database says so in its log alone
			p.cramped[j.ID] = true
			return err
		}
		if !p.cramped[j.ID] {
			return kb.Errorf(kb.Internal, "the worker process for job %q ends before the job does", j.ID).
				WithHint("see what it said in %s", p.log)
		}
		delete(p.cramped, j.ID)
		delete(p.failed, j.ID)
	}
	cmd := exec.Command(p.command[0], append(p.command[1:len(p.command):len(p.command)], j.ID)...)
	cmd.Dir = filepath.Dir(p.log)
	detach(cmd)
	if f := openLog(p.log); f != nil {
		cmd.Stderr = f
		defer f.Close()
	}
	if err := cmd.Start(); err != nil {
		return kb.Errorf(kb.Internal, "a worker process cannot be started: %w", err).
			WithHint("the job stays queued; run the command again")
	}
	p.alive[j.ID] = true
	go func() {
		_ = cmd.Wait() // the job's row has its end
		now, err := p.m.read(context.Background(), j.ID)
		// A process that was killed has no exit code; its job is run again.
		gaveUp := err == nil && now.State == kb.JobRunning && cmd.ProcessState.ExitCode() > 0 && p.m.orphan(j.ID)
		if gaveUp {
			p.m.leave(j.ID, p.m.probe(context.Background(), j.ID))
		}
		p.mu.Lock()
		delete(p.alive, j.ID)
		if err == nil && now.State == kb.JobQueued || gaveUp {
			p.failed[j.ID]++
		} else {
			delete(p.failed, j.ID)
			delete(p.cramped, j.ID)
		}
		p.mu.Unlock()
		p.m.announce()
	}()
	return nil
}

// room returns the error of writing as much as a worker needs to begin, which is
// the shared memory of the database.
func (m *Manager) room() error {
	f, err := atomicfile.Create(filepath.Join(m.cfg.Dir, "room"))
	if err != nil {
		return err
	}
	defer f.Abort()
	_, err = f.Write(make([]byte, 64<<10))
	return err
}

// Close leaves the workers alone: they end when their work does.
func (p *processes) Close(context.Context) error { return nil }

// openLog opens the log for appending, starting it anew when it is large; nil
// when that fails, since a job does not need a log.
func openLog(path string) *os.File {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > 1<<20 {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil
	}
	return f
}

// slotFree reports whether a job of the job's class could begin now.
func (m *Manager) slotFree(ctx context.Context, id string) (bool, error) {
	class, err := m.class(ctx, id)
	if err != nil {
		return false, err
	}
	for i := range m.cfg.Slots {
		if _, held := lockfile.Held(m.slotPath(class, i)); !held {
			return true, nil
		}
	}
	return false, nil
}

func (m *Manager) slotPath(class Class, i int) string {
	return filepath.Join(m.cfg.Dir, "slot-"+string(class)+"-"+strconv.Itoa(i)+".lock")
}

// Drain runs the job in this process, and then, one after the other, those
// that no process runs, until there are none. A worker process calls it. kb.Busy
// when another process runs the first one; that is no failure.
func (m *Manager) Drain(ctx context.Context, id string) error {
	if _, err := m.Work(ctx, id); err != nil && kb.CodeOf(err) != kb.Busy {
		return err
	}
	tried := map[string]bool{id: true}
	for ctx.Err() == nil {
		next, err := m.next(ctx, tried)
		if err != nil || next == "" {
			return err
		}
		tried[next] = true
		if _, err := m.Work(ctx, next); err != nil && kb.CodeOf(err) != kb.Busy {
			return err
		}
	}
	return nil
}

// next returns the oldest job that no process runs, that this process can run,
// and whose class has a free slot; "" when there is none.
func (m *Manager) next(ctx context.Context, tried map[string]bool) (string, error) {
	jobs, err := m.query(ctx, "state IN ('queued', 'running', 'interrupted')")
	if err != nil {
		return "", err
	}
	for i := len(jobs) - 1; i >= 0; i-- {
		j := jobs[i]
		if tried[j.ID] || !m.orphan(j.ID) || m.cfg.Handlers[j.Type] == nil {
			continue
		}
		able, err := m.able(ctx, j.ID)
		if err != nil {
			return "", err
		}
		free, err := m.slotFree(ctx, j.ID)
		if err != nil {
			return "", err
		}
		if able && free {
			return j.ID, nil
		}
	}
	return "", nil
}
