package teamtest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// op is a kind of request.
type op struct {
	name   string
	weight int  // how often it is made, of weights
	alone  bool // nothing else is asked meanwhile
	do     func(*asker)
}

var ops = []op{
	{"search a common word", 12, false, (*asker).common},
	{"search a store's word", 14, false, (*asker).word},
	{"stores", 8, false, (*asker).list},
	{"a store by name or id", 12, false, (*asker).info},
	{"documents of a store", 14, false, (*asker).documents},
	{"places by id", 10, false, (*asker).places},
	{"declarations and specifications", 8, false, (*asker).code},
	{"jobs", 8, false, (*asker).jobs},
	{"questions", 4, false, (*asker).questions},
	{"change a store", 4, false, (*asker).edit},
	{"commands of who runs it", 6, false, (*asker).forbidden},
	{"tokens that are none", 4, false, (*asker).impostor},
	{"paths of other servers", 4, false, (*asker).paths},
	{"make or delete a store", 1, true, (*asker).private},
}

const weights = 109

var hitID = regexp.MustCompile(`\\?"id\\?":\\?"([a-z2-7]{11})\\?"`)

// common searches what every store has.
func (a *asker) common() {
	in := args{"query": []string{"common word", "common thing", "everybody asks", "common requirement"}[a.rng.IntN(4)]}
	switch a.rng.IntN(4) {
	case 0:
		in["stores"] = []string{"*"}
	case 1:
		in["limit"] = 50
	case 2:
		in["detail"] = []string{"minimal", "contextual", "full"}[a.rng.IntN(3)]
	}
	if r := a.command("search", in); r.failed && !strings.Contains(r.text, "nothing to search") {
		a.w.leak("%s searches in vain: %s", a.user, clip(r.text))
	}
}

// word searches the word of one store: it is found by whom may read it, and by
// nobody else.
func (a *asker) word() {
	s := a.any()
	in := args{"query": s.marker, "detail": "minimal"}
	if a.rng.IntN(3) == 0 {
		name := a.called(s)
		if !s.seen(a.user) {
			a.alike("search in a store", name, a.absent(name), func(word string) reply {
				return a.command("search", args{"query": "common", "stores": []string{word}})
			})
			return
		}
		in["stores"] = []string{name}
	}
	r := a.command("search", in)
	if s.seen(a.user) && s.owner == "" {
		if !strings.Contains(r.text, s.secret) {
			a.w.leak("%s does not find %s in %s, which is theirs to read: %s", a.user, s.marker, s.name, clip(r.text))
		}
		a.w.mu.Lock()
		for _, m := range hitID.FindAllStringSubmatch(r.text, 3) {
			if len(s.hits) < 20 && strings.Count(r.text, s.name) > 0 && in["stores"] != nil {
				s.hits = append(s.hits, m[1])
			}
		}
		a.w.mu.Unlock()
	}
}

// list compares the list of stores with the model's, name by name.
func (a *asker) list() {
	a.mcp = false
	r := a.do(http.MethodGet, "/api/stores"+[]string{"", "?all=true"}[a.rng.IntN(2)], "", "Bearer "+a.w.tokens[a.user])
	got, ok := lists(r.text, "stores", "id")
	var want []string
	a.w.mu.Lock()
	for _, s := range a.w.stores {
		if s.seen(a.user) {
			want = append(want, s.id)
		}
	}
	a.w.mu.Unlock()
	slices.Sort(want)
	if !ok || !slices.Equal(got, want) {
		a.w.leak("%s has the stores %v and is shown %v: %s", a.user, want, got, clip(r.text))
	}
}

func (a *asker) info() {
	s := a.any()
	name := a.called(s)
	if a.rng.IntN(8) == 0 && name == s.id {
		name = s.id[:4+a.rng.IntN(8)]
	}
	ask := func(word string) reply { return a.command("store:info", args{"store": word}) }
	if !s.seen(a.user) {
		a.alike("store:info", name, a.absent(name), ask)
		return
	}
	if r := ask(name); len(name) > 8 && (r.failed || !strings.Contains(r.text, s.id)) {
		a.w.leak("%s is not shown %s: %s", a.user, name, clip(r.text))
	}
}

