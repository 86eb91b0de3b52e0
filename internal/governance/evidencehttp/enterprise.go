package evidencehttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/governance"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// resource is one that the original offers, in its order and words.
type resource struct {
	URI         string `json:"uri"`
	Description string `json:"description"`
	read        func(ctx context.Context, s *enterprise) (any, error)
}

// tool is one that the original offers.
type tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Mutating    bool   `json:"mutating"`
	Safe        bool   `json:"safeByDefault"`
	run         func(ctx context.Context, s *enterprise, at moment) (envelope, error)
}

// moment is the stage that a tool was asked about. One that there is not is
// evaluated as a commit, as in the original, and never allowed: a slip of the
// pen must not lower the bar.
type moment struct {
	stage   gate.Stage
	unknown string // what was asked for instead; "" for a stage that there is
}

// evaluate decides about specified changes.
func (s *enterprise) evaluate(ctx context.Context, at moment) (gate.Evaluation, error) {
	e, err := governance.SDDEvaluate(ctx, s.app, at.stage)
	if at.unknown != "" {
		e = e.Refused(at.unknown)
	}
	return e, err
}

// envelope is the answer of a tool, whatever happens.
type envelope struct {
	Tool     string   `json:"tool"`
	DryRun   bool     `json:"dryRun"`
	Executed bool     `json:"executed"`
	Success  bool     `json:"success"`
	Warnings []string `json:"warnings"`
	Result   any      `json:"result"`
}

var unavailable = map[string]bool{"available": false}

var resources = []resource{
	{"evidence://status", "Current evidence status summary for the active repository.", func(ctx context.Context, s *enterprise) (any, error) {
		f, err := governance.Evidence(ctx, s.app)
		if err != nil {
			return nil, err
		}
		return status(f, s.route), nil
	}},
	{"gitflow://state", "Current Git branch/upstream/status context for enterprise guardrails.", func(ctx context.Context, s *enterprise) (any, error) {
		g, err := governance.Gitflow(ctx, s.app)
		if !g.Available {
			g.Note = ""
		}
		return g, err
	}},
	{"context://active", "Consolidated active context (repo, lifecycle, gitflow, SDD).", func(ctx context.Context, s *enterprise) (any, error) {
		c, err := governance.RepoContext(ctx, s.app)
		if !c.Gitflow.Available {
			c.Gitflow.Note = ""
		}
		return c, err
	}},
	{"sdd://status", "Current SDD/OpenSpec status for the active repository.", func(ctx context.Context, s *enterprise) (any, error) {
		st, err := governance.SDDStatus(ctx, s.app)
		if err == nil && st == nil {
			return unavailable, nil
		}
		return st, err
	}},
	{"sdd://active-change", "Current active SDD change/session details.", func(ctx context.Context, s *enterprise) (any, error) { return governance.ActiveChange(ctx, s.app) }},
}

var tools = []tool{
	{"ai_gate_check", "Reads .ai_evidence.json and reports AI gate compatibility status.", false, true,
		func(ctx context.Context, s *enterprise, at moment) (envelope, error) {
			r, err := governance.GateCheck(ctx, s.app, at.stage)
			if at.unknown != "" {
				r = r.Refused(at.unknown)
			}
			return envelope{Executed: true, Success: r.Allowed, Result: r}, err
		}},
	{"check_sdd_status", "Evaluates SDD/OpenSpec policy for a stage without changing repository state.", false, true,
		func(ctx context.Context, s *enterprise, at moment) (envelope, error) {
			e, err := s.evaluate(ctx, at)
			return envelope{Executed: true, Success: e.Decision.Allowed, Result: e}, err
		}},
	{"validate_and_fix", "Returns validation status and suggested fixes in preview mode (no writes).", true, true,
		guardedPlan("Mutating auto-fixes are disabled in enterprise baseline mode.", func(_ context.Context, _ *enterprise, e gate.Evaluation) (any, error) {
			return gate.ValidatePlanOf(e), nil
		})},
	{"sync_branches", "Builds a git synchronization plan in preview mode (no branch changes).", true, true,
		guardedPlan("Dry-run mode active: no git command executed.", func(ctx context.Context, s *enterprise, _ gate.Evaluation) (any, error) {
			return governance.SyncPlan(ctx, s.app)
		})},
	{"cleanup_stale_branches", "Builds stale-branch cleanup plan in preview mode (no deletions).", true, true,
		guardedPlan("Dry-run mode active: no branch deleted.", func(ctx context.Context, s *enterprise, _ gate.Evaluation) (any, error) {
			return governance.CleanupPlan(ctx, s.app)
		})},
}

