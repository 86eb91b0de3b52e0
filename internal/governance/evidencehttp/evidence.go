package evidencehttp

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/governance"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// status returns the payload of /status, with the members of the fixed format only.
func status(f *evidence.File, route string) evidence.Status {
	s := f.Status(route)
	s.Evidence.Note = ""
	return s
}

// Evidence returns the evidence server. A method other than GET is refused before an
// unknown path.
func Evidence(a *app.App, route string, g *httpguard.Guard, log io.Writer) http.Handler {
	return guarded(g, log, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			answer(w, http.StatusMethodNotAllowed, notAllowed)
			return
		}
		path := trimmed(r)
		view, ok := strings.CutPrefix(path, route)
		switch {
		case path == "/health":
			answer(w, http.StatusOK, map[string]string{"status": "ok"})
			return
		case path != "/status" && (!ok || views[view] == nil):
			answer(w, http.StatusNotFound, notFound)
			return
		}
		f, err := governance.Evidence(r.Context(), a)
		switch {
		case err != nil:
			fail(w, err)
		case path == "/status":
			answer(w, http.StatusOK, status(f, route))
		case f.Kind != evidence.Valid:
			answer(w, http.StatusNotFound, failure{"Evidence file not found or invalid"})
		default:
			answer(w, http.StatusOK, views[view](f, query{r.URL.Query()}))
		}
	})
}

// views are the endpoints below the route.
var views = map[string]func(f *evidence.File, q query) any{
	"":          func(f *evidence.File, q query) any { return f.Whole(q.compact()) },
	"/summary":  func(f *evidence.File, _ query) any { return f.Summary() },
	"/snapshot": func(f *evidence.File, _ query) any { return f.Snapshot() },
	"/findings": func(f *evidence.File, q query) any {
		return f.Findings(evidence.FindingsQuery{Severity: q.Get("severity"), Rule: q.Get("ruleId"), Platform: q.Get("platform"), Page: q.page()})
	},
	"/rulesets": func(f *evidence.File, q query) any {
		return f.Rulesets(evidence.RulesetsQuery{Platform: q.Get("platform"), Bundle: q.Get("bundle"), Page: q.page()})
	},
	"/platforms": func(f *evidence.File, q query) any {
		return f.Platforms(evidence.PlatformsQuery{Detected: q.truth("detectedOnly", true), Confidence: q.Get("confidence"), Page: q.page()})
	},
	"/ledger": func(f *evidence.File, q query) any {
		return f.Ledger(evidence.LedgerQuery{After: q.Get("lastSeenAfter"), Before: q.Get("lastSeenBefore"), Page: q.page()})
	},
}

// query is the query of a request; of a repeated key the first counts.
type query struct{ url.Values }

// page reads limit and offset. What is no natural number is ignored.
func (q query) page() (p evidence.Page) {
	if n, err := strconv.ParseUint(strings.TrimSpace(q.Get("limit")), 10, 31); err == nil {
		p.Limit = new(int(n))
	}
	if n, err := strconv.ParseUint(strings.TrimSpace(q.Get("offset")), 10, 31); err == nil {
		p.Offset = int(n)
	}
	return p
}

// truth reads a boolean; what is none is otherwise.
func (q query) truth(name string, otherwise bool) bool {
	switch strings.ToLower(strings.TrimSpace(q.Get(name))) {
	case "1", "true", "yes", "on":
		return true
	case "0", "false", "no", "off":
		return false
	}
	return otherwise
}

// compact reports whether the section of suppressed findings is left out:
// view says it, else includeSuppressed.
func (q query) compact() bool {
	switch strings.ToLower(strings.TrimSpace(q.Get("view"))) {
	case "compact":
		return true
	case "full":
		return false
	}
	return !q.truth("includeSuppressed", true)
}
