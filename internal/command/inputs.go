package command

import (
	"context"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

type searchIn struct {
	Query        string   `json:"query" arg:"1..." help:"what to find: words, a name, a quoted phrase, a path or an error message"`
	Intent       string   `json:"intent,omitempty" enum:"find-pattern|find-implementation|find-usage|find-definition|find-documentation" help:"what kind of place is wanted"`
	Mode         string   `json:"mode,omitempty" enum:"hybrid|vector|fts" help:"how to look: both ways (hybrid, the default), by meaning, or by words"`
	Detail       string   `json:"detail,omitempty" enum:"minimal|contextual|full" help:"how much to show of each hit (default minimal)"`
	Limit        int      `json:"limit,omitempty" help:"at most this many hits (default 10)"`
	Stores       []string `json:"stores,omitempty" help:"names or ids of the stores to search; * is every store"`
	Threshold    *float64 `json:"threshold,omitempty" help:"leave out hits that score less, from 0 to 1"`
	MinRelevance *float64 `json:"minRelevance,omitempty" help:"leave out hits whose cosine similarity is less, from 0 to 1"`
	In           string   `json:"in,omitempty" cli:"only" help:"only documents below this path of their store"`
	Explain      bool     `json:"explain,omitempty" cli:"only" help:"show what each score is made of"`
	Yes          bool     `json:"yes,omitempty" cli:"only" help:"index a home directory, a file-system root or a very large folder"`
	ToEnd        bool     `json:"wait,omitempty" cli:"only" help:"see the first index of a large folder to its end before answering"`
}

type contextIn struct {
	ResultID string `json:"resultId" arg:"1" help:"the id of a search hit, a place such as server.go:120, or the next of a long reply" person:"the id of a hit, or a place such as server.go:120"`
}

type readIn struct {
	Store string `json:"store,omitempty" arg:"1" help:"name or id of a store (default: the folder you are in)"`
	Path  string `json:"path" arg:"2" help:"path of a document, or the URL of a page; the end of a path will do, and a place such as src/app.py:120-140"`
	Lines string `json:"lines,omitempty" help:"12, 12-40, 12- or -40 (default all)"`
}

type filesIn struct {
	Store string `json:"store,omitempty" arg:"1" help:"name or id of a store (default: the folder you are in)"`
	Glob  string `json:"glob,omitempty" arg:"2" help:"pattern of paths with * ? [] and **"`
	Limit int    `json:"limit,omitempty" help:"at most this many paths (default 200)"`
}

type grepIn struct {
	Store      string `json:"store,omitempty" arg:"1" help:"name or id of a store (default: the folder you are in)"`
	Pattern    string `json:"pattern" arg:"2" help:"RE2 regular expression"`
	Glob       string `json:"glob,omitempty" help:"only in paths that match, with * ? [] and **"`
	IgnoreCase bool   `json:"ignoreCase,omitempty" help:"upper and lower case are the same"`
	Limit      int    `json:"limit,omitempty" help:"at most this many lines (default 50)"`
}

type storesIn struct {
	Type string `json:"type,omitempty" enum:"kinds" help:"only stores of this type; file and folder are the same"`
	All  bool   `json:"all,omitempty" help:"every store of every project"`
}

type storeIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store"`
}

type createIn struct {
	Name                string   `json:"name,omitempty" arg:"1" help:"what to call the store (default: from the source)"`
	Source              string   `json:"source" arg:"2" help:"folder, git URL, local repository, URL of a site, npm:NAME@VERSION or go:MODULE@VERSION"`
	Type                string   `json:"type,omitempty" enum:"kinds" help:"what the source is; file and folder are the same (default: from the source)"`
	Branch              string   `json:"branch,omitempty" help:"branch to index instead of the default one"`
	Tag                 string   `json:"tag,omitempty" help:"tag to index"`
	Commit              string   `json:"commit,omitempty" help:"commit to index"`
	Description         string   `json:"description,omitempty" help:"what the store is good for"`
	Tags                []string `json:"tags,omitempty" help:"words to label the store with"`
	Paths               []string `json:"paths,omitempty" help:"only these folders or files of the source"`
	All                 bool     `json:"all,omitempty" help:"also vendored trees, lockfiles and minified files"`
	MaxFileBytes        int      `json:"maxFileBytes,omitempty" help:"largest file to index (default 1048576)"`
	Scope               string   `json:"scope,omitempty" enum:"project|user" help:"who sees the name: this project (the default) or all of yours"`
	Follows             string   `json:"follows,omitempty" help:"dependency whose locked version the tag is, such as npm:react; store:update moves along"`
	Save                bool     `json:"save,omitempty" help:"write it into .knowledge/stores.json of the project too"`
	Depth               int      `json:"depth,omitempty" help:"site: how many links away from the source (default 10)"`
	MaxPages            int      `json:"maxPages,omitempty" help:"site: at most this many pages (default 1000)"`
	CrawlInstructions   string   `json:"crawlInstructions,omitempty" help:"site: which pages come first, in plain words"`
	ExtractInstructions string   `json:"extractInstructions,omitempty" help:"site: which sections of the pages are kept, in plain words"`
	Include             []string `json:"include,omitempty" help:"site: only paths that match a pattern, such as /guide/ or *.html"`
	Exclude             []string `json:"exclude,omitempty" help:"site: no paths that match"`
	Hosts               []string `json:"hosts,omitempty" help:"site: further hosts to follow links to, such as *.example.org"`
	Headless            string   `json:"headless,omitempty" enum:"auto|always|never" help:"site: when a browser reads a page (auto, the default: when it holds no text without)"`
	Yes                 bool     `json:"yes,omitempty" cli:"only" help:"index a home directory, a file-system root or a very large folder"`
}

type indexIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store"`
	Force bool   `json:"force,omitempty" help:"read every document again"`
}

type pagesIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store of type web"`
	State string `json:"state,omitempty" enum:"kept|failed|left-out|redirect|folded|noindex|empty" help:"only addresses of which this became"`
	Text  string `json:"text,omitempty" help:"only addresses that hold this text"`
	Limit int    `json:"limit,omitempty" help:"at most this many addresses (default 50)"`
}

type deleteIn struct {
	Store      string `json:"store" arg:"1" help:"name or id of a store"`
	Everywhere bool   `json:"everywhere,omitempty" help:"also for every other project that uses it"`
}

type jobsIn struct {
	ActiveOnly bool   `json:"activeOnly,omitempty" help:"only jobs that have not ended"`
	Status     string `json:"status,omitempty" enum:"queued|pending|running|completed|failed|cancelled|interrupted" help:"only jobs in this state; pending and queued are the same"`
	Limit      int    `json:"limit,omitempty" default:"20" help:"at most this many jobs (default 20)"`
	All        bool   `json:"all,omitempty" help:"also those of other projects"`
	Follow     bool   `json:"follow,omitempty" cli:"only" help:"wait until every job has ended, and tell how far they are"`
}

type jobStatusIn struct {
	JobID string `json:"jobId" arg:"1" help:"id of a job"`
	Wait  bool   `json:"wait,omitempty" help:"answer when it has ended; an agent after 20 seconds at the latest"`
}

type jobIn struct {
	JobID string `json:"jobId" arg:"1" help:"id of a job"`
}

type trustIn struct {
	Path   string `json:"path" arg:"1" help:"the project file or folder to vouch for"`
	Forget bool   `json:"forget,omitempty" help:"take back that you vouch for it"`
}

func runTrust(ctx context.Context, a *app.App, in trustIn) (Message, error) {
	if !isCLI(ctx) {
		return Message{}, kb.Errorf(kb.Denied, "only a person at a terminal can vouch for something").WithHint("ask your user")
	}
	said, err := a.Trust(ctx, in.Path, in.Forget)
	return Message{said}, err
}

// firstUse is how long a search that starts the first index of a folder waits
// for it: an agent gets what is ready. A person sees it to the end, or, when
// much is left to do after earlyCLI, gets what is ready too.
const (
	firstUse    = 3 * time.Second
	firstUseCLI = 24 * time.Hour
	earlyCLI    = 10 * time.Second
)

// jobWait is how long an agent may wait for a job; clients give up after 60 s.
const jobWait = 20 * time.Second

func runJobStatus(ctx context.Context, a *app.App, in jobStatusIn) (kb.Job, error) {
	switch {
	case !in.Wait:
		return a.Job(ctx, in.JobID)
	case isCLI(ctx):
		return a.JobWithin(ctx, in.JobID, firstUseCLI)
	}
	return a.JobWithin(ctx, in.JobID, jobWait)
}

// waiting is how long the reader of ctx waits.
func waiting(ctx context.Context) app.Waiting {
	if isCLI(ctx) {
		return app.Waiting{Wait: firstUseCLI, Early: earlyCLI, Person: true}
	}
	return app.Waiting{Wait: firstUse}
}

func runSearch(ctx context.Context, a *app.App, in searchIn) (app.SearchReply, error) {
	r := app.SearchRequest{
		Query: in.Query, Intent: in.Intent, Mode: in.Mode, Detail: in.Detail, Limit: in.Limit, Stores: in.Stores,
		Threshold: in.Threshold, MinRelevance: in.MinRelevance, Explain: in.Explain, Yes: in.Yes,
	}
	w := waiting(ctx)
	r.Wait, r.Early, r.Person = w.Wait, w.Early, w.Person
	if in.ToEnd {
		r.Early = 0
	}
	r.In = in.In
	return a.Search(ctx, r)
}