func (a *asker) documents() {
	s := a.any()
	name := a.called(s)
	kinds := []string{"read", "files", "grep", "store:pages", "code:files", "code:outline", "kdd:list"}
	kind := kinds[a.rng.IntN(len(kinds))]
	ask := func(word string) reply {
		in := args{"store": word}
		switch kind {
		case "read", "code:outline":
			in["path"] = "a.md"
			if s.seen(a.user) && kind == "read" && s.owner == "" {
				in["path"] = s.file()
			}
		case "grep":
			in["pattern"] = "common|everybody"
		case "kdd:list":
			in = args{"stores": []string{word}}
		}
		return a.command(kind, in)
	}
	if !s.seen(a.user) {
		a.alike(kind, name, a.absent(name), ask)
		return
	}
	if r := ask(name); s.owner == "" && kind == "read" && !strings.Contains(r.text, s.marker) {
		a.w.leak("%s cannot read %s: %s", a.user, name, clip(r.text))
	}
}

// places asks for ids that somebody was given, and for places in stores.
func (a *asker) places() {
	s := a.any()
	a.w.mu.Lock()
	id := ""
	if len(s.hits) > 0 {
		id = s.hits[a.rng.IntN(len(s.hits))]
	}
	a.w.mu.Unlock()
	ask := func(word string) reply { return a.command("get_full_context", args{"resultId": word}) }
	switch {
	case id != "" && !s.seen(a.user):
		a.alike("get_full_context", id, a.absent(id), ask)
	case id != "":
		if r := ask(id); r.failed {
			a.w.leak("%s is not shown %s of %s: %s", a.user, id, s.name, clip(r.text))
		}
	case s.owner == "" && !s.seen(a.user):
		a.alike("get_full_context of a place", s.secret, a.absent(s.secret), func(word string) reply { return ask(word + ".md:1") })
		a.alike("get_full_context of a name", "Handle"+s.marker, "Handle"+a.absent(s.marker), ask)
		a.alike("grep by get_full_context", s.name, a.absent(s.name), func(word string) reply {
			return ask(`grep {"store":"` + word + `","pattern":"common"}`)
		})
	}
}

func (a *asker) code() {
	s := a.any()
	if s.owner != "" {
		return
	}
	kinds := []string{"code:definition", "code:callers", "code:callees", "code:references", "code:symbols", "kdd:find", "kdd:section", "kdd:related", "kdd:search", "kdd:impact", "kdd:stats"}
	kind := kinds[a.rng.IntN(len(kinds))]
	ask := func(word string) reply {
		in := args{}
		switch kind {
		case "code:symbols", "kdd:search":
			in["query"] = "Handle" + word
		case "kdd:find", "kdd:section", "kdd:related", "kdd:impact":
			in["name"] = "REQ-" + word
		case "kdd:stats":
		default:
			in["symbol"] = "Handle" + word
		}
		return a.command(kind, in)
	}
	if !s.seen(a.user) && kind != "code:symbols" && kind != "kdd:search" { // which go by likeness, to what may be seen
		a.alike(kind, s.marker, a.absent(s.marker), ask)
		return
	}
	ask(s.marker)
}

func (a *asker) jobs() {
	s := a.any()
	a.w.mu.Lock()
	id := ""
	if len(s.jobs) > 0 {
		id = s.jobs[a.rng.IntN(len(s.jobs))]
	}
	a.w.mu.Unlock()
	if id == "" || a.rng.IntN(3) == 0 {
		a.command("jobs", args{"all": a.rng.IntN(2) == 0, "limit": 200})
		return
	}
	kind := []string{"job:status", "job:cancel"}[a.rng.IntN(2)]
	ask := func(word string) reply { return a.command(kind, args{"jobId": word}) }
	switch {
	case !s.seen(a.user):
		a.alike(kind, id, a.absent(id), ask)
	case kind == "job:status":
		if r := ask(id); r.failed && !strings.Contains(r.text, "no job has") { // the newest are kept
			a.w.leak("%s is not shown job %s of %s: %s", a.user, id, s.name, clip(r.text))
		}
	case s.owner == "" && !s.edit[a.user]:
		if r := ask(id); !r.failed || !strings.Contains(r.text, "may read") && !strings.Contains(r.text, "no job has") {
			a.w.leak("%s may cancel a job of %s: %s", a.user, s.name, clip(r.text))
		}
	}
}

