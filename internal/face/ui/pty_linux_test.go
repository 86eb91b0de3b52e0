package ui_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gdamore/tcell/v3/vt"
	"golang.org/x/sys/unix"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/face/ui"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// TestMain is also the program that the tests start on a pseudo-terminal.
func TestMain(m *testing.M) {
	if dir := os.Getenv("UI_TEST_PROJECT"); dir != "" {
		os.Exit(show(dir))
	}
	os.Exit(m.Run())
}

func show(dir string) int {
	a, err := product.New(app.Config{Version: "test", DataDir: filepath.Join(dir, ".data"), Dir: dir})
	if err == nil {
		err = ui.Run(context.Background(), a, ui.Options{Color: true, Stdout: os.Stdout, Getenv: os.Getenv})
		_ = a.Close() // what it was asked for is done
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// terminal is an emulated terminal in which a program runs.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	cmd    *exec.Cmd
	back   vt.MockBackend
	em     vt.Emulator
	mu     sync.Mutex
	raw    strings.Builder
	ended  chan error
	gone   chan struct{} // when its output has been read
}

func size(f *os.File, width, height int) error {
	return unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width), Row: uint16(height)})
}

// start runs the finder on a terminal of 80 columns and 24 rows.
func start(t *testing.T, env ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	var slave *os.File
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err == nil {
		err = size(master, 80, 24)
	}
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	x := &terminal{t: t, master: master, slave: slave, back: vt.NewMockBackend(), ended: make(chan error, 1), gone: make(chan struct{})}
	x.em = vt.NewEmulator(x.back)
	if err := x.em.Start(); err != nil {
		t.Fatal(err)
	}
	x.cmd = exec.Command(os.Args[0])
	x.cmd.Env = append(os.Environ(), append([]string{"TERM=xterm-256color", "NO_COLOR=", "VISUAL="}, env...)...)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = slave, slave, slave
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go x.read()
	go func() { // what the terminal answers
		buf := make([]byte, 256)
		for {
			n, err := x.em.Read(buf)
			if err != nil {
				return
			}
			if n > 0 {
				if _, err := x.master.Write(buf[:n]); err != nil {
					return
				}
			}
		}
	}()
	go func() { x.ended <- x.cmd.Wait() }()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		_ = x.em.Stop()
		_ = x.slave.Close()
		_ = x.master.Close()
	})
	return x
}