// guard is the answer of a tool that the guard of specified changes blocks.
type guard struct {
	Guard struct {
		Stage    gate.Stage      `json:"stage"`
		Decision gate.Decision   `json:"decision"`
		Status   *gate.SDDStatus `json:"status"`
	} `json:"guard"`
}

// guardedPlan makes a tool of a plan, behind the guard. Nothing of it is done.
func guardedPlan(warning string, plan func(context.Context, *enterprise, gate.Evaluation) (any, error)) func(context.Context, *enterprise, moment) (envelope, error) {
	return func(ctx context.Context, s *enterprise, at moment) (envelope, error) {
		e, err := s.evaluate(ctx, at)
		if err != nil {
			return envelope{}, err
		}
		if !e.Decision.Allowed {
			var g guard
			g.Guard.Stage, g.Guard.Decision, g.Guard.Status = at.stage, e.Decision, e.Status
			return envelope{Warnings: []string{"Critical tool blocked by SDD policy/session guard."}, Result: g}, nil
		}
		result, err := plan(ctx, s, e)
		return envelope{Success: err == nil, Warnings: []string{warning}, Result: result}, err
	}
}

// enterprise is the second server.
type enterprise struct {
	app   *app.App
	route string // of the first, which its status names
	log   io.Writer
}

// Enterprise returns the enterprise server. An unknown path is refused before a
// wrong method.
func Enterprise(a *app.App, route string, g *httpguard.Guard, log io.Writer) http.Handler {
	s := &enterprise{a, route, log}
	endpoints := map[string]struct {
		method string
		serve  func(http.ResponseWriter, *http.Request)
	}{
		"/health": {http.MethodGet, func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusOK, map[string]string{"status": "ok"})
		}},
		"/status": {http.MethodGet, s.status},
		"/resources": {http.MethodGet, func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusOK, map[string]any{"resources": resources})
		}},
		"/resource": {http.MethodGet, s.resource},
		"/tools":    {http.MethodGet, func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, map[string]any{"tools": tools}) }},
		"/tool":     {http.MethodPost, s.tool},
	}
	return guarded(g, log, func(w http.ResponseWriter, r *http.Request) {
		e, ok := endpoints[trimmed(r)]
		switch {
		case !ok:
			answer(w, http.StatusNotFound, notFound)
		case r.Method != e.method:
			answer(w, http.StatusMethodNotAllowed, notAllowed)
		default:
			e.serve(w, r)
		}
	})
}

// statusReply is the answer of /status.
type statusReply struct {
	Status       string `json:"status"`
	Root         string `json:"repoRoot"`
	Capabilities struct {
		Resources []string `json:"resources"`
		Tools     []string `json:"tools"`
		Mode      string   `json:"mode"`
	} `json:"capabilities"`
	Lifecycle *gate.LifecycleStatus `json:"lifecycle"`
	SDD       *gate.SDDStatus       `json:"sdd"`
	Evidence  bothStatus            `json:"evidence"`
}

// bothStatus is the status of the evidence as the original answers it, and
// flat as its document says.
type bothStatus struct {
	evidence.Status
	Exists  bool `json:"exists"`
	Present bool `json:"present"`
	Valid   bool `json:"valid"`
}

