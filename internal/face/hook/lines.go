package hook

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// maxTokens bounds each line, by package tokens.
const maxTokens = 60

// fewSpecs is from how many specifications on a folder is one that has them.
const fewSpecs = 3

// greet says in one line what there is to search here, and what to ask of
// specifications where there are some.
func greet(ctx context.Context, a *app.App, tool func(string) string) string {
	g, err := a.Glance(ctx)
	if err != nil {
		return ""
	}
	more := ""
	if g.Own != nil && g.Own.Head != nil && g.Own.Head.Specs >= fewSpecs {
		more = fmt.Sprintf(", and execute kdd:context before a change: %d specifications", g.Own.Head.Specs)
	}
	return say(there(g), tool("search"), more)
}

// there names what can be searched, or soon: the own folder first.
func there(g app.Glance) []string {
	var all []string
	if g.Own != nil {
		if s := stand(*g.Own); s != "" {
			all = append(all, "this folder ("+s+")")
		}
	}
	for _, st := range g.Stores {
		if s := stand(st); s != "" {
			all = append(all, name(st.Store)+" ("+s+")")
		}
	}
	return all
}

// say fits as many of the names as the bound allows, with more behind them.
func say(all []string, search, more string) string {
	if len(all) == 0 {
		return ""
	}
	for n := len(all); n >= 0; n-- {
		list := strings.Join(all[:n], ", ")
		switch rest := len(all) - n; {
		case n == 0:
			list = fmt.Sprintf("%d stores", rest)
		case rest > 0:
			list += fmt.Sprintf(", %d more", rest)
		}
		line := "knowledge has indexed " + list + ": ask " + search + " in words before grep" + more
		if n == 0 || tokens.Estimate(line) <= maxTokens {
			return line
		}
	}
	return ""
}

// stand returns the state of a store, "" for one that has nothing and gets nothing.
func stand(st app.GlanceStore) string {
	switch {
	case st.Head == nil && st.Busy:
		return "being indexed"
	case st.Head == nil:
		return ""
	case st.Head.Partial:
		return fmt.Sprintf("%d files so far", st.Head.Documents)
	case st.Head.Documents == 1:
		return "1 file"
	}
	return fmt.Sprintf("%d files", st.Head.Documents)
}

// name is a store's name with the tag or commit that is indexed. Names of
// stores are plain; what a repository calls its tags need not be.
func name(st kb.Store) string {
	at := ""
	if st.Head != nil {
		at = kb.ShortCommit(st.Head.Commit)
	}
	if st.Spec.Ref.Type == kb.RefTag {
		at = st.Spec.Ref.Name
	}
	if at == "" || len(at) > 20 || strings.Trim(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") != "" {
		return st.Label()
	}
	return st.Label() + "@" + at
}

// remind is a line for a sub-agent, which sees no instructions: how the tools are called.
func remind(ctx context.Context, a *app.App, tool func(string) string) string {
	g, err := a.Glance(ctx)
	if err != nil || !ready(g) {
		return ""
	}
	return fmt.Sprintf("Find code and docs by meaning with %s {\"query\":…}; read a hit with %s {\"resultId\":ID}", tool("search"), tool("get_full_context"))
}

// ready reports whether anything can be searched now.
func ready(g app.Glance) bool {
	if g.Own != nil && g.Own.Head != nil {
		return true
	}
	for _, st := range g.Stores {
		if st.Head != nil {
			return true
		}
	}
	return false
}