func (x *terminal) read() {
	defer close(x.gone)
	buf := make([]byte, 4096)
	for {
		n, err := x.master.Read(buf)
		if err != nil {
			return
		}
		x.mu.Lock()
		x.raw.Write(buf[:n])
		x.mu.Unlock()
		if _, err := x.em.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (x *terminal) output() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.raw.String()
}

// screen is what the terminal shows.
func (x *terminal) screen() string {
	var b strings.Builder
	size := x.back.GetSize()
	for y := range size.Y {
		line := ""
		for c := vt.Col(0); c < size.X; c++ {
			cell := x.back.GetCell(vt.Coord{X: c, Y: y})
			if cell.C == "" {
				cell.C = " "
			}
			line += cell.C
			if cell.W == 2 {
				c++
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func (x *terminal) keys(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// until waits until the screen is as want says.
func (x *terminal) until(what string, want func(screen string) bool) {
	x.t.Helper()
	for range 1000 {
		if want(x.screen()) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	x.t.Fatalf("%s: the screen is still\n%s\nthe output ends\n%q", what, x.screen(), x.output()[max(0, len(x.output())-300):])
}

func shows(parts ...string) func(string) bool {
	return func(screen string) bool {
		for _, p := range parts {
			if !strings.Contains(screen, p) {
				return false
			}
		}
		return true
	}
}

// project is a folder with code in two languages and with what hides.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var long strings.Builder
	long.WriteString("package shop\n\nfunc restock(shelves []shelf) {\n" + strings.Repeat("\tshelves = fill(shelves, 12)\n", 58) + "}\n\n")
	long.WriteString("// CancelOrder gives back what was paid for an order.\nfunc CancelOrder(id string) error {\n" + strings.Repeat("\tlog(id, \"cancelled\")\n", 20) + "\treturn refund(id)\n}\n")
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", ".gitignore": ".data\n",
		"shop/order.go":  long.String(),
		"shop/parcel.py": "def track_parcel(number):\n    \"\"\"小包を追跡する: track it.\"\"\"\n    return carrier.find(number)\n",
		"hostile.md":     "# Zebra\n\nA zebra \x1b[2J\x1b]0;owned\x07 has\n\u202estripes\u202c that nobody \u009b31m sees.\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFinder(t *testing.T) {
	dir := project(t)
	opened := filepath.Join(t.TempDir(), "opened")
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nstty -a > "+opened+".stty\nprintf '%s\\n' \"$@\" > "+opened+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	x := start(t, "UI_TEST_PROJECT="+dir, "EDITOR="+editor)
	before, err := unix.IoctlGetTermios(int(x.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}

	// Search, with the code beside: the hit's own lines, marked.
	x.until("the start", shows("esc leaves"))
	x.keys("cancel an order")
	x.until("hits and code beside", shows("> cancel an order", "shop/order.go:64", "CancelOrder", "│", "65  func CancelOrder(id string) error {"))

	// What strangers wrote steers nothing, and wide characters keep their columns.
	x.keys("\x15zebra")
	x.until("a hostile document", shows("hostile.md:1", `\u001b[2J`, `\u202estripes`))
	if title := x.back.GetTitle(); strings.Contains(title, "owned") {
		t.Errorf("the document has set the title to %q", title)
	}
	x.keys("\x15track parcel")
	x.until("wide characters", shows("shop/parcel.py:1", "小包を追跡する"))

	// Smaller, then larger.
	for _, s := range [][2]int{{50, 16}, {8, 3}, {2, 1}, {120, 40}} {
		to := vt.Coord{X: vt.Col(s[0]), Y: vt.Row(s[1])}
		x.back.SetSize(to)
		if err := size(x.master, s[0], s[1]); err != nil {
			t.Fatal(err)
		}
		x.em.ResizeEvent(to) // which is told in the terminal's input too
		if s[0] < 50 { // too small for anything, and no reason to end
			time.Sleep(200 * time.Millisecond)
			continue
		}
		last := s[1] - 1
		x.until(fmt.Sprintf("%d columns, %d rows", s[0], s[1]), func(screen string) bool {
			lines := strings.Split(screen, "\n")
			return len(lines) > last && strings.HasPrefix(lines[last], "enter opens") && shows("shop/parcel.py:1", "def track_parcel")(screen)
		})
	}

	// One store only, and all again.
	x.keys("\t")
	x.until("one store", func(screen string) bool {
		return !strings.Contains(strings.SplitN(screen, "\n", 2)[0], "all stores") && shows("shop/parcel.py:1")(screen)
	})
	x.keys("\t")
	x.until("all stores", shows("all stores"))

	// Open: the editor has the terminal to itself, in its usual state.
	x.keys("\x15cancel an order")
	x.until("hits again", shows("shop/order.go:64"))
	x.keys("\r")
	x.until("the editor", func(string) bool { _, err := os.Stat(opened); return err == nil })
	x.until("the finder again", func(screen string) bool {
		return strings.Count(x.output(), "\x1b[?1049h") == 2 && shows("shop/order.go:64", "esc leaves")(screen)
	})
	if got, err := os.ReadFile(opened); err != nil || string(got) != "+64\n"+filepath.Join(dir, "shop", "order.go")+"\n" {
		t.Errorf("the editor got %q, %v", got, err)
	}
	if got, err := os.ReadFile(opened + ".stty"); err != nil || !regexp.MustCompile(`(^|\s)icanon(\s|$)`).Match(got) || !regexp.MustCompile(`(^|\s)echo(\s|$)`).Match(got) {
		t.Errorf("the editor found the terminal as %s, %v", got, err)
	}

	x.keys(" now")
	x.until("keys are read again", shows("> cancel an order now"))
	x.keys("\x1b")
	x.leaves(before)
}

// leaves checks that the program ends and has left the terminal as it was.
func (x *terminal) leaves(before *unix.Termios) {
	x.t.Helper()
	select {
	case err := <-x.ended:
		if err != nil {
			x.t.Errorf("it ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		x.t.Fatalf("it does not end:\n%s", x.screen())
	}
	after, err := unix.IoctlGetTermios(int(x.slave.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		x.t.Errorf("the line discipline was %+v and is %+v, %v", before, after, err)
	}
	_ = x.slave.Close()
	<-x.gone
	on := map[string]bool{}
	for _, m := range regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`).FindAllStringSubmatch(x.output(), -1) {
		for n := range strings.SplitSeq(m[1], ";") {
			on[n] = m[2] == "h"
		}
	}
	if !on["25"] {
		x.t.Error("the cursor is hidden")
	}
	if _, used := on["1049"]; !used {
		x.t.Error("the screen that was there before is overwritten")
	}
	for n, set := range on {
		if set && n != "25" && n != "7" { // seen, and lines that wrap, are how terminals begin
			x.t.Errorf("mode %s is left on", n)
		}
	}
}

// TestLeavingPrints: what is chosen with ctrl-o is printed once the screen is
// as it was.
func TestLeavingPrints(t *testing.T) {
	x := start(t, "UI_TEST_PROJECT="+project(t))
	before, err := unix.IoctlGetTermios(int(x.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	x.until("the start", shows("esc leaves"))
	x.keys("cancel an order")
	x.until("hits", shows("shop/order.go:64"))
	x.keys("\x0f")
	x.leaves(before)
	out := x.output()
	if i := strings.LastIndex(out, "\x1b[?1049l"); i < 0 || !strings.Contains(out[i:], "shop/order.go:64\r\n") {
		t.Errorf("the end is %q", out[max(0, len(out)-200):])
	}
}
