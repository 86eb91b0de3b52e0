package specs

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

// Parameters are spelt as the original engine's tools spell them.
type (
	kddSearchIn struct {
		Query          string   `json:"query" arg:"1..." help:"what to find, in words"`
		Limit          int      `json:"limit,omitempty" help:"at most this many references (default 5)"`
		ChunkTypes     []string `json:"chunk_types,omitempty" help:"only sections of these types: ENTITY, USE_CASE, RULE, PROCESS, DEFAULT"`
		Domains        []string `json:"domains,omitempty" help:"only specifications of these domains"`
		Tags           []string `json:"tags,omitempty" help:"only specifications with one of these tags"`
		ScoreThreshold *float64 `json:"score_threshold,omitempty" help:"leave out what scores less, from 0 to 1"`
		Statuses       []string `json:"include_statuses,omitempty" help:"also these lifecycles: draft, proposed, review, deprecated, or all"`
		Stores         []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddRelatedIn struct {
		Entity    string   `json:"entity" arg:"1..." help:"id, title or alias of a specification, or the name of a concept"`
		Depth     int      `json:"depth,omitempty" help:"how many relations far, up to 3 (default 1)"`
		EdgeTypes []string `json:"edge_types,omitempty" help:"only these relations: IMPLEMENTS, DEPENDS_ON, REFERENCES, …"`
		Limit     int      `json:"limit,omitempty" help:"at most this many entities (default 20)"`
		Offset    int      `json:"offset,omitempty" help:"leave out this many: next of the reply before"`
		Statuses  []string `json:"include_statuses,omitempty" help:"also these lifecycles: draft, proposed, review, deprecated, or all"`
		Stores    []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddListIn struct {
		Kind     string   `json:"kind,omitempty" help:"only this kind: entity, use-case, business-rule, adr, …"`
		Domain   string   `json:"domain,omitempty" help:"only this domain"`
		Status   string   `json:"status,omitempty" help:"only this state of the index: INDEXED, PENDING, FAILED"`
		Limit    int      `json:"limit,omitempty" help:"at most this many documents (default 20)"`
		Offset   int      `json:"offset,omitempty" help:"leave out this many: next of the reply before"`
		Statuses []string `json:"include_statuses,omitempty" help:"also these lifecycles: draft, proposed, review, deprecated, or all"`
		Stores   []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddImpactIn struct {
		Entity    string   `json:"entity" arg:"1..." help:"id, title or alias of what is to change"`
		Depth     int      `json:"depth,omitempty" help:"how many relations far, up to 3 (default 3)"`
		EdgeTypes []string `json:"edge_types,omitempty" help:"only these relations: IMPLEMENTS, DEPENDS_ON, REFERENCES, …"`
		Limit     int      `json:"limit,omitempty" help:"at most this many of each list (default 20)"`
		Offset    int      `json:"offset,omitempty" help:"leave out this many of each list: next of the reply before"`
		Statuses  []string `json:"include_statuses,omitempty" help:"also these lifecycles: draft, proposed, review, deprecated, or all"`
		Stores    []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddContextIn struct {
		Hints     []string `json:"hints" help:"what is about to be touched: paths of files, names, ids or words"`
		Depth     int      `json:"depth,omitempty" help:"how many relations far, up to 3 (default 1)"`
		MaxTokens int      `json:"max_tokens,omitempty" help:"budget of the reply (default 4000)"`
		Statuses  []string `json:"include_statuses,omitempty" help:"also these lifecycles: draft, proposed, review, deprecated, or all"`
		Stores    []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddFindIn struct {
		Name     string   `json:"name" arg:"1..." help:"id, title, alias or the beginning of one"`
		Kind     string   `json:"kind,omitempty" help:"only this kind: entity, use-case, business-rule, adr, …"`
		Limit    int      `json:"limit,omitempty" help:"at most this many (default 5)"`
		Statuses []string `json:"include_statuses,omitempty" help:"also these lifecycles: draft, proposed, review, deprecated, or all"`
		Stores   []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddSectionIn struct {
		File   string   `json:"file" arg:"1" help:"url of a result, or path of a document"`
		Anchor string   `json:"anchor,omitempty" arg:"2" help:"anchor or text of a heading (default: the url's, else the whole document)"`
		Stores []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddStatsIn struct {
		Stores []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddGraphIn struct {
		Entity    string   `json:"entity,omitempty" arg:"1..." help:"id, title or alias of a specification, or the name of a concept (default with json: the whole graph)"`
		Format    string   `json:"format,omitempty" enum:"mermaid|dot|svg|json" help:"how to draw it (default mermaid); json is nodes and edges for programs"`
		Depth     int      `json:"depth,omitempty" help:"how many relations far, up to 3 (default 1)"`
		EdgeTypes []string `json:"edge_types,omitempty" help:"only these relations: IMPLEMENTS, DEPENDS_ON, REFERENCES, …"`
		Limit     int      `json:"limit,omitempty" help:"at most this many entities around it (default 20)"`
		Statuses  []string `json:"include_statuses,omitempty" help:"also these lifecycles: draft, proposed, review, deprecated, or all"`
		Stores    []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddMatrixIn struct {
		Domain   string   `json:"domain,omitempty" help:"only this domain"`
		Open     bool     `json:"open,omitempty" help:"only what no test proves"`
		Format   string   `json:"format,omitempty" enum:"csv|markdown|mermaid|dot|svg" help:"every row in this form"`
		Limit    int      `json:"limit,omitempty" help:"at most this many rows (default 20)"`
		Offset   int      `json:"offset,omitempty" help:"leave out this many rows at the beginning: next of the reply before"`
		Statuses []string `json:"include_statuses,omitempty" help:"also these lifecycles: draft, proposed, review, deprecated, or all"`
		Stores   []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
	kddCheckIn struct {
		Entity   string   `json:"entity,omitempty" arg:"1..." help:"only this specification"`
		Kind     string   `json:"kind,omitempty" help:"only this kind"`
		Domain   string   `json:"domain,omitempty" help:"only this domain"`
		Limit    int      `json:"limit,omitempty" help:"at most this many of each list (default 20)"`
		Offset   int      `json:"offset,omitempty" help:"leave out this many findings at the beginning: next of the reply before"`
		Format   string   `json:"format,omitempty" enum:"sarif|junit|github|baseline" help:"every finding in this form, for other programs"`
		Severity []string `json:"severity,omitempty" help:"rule=error, =warning, =note or =off, before what .knowledge/check.yaml says"`
		Baseline string   `json:"baseline,omitempty" help:"file of the project with findings to leave out, as format baseline writes it"`
		Statuses []string `json:"include_statuses,omitempty" help:"only approved ones and these lifecycles (default all)"`
		Stores   []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	}
)

func specScope(ctx context.Context, stores, statuses []string) Scope {
	return Scope{Stores: stores, Statuses: statuses, Waiting: command.WaitingOf(ctx)}
}

// addKDD adds the commands about specifications.
func addKDD(t *command.Table) {
	c := t.Add("kdd", command.New("kdd:search", "References to sections of specifications: requirements, rules, processes, decisions", command.Reads,
		func(ctx context.Context, a *app.App, in kddSearchIn) (SearchReply, error) {
			return Search(ctx, a, SearchQuery{Query: in.Query, Limit: in.Limit, ChunkTypes: in.ChunkTypes, Domains: in.Domains, Tags: in.Tags,
				ScoreThreshold: in.ScoreThreshold, Scope: specScope(ctx, in.Stores, in.Statuses)})
		}).Prints(printer.Of(printResults)).Agent(),
		`{"query":"how does authentication work","limit":3}`,
		`{"query":"validation rules for user input","chunk_types":["RULE","PROCESS"],"domains":["security"]}`)
	c.Help = "Prefer it over grep for concepts, processes and relations. Returns addresses with the anchor of a section; read what stands there with your own tool for files, or with kdd:section. " +
		"Drafts and what is proposed, in review or deprecated are hidden, and counted; include_statuses shows them."
	c = t.Add("kdd", command.New("kdd:related", "What is related to an entity of the specifications, in both directions", command.Reads,
		func(ctx context.Context, a *app.App, in kddRelatedIn) (RelatedReply, error) {
			return Related(ctx, a, RelatedQuery{Entity: in.Entity, Depth: in.Depth, EdgeTypes: in.EdgeTypes, Limit: in.Limit, Offset: in.Offset, Scope: specScope(ctx, in.Stores, in.Statuses)})
		}).Prints(printer.Of(printRelatedSpecs)).Agent(),
		`{"entity":"AuthenticationService","depth":2}`, `{"entity":"RF-AUTH-001","edge_types":["IMPLEMENTS","DEPENDS_ON"]}`)
	c.Help = "For the dependencies and surroundings of a component, requirement or concept."
	c = t.Add("kdd", command.New("kdd:list", "Which specifications there are", command.Reads,
		func(ctx context.Context, a *app.App, in kddListIn) (ListReply, error) {
			return List(ctx, a, ListQuery{Kind: in.Kind, Domain: in.Domain, Status: in.Status, Limit: in.Limit, Offset: in.Offset, Scope: specScope(ctx, in.Stores, in.Statuses)})
		}).Prints(printer.Of(printList)).Agent(),
		`{"domain":"security"}`, `{"kind":"requirement","limit":10}`)
	c.Help = "total counts without the limit. status PENDING is a file that changed since it was indexed; kdd_status is shown unless it is approved."
	c = t.Add("kdd", command.New("kdd:impact", "What a change of an entity of the specifications touches", command.Reads,
		func(ctx context.Context, a *app.App, in kddImpactIn) (ImpactReply, error) {
			return Impact(ctx, a, RelatedQuery{Entity: in.Entity, Depth: in.Depth, EdgeTypes: in.EdgeTypes, Limit: in.Limit, Offset: in.Offset, Scope: specScope(ctx, in.Stores, in.Statuses)})
		}).Prints(printer.Of(printDeep[ImpactReply])).Agent(), `{"entity":"Order","depth":2}`)
	c.Help = "What depends on it, itself and through others, each once, the scenarios of features that name any of it, the code that implements or names it and the tests that prove it. Of a file of code, the specifications that it serves."
	c = t.Add("kdd", command.New("kdd:context", "Rules, invariants and behaviour to respect before touching something", command.Reads,
		func(ctx context.Context, a *app.App, in kddContextIn) (ContextReply, error) {
			return ContextOf(ctx, a, ContextQuery{Hints: in.Hints, Depth: in.Depth, MaxTokens: in.MaxTokens, Scope: specScope(ctx, in.Stores, in.Statuses)})
		}).Prints(printer.Of(printDeep[ContextReply])).Agent(), `{"hints":["order.ts","checkout"]}`)
	c.Help = "Ask it before you change code: what restricts comes first, each with at most 300 characters and how it was reached."
	t.Add("kdd", command.New("kdd:find", "What a name or id of the specifications means", command.Reads,
		func(ctx context.Context, a *app.App, in kddFindIn) (FindReply, error) {
			return Find(ctx, a, in.Name, in.Kind, in.Limit, specScope(ctx, in.Stores, in.Statuses))
		}).Prints(printer.Of(printMatches)).Agent(), `{"name":"BR-LAYER"}`)
	t.Add("kdd", command.New("kdd:section", "The Markdown of one section", command.Reads,
		func(ctx context.Context, a *app.App, in kddSectionIn) (SectionReply, error) {
			return Section(ctx, a, in.File, in.Anchor, specScope(ctx, in.Stores, nil))
		}).Prints(printer.Of(printSection)).Agent(), `{"file":"specs/01-domain/entities/Order.md","anchor":"descripción"}`)
	t.Add("kdd", command.New("kdd:stats", "How many specifications, entities and relations there are", command.Reads,
		func(ctx context.Context, a *app.App, in kddStatsIn) (StatsReply, error) {
			return Stats(ctx, a, specScope(ctx, in.Stores, nil))
		}).Prints(printer.Of(printDeep[StatsReply])).Agent(), `{}`)
	c = t.Add("kdd", command.New("kdd:check", "A linter of specifications: what is wrong with them, what they lack, what leads nowhere", command.Reads,
		func(ctx context.Context, a *app.App, in kddCheckIn) (CheckReply, error) {
			return Check(ctx, a, CheckQuery{Entity: in.Entity, Kind: in.Kind, Domain: in.Domain, Limit: in.Limit, Offset: in.Offset,
				Format: in.Format, Severity: in.Severity, Baseline: in.Baseline, Scope: specScope(ctx, in.Stores, in.Statuses)})
		}).Prints(printer.Of(printCheck)).Agent(), `{}`, `{"kind":"entity"}`, `{"format":"sarif"}`)
	c.Help = "findings have a rule, a severity, file and line, and a way to mend them; beside them stand coverage by kind, relations from a lower layer to a higher one, " +
		"and relations whose target nothing is called. Severities and a baseline of old findings stand in .knowledge/check.yaml. " +
		"At a terminal the exit status is 1 when a finding is an error."
	c = t.Add("kdd", command.New("kdd:matrix", "Which requirement is kept by which rule, code and test", command.Reads,
		func(ctx context.Context, a *app.App, in kddMatrixIn) (MatrixReply, error) {
			return Matrix(ctx, a, MatrixQuery{Domain: in.Domain, Format: in.Format, Open: in.Open, Limit: in.Limit, Offset: in.Offset, Scope: specScope(ctx, in.Stores, in.Statuses)})
		}).Prints(printer.Of(printMatrix)).Agent(), `{}`, `{"open":true,"format":"markdown"}`)
	c.Help = "Code and tests are files that name the id of the requirement or of the rule, or that it names; tests are scenarios and documents that verify it too."
	c = t.Add("kdd", command.New("kdd:graph", "A picture of what is related to an entity of the specifications", command.Reads,
		func(ctx context.Context, a *app.App, in kddGraphIn) (PictureReply, error) {
			return Picture(ctx, a, RelatedQuery{Entity: in.Entity, Depth: in.Depth, EdgeTypes: in.EdgeTypes, Limit: in.Limit, Scope: specScope(ctx, in.Stores, in.Statuses)}, in.Format)
		}).Prints(printer.Of(printPicture)).Agent(), `{"entity":"Order","format":"svg"}`, `{"format":"json","limit":500}`)
	c.Aliases = []string{"graph"}
	c.Help = "What points at it stands on the left, what it points at on the right. The whole graph is its most related nodes, up to 2000, with format json alone."
}

// kddResources are what agents may keep an eye on.
func kddResources() []command.Resource {
	return []command.Resource{
		{URI: "kdd://index", Name: "specifications", Description: "The specifications of this project",
			Read: func(ctx context.Context, a *app.App, _ string) (any, error) {
				return List(ctx, a, ListQuery{Limit: 200, Scope: specScope(ctx, nil, nil)})
			}},
		{URI: "kdd://entity/{name}", Name: "entity of the specifications", Description: "What is related to an entity of the specifications",
			Read: func(ctx context.Context, a *app.App, name string) (any, error) {
				return Related(ctx, a, RelatedQuery{Entity: name, Scope: specScope(ctx, nil, nil)})
			}},
		{URI: "kdd://stats", Name: "statistics of the specifications", Description: "How many specifications, entities and relations there are",
			Read: func(ctx context.Context, a *app.App, _ string) (any, error) {
				return Stats(ctx, a, specScope(ctx, nil, nil))
			}},
	}
}
