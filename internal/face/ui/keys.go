package ui

import (
	"context"
	"slices"
	"unicode"

	"github.com/gdamore/tcell/v3"
)

// handle does what a key asks.
func (f *finder) handle(ctx context.Context, e tcell.Event) {
	switch e := e.(type) {
	case *tcell.EventResize:
		f.screen.Sync()
	case *tcell.EventKey:
		if !f.edit(e) {
			f.act(ctx, e)
		}
	}
}

// act does what does not change the query.
func (f *finder) act(ctx context.Context, e *tcell.EventKey) {
	shift := e.Modifiers()&tcell.ModShift != 0
	switch e.Key() {
	case tcell.KeyEscape, tcell.KeyCtrlC, tcell.KeyCtrlG:
		f.done = true
	case tcell.KeyCtrlD:
		f.done = len(f.query) == 0
	case tcell.KeyUp, tcell.KeyCtrlP, tcell.KeyCtrlK:
		if shift {
			f.preview.scroll--
			return
		}
		f.move(-1)
	case tcell.KeyDown, tcell.KeyCtrlN, tcell.KeyCtrlJ:
		if shift {
			f.preview.scroll++
			return
		}
		f.move(1)
	case tcell.KeyPgUp:
		f.preview.scroll -= f.layout().rows / 2
	case tcell.KeyPgDn:
		f.preview.scroll += f.layout().rows / 2
	case tcell.KeyTab:
		f.store = (f.store + 1) % (len(f.stores) + 1)
	case tcell.KeyBacktab:
		f.store = (f.store + len(f.stores)) % (len(f.stores) + 1)
	case tcell.KeyCtrlL:
		f.screen.Sync()
	case tcell.KeyCtrlO:
		f.choose()
	case tcell.KeyEnter:
		if f.o.Print {
			f.choose()
			return
		}
		f.open(ctx)
	}
}

// choose ends with the place of the hit.
func (f *finder) choose() {
	if h := f.hit(); h != nil {
		f.chosen, f.done = place(h).written, true
	}
}

// edit changes the query as a shell changes its line.
func (f *finder) edit(e *tcell.EventKey) bool {
	switch e.Key() {
	case tcell.KeyRune:
		if e.Modifiers()&(tcell.ModAlt|tcell.ModCtrl|tcell.ModMeta) != 0 {
			return false
		}
		for _, r := range e.Str() {
			if unicode.IsPrint(r) {
				f.query = slices.Insert(f.query, f.cursor, r)
				f.cursor++
			}
		}
	case tcell.KeyBackspace:
		if f.cursor > 0 {
			f.cursor--
			f.query = slices.Delete(f.query, f.cursor, f.cursor+1)
		}
	case tcell.KeyDelete:
		if f.cursor < len(f.query) {
			f.query = slices.Delete(f.query, f.cursor, f.cursor+1)
		}
	case tcell.KeyCtrlW:
		begin := f.cursor
		for begin > 0 && f.query[begin-1] == ' ' {
			begin--
		}
		for begin > 0 && f.query[begin-1] != ' ' {
			begin--
		}
		f.query, f.cursor = slices.Delete(f.query, begin, f.cursor), begin
	case tcell.KeyCtrlU:
		f.query, f.cursor = slices.Delete(f.query, 0, f.cursor), 0
	case tcell.KeyLeft, tcell.KeyCtrlB:
		f.cursor = max(f.cursor-1, 0)
	case tcell.KeyRight, tcell.KeyCtrlF:
		f.cursor = min(f.cursor+1, len(f.query))
	case tcell.KeyHome, tcell.KeyCtrlA:
		f.cursor = 0
	case tcell.KeyEnd, tcell.KeyCtrlE:
		f.cursor = len(f.query)
	default:
		return false
	}
	return true
}