func runRead(ctx context.Context, a *app.App, in readIn) (app.FileText, error) {
	if in.Store == "" {
		return a.ReadHere(ctx, in.Path, in.Lines, waiting(ctx))
	}
	return a.Read(ctx, in.Store, in.Path, in.Lines, waiting(ctx))
}

// runFiles lists the paths of a store or of the folder. One word on the command
// line is a store if there is one of that name, else a pattern.
func runFiles(ctx context.Context, a *app.App, in filesIn) (app.FileList, error) {
	if in.Store == "" {
		return a.FilesHere(ctx, in.Glob, in.Limit, waiting(ctx))
	}
	if isCLI(ctx) && in.Glob == "" && !a.HasStore(ctx, in.Store) {
		list, err := a.FilesHere(ctx, in.Store, in.Limit, waiting(ctx))
		if err != nil || list.Total > 0 || strings.ContainsAny(in.Store, "*?[/.") {
			return list, err
		}
		// Neither: what is wrong is more likely the name of the store.
	}
	return a.Files(ctx, in.Store, in.Glob, in.Limit, waiting(ctx))
}

// runGrep greps. Two words in the other order, as other programs have them,
// are told apart when the second is a store or a path.
func runGrep(ctx context.Context, a *app.App, in grepIn) (app.GrepReply, error) {
	if in.Store == "" {
		return a.GrepHere(ctx, in.Pattern, in.Glob, in.IgnoreCase, in.Limit, waiting(ctx))
	}
	r, err := a.Grep(ctx, in.Store, in.Pattern, in.Glob, in.IgnoreCase, in.Limit, waiting(ctx))
	if kb.CodeOf(err) != kb.NotFound || a.HasStore(ctx, in.Store) {
		return r, err
	}
	e := kb.Errorf(kb.NotFound, "%w", err)
	if a.HasStore(ctx, in.Pattern) {
		return r, e.WithHint("the store comes before the pattern: grep %s", JSON(grepIn{Store: in.Pattern, Pattern: in.Store}))
	}
	if list, fe := a.FilesHere(ctx, in.Pattern, 1, waiting(ctx)); fe == nil && list.Total > 0 {
		glob := in.Pattern
		if list.Files[0] != strings.TrimPrefix(glob, "./") {
			glob = strings.TrimSuffix(glob, "/") + "/**"
		}
		return r, e.WithHint("only in those paths looks: grep %s", JSON(grepIn{Pattern: in.Store, Glob: glob}))
	}
	return r, err
}

func runJobs(ctx context.Context, a *app.App, in jobsIn) (app.JobList, error) {
	state := kb.JobState(in.Status)
	if in.Status == "pending" {
		state = kb.JobQueued
	}
	if in.Follow {
		if err := follow(ctx, a, in.All); err != nil {
			return app.JobList{}, err
		}
	}
	list, err := a.Jobs(ctx, app.JobFilter{State: state, Active: in.ActiveOnly, All: in.All})
	if err == nil && len(list.Jobs) > in.Limit {
		list.Jobs = list.Jobs[:in.Limit]
	}
	return list, err
}

// follow waits for the jobs that have not ended, and for those that come meanwhile.
func follow(ctx context.Context, a *app.App, all bool) error {
	for {
		active, err := a.Jobs(ctx, app.JobFilter{Active: true, All: all})
		if err != nil || len(active.Jobs) == 0 {
			return err
		}
		// The oldest is the one that runs.
		if _, err := a.WaitJob(ctx, active.Jobs[len(active.Jobs)-1].ID); err != nil {
			return err
		}
	}
}

// kindOf reads a type as agents and people write it.
func kindOf(t string) kb.Kind {
	if t == "file" {
		return kb.KindFolder
	}
	return kb.Kind(t)
}

func runCreate(ctx context.Context, a *app.App, in createIn) (app.Started, error) {
	return a.CreateStore(ctx, app.CreateStore{
		Name: in.Name, Kind: kindOf(in.Type), Source: in.Source, Branch: in.Branch, Tag: in.Tag, Commit: in.Commit,
		Description: in.Description, Tags: in.Tags, Paths: in.Paths, All: in.All, MaxFile: int64(in.MaxFileBytes), User: in.Scope == "user", Yes: in.Yes,
		Follows: in.Follows, Save: in.Save, Agent: !isCLI(ctx),
		Web: kb.Web{Depth: in.Depth, MaxPages: in.MaxPages, Crawl: in.CrawlInstructions, Extract: in.ExtractInstructions,
			Include: in.Include, Exclude: in.Exclude, Hosts: in.Hosts, Headless: in.Headless},
	})
}
