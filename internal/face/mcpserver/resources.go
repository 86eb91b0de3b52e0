package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// mimeJSON is what every resource is.
const mimeJSON = "application/json"

// resourceOptions say how resources are served: the list never changes within
// a process, there are no subscriptions, and what was read may have changed a
// moment later.
func resourceOptions() []server.ServerOption {
	hooks := &server.Hooks{}
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, r *mcp.ReadResourceRequest) { r.Params.URI = canonical(r.Params.URI) })
	return []server.ServerOption{
		server.WithResourceCapabilities(false, false),
		server.WithMethodCacheHints(mcp.MethodResourcesRead, 0, mcp.CacheScopePrivate),
		server.WithHooks(hooks),
	}
}

// canonical percent-encodes the variable of a URI that was written by hand as
// a template's expansion would have it; mcp-go matches nothing else.
func canonical(uri string) string {
	r, v, err := product.Commands().FindResource(uri)
	if err != nil || !r.Template() {
		return uri
	}
	before, _, _ := strings.Cut(r.URI, "{")
	var b strings.Builder
	b.WriteString(before)
	for _, c := range []byte(v) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// addResources offers the registry's resources.
func (f *face) addResources() {
	for _, r := range f.table.Resources() {
		if r.Template() {
			f.mcp.AddResourceTemplate(mcp.NewResourceTemplate(r.URI, r.Name,
				mcp.WithTemplateDescription(r.Description), mcp.WithTemplateMIMEType(mimeJSON)), f.read)
			continue
		}
		f.mcp.AddResource(mcp.NewResource(r.URI, r.Name,
			mcp.WithResourceDescription(r.Description), mcp.WithMIMEType(mimeJSON)), f.read)
	}
}

// read reads one resource. An error becomes a protocol error with our
// sentence: resources have no isError.
func (f *face) read(ctx context.Context, req mcp.ReadResourceRequest) (out []mcp.ResourceContents, err error) {
	uri := req.Params.URI
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(f.log, "knowledge: panic in %s: %v\n%s", uri, p, debug.Stack())
			out, err = nil, errors.New("reading "+quote(uri)+" met a defect of its own and gave up. The details are in the server's log")
		}
	}()
	release, err := f.acquire(ctx)
	if err != nil {
		return nil, errors.New(errorText(err))
	}
	defer release()
	raw, err := f.table.ReadResource(ctx, f.app, uri)
	if err != nil {
		return nil, errors.New(errorText(err))
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: mimeJSON, Text: string(raw)}}, nil
}

// unknownResource returns the error for a URI that the registry does not
// have: its code differs between the eras.
func unknownResource(m *message, uri string) *rpcError {
	_, _, err := product.Commands().FindResource(uri)
	if err == nil {
		return nil
	}
	code := mcp.RESOURCE_NOT_FOUND
	if mcp.IsModernProtocol(m.version) || kb.CodeOf(err) != kb.NotFound {
		code = mcp.INVALID_PARAMS
	}
	return &rpcError{code, errorText(err), map[string]string{"uri": kb.Cut(uri, 2000)}}
}
