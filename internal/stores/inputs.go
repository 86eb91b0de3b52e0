package stores

import (
	"context"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

type storesIn struct {
	Type string `json:"type,omitempty" enum:"kinds" help:"only stores of this type; file and folder are the same"`
	All  bool   `json:"all,omitempty" help:"every store of every project"`
}

type storeIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store"`
}

type createIn struct {
	Name                string   `json:"name,omitempty" arg:"1" help:"what to call the store (default: from the source)"`
	Source              string   `json:"source" arg:"2" unless:"from" help:"folder, zip archive, git URL, local repository, URL of a site, npm:NAME@VERSION, go:MODULE@VERSION, or shared:NAME on the cluster of index.url"`
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
	Shared              bool     `json:"shared,omitempty" help:"put it on the cluster of index.url, where other machines find it; a person says so"`
	Depth               int      `json:"depth,omitempty" help:"site: how many links away from the source (default 10)"`
	MaxPages            int      `json:"maxPages,omitempty" help:"site: at most this many pages (default 1000)"`
	CrawlInstructions   string   `json:"crawlInstructions,omitempty" help:"site: which pages come first, in plain words"`
	ExtractInstructions string   `json:"extractInstructions,omitempty" help:"site: which sections of the pages are kept, in plain words"`
	Include             []string `json:"include,omitempty" help:"site: only paths that match a pattern, such as /guide/ or *.html"`
	Exclude             []string `json:"exclude,omitempty" help:"site: no paths that match"`
	Hosts               []string `json:"hosts,omitempty" help:"site: further hosts to follow links to, such as *.example.org"`
	Headless            string   `json:"headless,omitempty" enum:"auto|always|never" help:"site: when a browser reads a page (auto, the default: when it holds no text without)"`
	From                string   `json:"from,omitempty" help:"where a store is published (https://, s3:// or a folder): take its index instead of making one; with a source, index what differs"`
	Key                 string   `json:"key,omitempty" cli:"only" help:"public key of who published it, once; it is remembered"`
	Older               bool     `json:"older,omitempty" cli:"only" help:"take a publication that is older than the one taken before"`
	Paid                bool     `json:"paid,omitempty" cli:"only" help:"send what has to be embedded to its provider, whatever that costs"`
	Yes                 bool     `json:"yes,omitempty" cli:"only" help:"index a home directory, a file-system root or a very large folder; fetch more than 8 GB"`
}

type indexIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store"`
	Force bool   `json:"force,omitempty" help:"read every document again"`
	Paid  bool   `json:"paid,omitempty" cli:"only" help:"send what has to be embedded to its provider, whatever that costs"`
}

type deleteIn struct {
	Store      string `json:"store" arg:"1" help:"name or id of a store"`
	Everywhere bool   `json:"everywhere,omitempty" help:"also for every other project that uses it"`
	Shared     bool   `json:"shared,omitempty" cli:"only" help:"also from the cluster that machines share, for all of them"`
}

type renameIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store of this project"`
	Name  string `json:"name" arg:"2" help:"what to call it from now on"`
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

func runTrust(ctx context.Context, a *app.App, in trustIn) (command.Message, error) {
	if !command.IsCLI(ctx) {
		return command.Message{}, kb.Errorf(kb.Denied, "only a person at a terminal can vouch for something").WithHint("ask your user")
	}
	said, err := a.Trust(ctx, in.Path, in.Forget)
	return command.Message{Message: said}, err
}

// jobWait is how long an agent may wait for a job; clients give up after 60 s.
const jobWait = 20 * time.Second

func runJobStatus(ctx context.Context, a *app.App, in jobStatusIn) (kb.Job, error) {
	switch {
	case !in.Wait:
		return a.Job(ctx, in.JobID)
	case command.IsCLI(ctx):
		return a.JobWithin(ctx, in.JobID, command.FirstUseCLI)
	}
	return a.JobWithin(ctx, in.JobID, jobWait)
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
	if in.From != "" && in.Source == "" && (strings.ContainsAny(in.Name, `/\:~`) || strings.Trim(in.Name, ".") == "") {
		in.Name, in.Source = "", in.Name // one word is a name unless it cannot be one
	}
	if in.From == "" && (in.Key != "" || in.Older) {
		return app.Started{}, kb.Errorf(kb.Invalid, "arguments \"key\" and \"older\" are about what is published").WithHint("say where with argument \"from\"")
	}
	return a.CreateStore(ctx, app.CreateStore{
		Name: in.Name, Kind: kindOf(in.Type), Source: in.Source, Branch: in.Branch, Tag: in.Tag, Commit: in.Commit,
		Description: in.Description, Tags: in.Tags, Paths: in.Paths, All: in.All, MaxFile: int64(in.MaxFileBytes), User: in.Scope == "user", Yes: in.Yes, Paid: in.Paid,
		From: in.From, Key: in.Key, Older: in.Older,
		Follows: in.Follows, Save: in.Save, Shared: in.Shared, Agent: !command.IsCLI(ctx),
		Web: kb.Web{Depth: in.Depth, MaxPages: in.MaxPages, Crawl: in.CrawlInstructions, Extract: in.ExtractInstructions,
			Include: in.Include, Exclude: in.Exclude, Hosts: in.Hosts, Headless: in.Headless},
	})
}