// questions are asked in sessions that users call alike.
func (a *asker) questions() {
	s := a.any()
	a.command("answer:ask", args{"query": "what does everybody ask about " + s.marker + "?", "session_id": fmt.Sprintf("s%d", a.rng.IntN(3))})
}

// edit changes shared stores, or is refused.
func (a *asker) edit() {
	s := a.any()
	if s.owner == a.user {
		return
	}
	name := a.called(s)
	kind := []string{"store:delete", "store:rename", "store:index"}[a.rng.IntN(3)]
	ask := func(word string) reply {
		in := args{"store": word}
		if kind == "store:rename" {
			in["name"] = "renamed"
		}
		if kind == "store:delete" && a.rng.IntN(2) == 0 {
			in["everywhere"] = true
		}
		return a.command(kind, in)
	}
	if !s.seen(a.user) {
		a.alike(kind, name, a.absent(name), ask)
		return
	}
	if kind == "store:index" && s.edit[a.user] && a.rng.IntN(20) > 0 {
		return // each starts a process
	}
	r := ask(name)
	if may := kind == "store:index" && s.edit[a.user]; may == r.failed {
		a.w.leak("%s: %s of %s, allowed %v: %s", a.user, kind, s.name, may, clip(r.text))
	} else if id := regexp.MustCompile(`jobId\\?":\s*\\?"([a-z2-7]{8})`).FindStringSubmatch(r.text); may && id != nil {
		a.w.mu.Lock()
		s.jobs = append(s.jobs, id[1])
		a.w.mu.Unlock()
	}
}

// forbidden asks for what is for who runs the server.
func (a *asker) forbidden() {
	all := []string{"trust", "export", "import", "gc", "verify", "doctor", "usage", "selftest", "store:public", "store:update", "stores:sync", "suggest",
		"feedback:list", "feedback:stats", "feedback:add", "answer:session", "answer:forget", "resource:read", "resources", "api:call", "apis",
		"evidence:status", "gate:check", "repo:state", "sdd:open", "uninstall", "install", "team:token", "team:rights", "gain", "schedules", "store:schedule", "eval", "bench"}
	name := all[a.rng.IntN(len(all))]
	if r := a.command(name, args{}); !r.failed || !strings.Contains(r.text, "no command named") {
		a.w.leak("%s may run %s: %s", a.user, name, clip(r.text))
	}
	switch a.rng.IntN(3) {
	case 0:
		a.mcp = false
		if r := a.command("store:create", args{"source": []string{"/etc", "file:///etc", "zip:/etc/x.zip", a.w.Dir, "../data", "https://example.org/x", "npm:left-pad"}[a.rng.IntN(7)], "name": "mine"}); !r.failed {
			a.w.leak("%s made a store of what is not allowed: %s", a.user, clip(r.text))
		}
	case 1:
		a.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+[]string{"resources/list", "resources/templates/list", "tools/list", "prompts/list", "ping"}[a.rng.IntN(5)]+`"}`, "Bearer "+a.w.tokens[a.user])
	}
}

// impostor sends tokens that are none: nothing may come of them.
func (a *asker) impostor() {
	right := a.w.tokens[a.user]
	tokens := []string{"", "Bearer", "Basic " + right, "Bearer " + right[:len(right)-1], "Bearer " + strings.ToUpper(right), right, "Bearer null"}
	a.user = "" // who sees nothing
	path := []string{"/api/stores", "/mcp", "/metrics", "/api/jobs", "/api/commands"}[a.rng.IntN(5)]
	r := a.do(http.MethodGet, path, "", tokens[a.rng.IntN(2)])
	if r.status != http.StatusUnauthorized {
		a.w.leak("a token that is none: %s: %d %s", a.sent, r.status, clip(r.text))
	}
}