func (s *enterprise) status(w http.ResponseWriter, r *http.Request) {
	c, err := governance.RepoContext(r.Context(), s.app)
	if err != nil {
		fail(w, err)
		return
	}
	f, err := governance.Evidence(r.Context(), s.app)
	if err != nil {
		fail(w, err)
		return
	}
	out := statusReply{Status: "ok", Root: c.Root, Lifecycle: c.Lifecycle, SDD: c.SDD}
	for _, x := range resources {
		out.Capabilities.Resources = append(out.Capabilities.Resources, x.URI)
	}
	for _, x := range tools {
		out.Capabilities.Tools = append(out.Capabilities.Tools, x.Name)
	}
	out.Capabilities.Mode = "baseline"
	st := status(f, s.route)
	out.Evidence = bothStatus{st, st.Evidence.Exists, st.Evidence.Exists, st.Evidence.Valid}
	answer(w, http.StatusOK, out)
}

func (s *enterprise) resource(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	for _, x := range resources {
		if x.URI != q.Get("uri") {
			continue
		}
		payload, err := x.read(r.Context(), s)
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, http.StatusOK, struct {
			URI     string `json:"uri"`
			Payload any    `json:"payload"`
		}{x.URI, payload})
		return
	}
	var asked *string
	if q.Has("uri") {
		asked = new(q.Get("uri"))
	}
	answer(w, http.StatusNotFound, struct {
		Error string  `json:"error"`
		URI   *string `json:"requestedUri"`
	}{"Unknown enterprise resource URI", asked})
}

// tool runs one tool. Its answer is 200 even when it is blocked or fails.
func (s *enterprise) tool(w http.ResponseWriter, r *http.Request) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Header.Get("Origin") != "" && (err != nil || t != "application/json") {
		answer(w, http.StatusUnsupportedMediaType, failure{"The body must be of type application/json."})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			answer(w, http.StatusRequestEntityTooLarge, failure{"Request body is too large."})
			return
		}
		answer(w, http.StatusBadRequest, failure{"Invalid JSON body."})
		return
	}
	body = bytes.TrimSpace(body)
	if len(body) > 0 && !json.Valid(body) {
		answer(w, http.StatusBadRequest, failure{"Invalid JSON body."})
		return
	}
	var in struct{ Name, Args json.RawMessage }
	var name *string
	// The seed refuses a body that names no tool; the original took it for one that it does not know.
	if len(body) == 0 || body[0] != '{' || json.Unmarshal(body, &in) != nil || json.Unmarshal(in.Name, &name) != nil || name == nil {
		answer(w, http.StatusBadRequest, failure{"Invalid request body."})
		return
	}
	for _, t := range tools {
		if t.Name == *name {
			answer(w, http.StatusOK, s.run(r.Context(), t, in.Args))
			return
		}
	}
	answer(w, http.StatusNotFound, struct {
		Error string `json:"error"`
		Tool  string `json:"requestedTool"`
	}{"Unknown enterprise tool.", *name})
}

// run fills in the envelope. An unknown stage is evaluated as that of a commit,
// as in the original, with a warning.
func (s *enterprise) run(ctx context.Context, t tool, args json.RawMessage) (out envelope) {
	at := momentOf(args)
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.log, "knowledge: panic in %s: %v\n%s", t.Name, p, debug.Stack())
			out = envelope{Warnings: []string{"The tool met a defect of its own and gave up."}, Result: struct{}{}}
		}
		out.Tool, out.DryRun = t.Name, true
		if at.unknown != "" {
			out.Warnings = append(out.Warnings, fmt.Sprintf("There is no stage %s: %s was taken, and nothing is allowed.", at.unknown, at.stage))
		}
		if out.Warnings == nil {
			out.Warnings = []string{}
		}
	}()
	out, err := t.run(ctx, s, at)
	if err != nil {
		return envelope{Warnings: []string{kb.Said(err, ". ")}, Result: failure{err.Error()}}
	}
	return out
}

// momentOf reads the stage of a tool's arguments.
func momentOf(args json.RawMessage) moment {
	var in struct{ Stage json.RawMessage }
	if json.Unmarshal(args, &in) != nil || len(in.Stage) == 0 || string(in.Stage) == "null" {
		return moment{stage: gate.PreCommit}
	}
	var name string
	if json.Unmarshal(in.Stage, &name) == nil {
		if s, ok := gate.Known(name); ok {
			return moment{stage: s}
		}
	}
	return moment{gate.PreCommit, kb.Clip(string(in.Stage), 100)}
}
