package app

import (
	"net/url"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// allowHint is what to do about an address that is not reached.
const allowHint = "if that host is yours, name it in web.allow of the configuration file; see docs/configuration.md"

// webOf returns what narrows the pages of a store, and refuses what its kind,
// or a package, has no use for.
func webOf(spec kb.Spec, r CreateStore) (kb.Web, error) {
	w := r.Web
	site := []struct {
		name string
		set  bool
	}{
		{"depth", w.Depth != 0}, {"maxPages", w.MaxPages != 0}, {"crawlInstructions", w.Crawl != ""}, {"extractInstructions", w.Extract != ""},
		{"include", len(w.Include) > 0}, {"exclude", len(w.Exclude) > 0}, {"hosts", len(w.Hosts) > 0}, {"headless", w.Headless != "" && w.Headless != "auto"},
	}
	_, pkg := source.PackageOf(spec.Source)
	gathered := source.TraitsOf(spec.Kind).Gathered
	for _, o := range site {
		switch {
		case !o.set:
		case !gathered:
			return w, kb.Errorf(kb.Invalid, "argument %q is for stores of type web", o.name).WithHint("leave it out, or give type web to crawl a site")
		case pkg:
			return w, kb.Errorf(kb.Invalid, "argument %q is for sites; %q is a package", o.name, spec.Source).WithHint("leave it out")
		}
	}
	if gathered && (len(r.Paths) > 0 || r.All || r.MaxFile != 0) {
		return w, kb.Errorf(kb.Invalid, "paths, all and maxFileBytes are for folders and repositories").WithHint("leave them out; include and exclude narrow the pages of a site")
	}
	sel, err := source.CanonicalSelection(kb.Selection{Web: w})
	return sel.Web, err
}

// Policy is where crawls may go and how much they take.
func (c *Core) Policy() outbound.Policy {
	return outbound.Policy{Allow: c.Web.Allow, UserAgent: c.Web.UserAgent, Proxy: c.Web.Proxy, AllowHint: allowHint}
}

// CheckAddress refuses a site or remote repository at an address that will not
// be reached, as far as that is known without a request.
func (c *Core) CheckAddress(spec kb.Spec) error {
	if source.TraitsOf(spec.Kind).Refs {
		return c.Opener.CheckRemote(spec.Source)
	}
	if _, pkg := source.PackageOf(spec.Source); pkg || !source.TraitsOf(spec.Kind).Gathered {
		return nil
	}
	client, err := outbound.New(c.Policy())
	if err != nil {
		return err
	}
	defer client.Close()
	u, err := url.Parse(spec.Source)
	if err != nil {
		return kb.Errorf(kb.Invalid, "%q is not a well-formed URL", spec.Source).WithHint("write https://host/path")
	}
	return client.CheckURL(u)
}