// paths are those at which other servers of the program answer.
func (a *asker) paths() {
	all := []string{"/api/v1/mcp/tools", "/api/v1/mcp/health", "/api/v1/chunks/aaaaaaaaaaa", "/api/v2/feedback", "/widget.js", "/answer.js", "/mcp/tools/list", "/api/tools/x",
		"/metrics", "/health", "/debug/pprof/", "/status", "/stores", "/.well-known/oauth-protected-resource", "/api/../metrics", "//api/stores", "/api/kdd/list", "/api/commands/stores%00"}
	a.do([]string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions}[a.rng.IntN(4)], all[a.rng.IntN(len(all))], "{}", "Bearer "+a.w.tokens[a.user])
}

// private makes a store of the user's own, or deletes one. Users call theirs alike,
// and make them of the same pages.
func (a *asker) private() {
	a.mcp = false
	var mine, others []*store
	a.w.mu.Lock()
	for _, s := range a.w.stores {
		if s.owner == a.user {
			mine = append(mine, s)
		} else if s.owner != "" {
			others = append(others, s)
		}
	}
	a.w.mu.Unlock()
	if len(mine) == 3 || len(mine) > 0 && a.rng.IntN(3) == 0 {
		gone := mine[a.rng.IntN(len(mine))]
		if r := a.command("store:delete", args{"store": gone.id}); r.failed {
			a.w.leak("%s cannot delete a store of theirs: %s", a.user, clip(r.text))
			return
		}
		a.w.mu.Lock()
		a.w.stores = slices.DeleteFunc(a.w.stores, func(s *store) bool { return s == gone })
		a.w.mu.Unlock()
		return
	}
	s := &store{owner: a.user, name: []string{"notes", "todo", "wiki", "diary"}[a.rng.IntN(4)], marker: "mk" + letters(a.rng, 10), secret: "sx" + letters(a.rng, 10)}
	if slices.ContainsFunc(mine, func(o *store) bool { return o.name == s.name }) {
		return
	}
	if len(others) > 0 && a.rng.IntN(3) == 0 {
		o := others[a.rng.IntN(len(others))]
		if slices.ContainsFunc(mine, func(x *store) bool { return x.secret == o.secret }) {
			return
		}
		s.marker, s.secret = o.marker, o.secret
	}
	a.w.mu.Lock()
	a.w.pages["/"+s.secret+"/"] = fmt.Sprintf("<html><head><title>Notes %s</title></head><body><main><h1>Notes %s</h1><p>Everybody has notes on the common word. "+
		"These are about %s, which %s explains at some length so that there is a text.</p></main></body></html>", s.secret, s.secret, s.marker, s.secret)
	a.w.mu.Unlock()
	r := a.command("store:create", args{"name": s.name, "type": "web", "source": a.w.site.URL + "/" + s.secret + "/", "maxPages": 1, "depth": 0})
	id := regexp.MustCompile(`\\?"id\\?":\s*\\?"([a-z2-7]{16})`).FindStringSubmatch(r.text)
	job := regexp.MustCompile(`jobId\\?":\s*\\?"([a-z2-7]{8})`).FindStringSubmatch(r.text)
	if r.failed || id == nil || job == nil {
		a.w.leak("%s cannot make a store: %s", a.user, clip(r.text))
		return
	}
	s.id, s.jobs = id[1], []string{job[1]}
	a.w.mu.Lock()
	a.w.stores = append(a.w.stores, s)
	a.w.result.Created++
	a.w.mu.Unlock()
	if r := a.command("job:status", args{"jobId": job[1], "wait": true}); r.failed || !strings.Contains(r.text, "completed") {
		a.w.leak("%s: the job of a store of theirs: %s", a.user, clip(r.text))
	}
	if r := a.command("search", args{"query": s.marker, "stores": []string{s.name}}); !strings.Contains(r.text, s.secret) {
		a.w.leak("%s does not find what is in %s: %s", a.user, s.name, clip(r.text))
	}
}
