package restapi

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// MostPages is how many pages of a reply are read at most.
const MostPages = 20

// NextPage returns the arguments of a call for the page after reply, nil when
// there is none that the parameters of the tool can ask for. It reads what
// services say of it, in this order: the header Link, a cursor or the address of
// the next page in the reply, whether there is more, and the number of elements.
// Of an address only the query is taken, and of that only what is a parameter.
func (t *Tool) NextPage(args json.RawMessage, reply *Reply) json.RawMessage {
	if reply.JSON == nil {
		return nil
	}
	if next := linkNext(reply.Link); next != "" {
		return t.byAddress(args, next)
	}
	if reply.Link != "" && strings.Contains(reply.Link, "rel=") {
		return nil // of several pages the last
	}
	if a := t.byCursor(args, reply.JSON); a != nil {
		return a
	}
	list, _ := listOf(reply.JSON)
	if len(list) == 0 {
		return nil
	}
	if more := flagOf(reply.JSON, "has_more", "hasMore", "has_next", "hasNextPage", "more"); more != "" {
		if more != "true" {
			return nil
		}
		if id := get(list[len(list)-1], "id"); id != nil && t.query("starting_after") != nil {
			return with(args, t.query("starting_after").Name, id)
		}
	} else if n := number(args, t, "limit", "per_page", "perPage", "page_size", "pageSize", "size", "count", "$top", "maxResults"); n == 0 || len(list) < n {
		return nil // a page that is not full is the last
	}
	for _, name := range []string{"offset", "skip", "start", "$skip", "startAt"} {
		if p := t.query(name); p != nil {
			return with(args, p.Name, json.RawMessage(strconv.Itoa(number(args, t, name)+len(list))))
		}
	}
	if p := t.query("page"); p != nil {
		return with(args, p.Name, json.RawMessage(strconv.Itoa(max(1, number(args, t, "page"))+1)))
	}
	return nil
}

// query returns the parameter of the query that the service knows by a name.
func (t *Tool) query(name string) *Param {
	for i := range t.Params {
		if p := &t.Params[i]; p.wire() == name && (p.In == "query" || p.In == "" || p.In == "body") {
			return p
		}
	}
	return nil
}

// linkNext returns the target of rel=next in a Link header (RFC 8288).
func linkNext(link string) string {
	for part := range strings.SplitSeq(link, ",") {
		target, params, ok := strings.Cut(strings.TrimSpace(part), ">")
		if ok && strings.HasPrefix(target, "<") && (strings.Contains(params, `rel="next"`) || strings.HasSuffix(strings.TrimSpace(params), "rel=next")) {
			return target[1:]
		}
	}
	return ""
}

// byAddress takes the arguments that are parameters out of the address of a page.
func (t *Tool) byAddress(args json.RawMessage, addr string) json.RawMessage {
	u, err := url.Parse(addr)
	if err != nil {
		return nil
	}
	changed := false
	for k, v := range u.Query() {
		p := t.query(k)
		if p == nil || len(v) != 1 || p.Type == Array {
			continue
		}
		x, err := p.convert(mustJSON(v[0]))
		if err != nil {
			continue
		}
		if old := get(args, p.Name); old == nil || text(old) != text(x) {
			args, changed = with(args, p.Name, x), true
		}
	}
	if !changed {
		return nil
	}
	return args
}

// cursors are where replies hold what the next page is asked for with.
var cursors = []struct {
	at     string
	params []string
}{
	{"nextPageToken", []string{"pageToken", "page_token"}}, {"next_page_token", []string{"page_token", "pageToken"}},
	{"next_cursor", []string{"cursor", "start_cursor"}}, {"nextCursor", []string{"cursor"}}, {"response_metadata.next_cursor", []string{"cursor"}},
	{"next_page.offset", []string{"offset"}}, {"paging.cursors.after", []string{"after"}}, {"paging.next.after", []string{"after"}},
	{"pageInfo.endCursor", []string{"after"}}, {"meta.next_cursor", []string{"cursor"}}, {"next_marker", []string{"marker"}}, {"nextToken", []string{"nextToken"}},
	{"continuationToken", []string{"continuationToken"}}, {"metadata.continue", []string{"continue"}}, {"cursor", []string{"cursor"}},
	{"last_id", []string{"after"}}, {"next_page", []string{"page"}},
}

func (t *Tool) byCursor(args, v json.RawMessage) json.RawMessage {
	if flagOf(v, "has_more", "hasMore") == "false" || flagOf(get(v, "pageInfo"), "hasNextPage") == "false" {
		return nil
	}
	for _, at := range []string{"next", "links.next", "_links.next.href", "paging.next", "meta.next", "@odata.nextLink", "next_page_url", "pagination.next_url", "next_url"} {
		if s := textOf(dig(v, at)); strings.Contains(s, "?") {
			return t.byAddress(args, s)
		}
	}
	for _, c := range cursors {
		x := dig(v, c.at)
		if x == nil || kindOf(x) == 'n' || string(x) == `""` || kindOf(x) == '{' || kindOf(x) == '[' {
			continue
		}
		for _, name := range c.params {
			if p := t.query(name); p != nil && text(x) != text(get(args, p.Name)) {
				return with(args, p.Name, x)
			}
		}
	}
	return nil
}

// flagOf returns the first of some members that is there and a boolean.
func flagOf(v json.RawMessage, names ...string) string {
	for _, n := range names {
		if s := string(get(v, n)); s == "true" || s == "false" {
			return s
		}
	}
	return ""
}

// number returns the argument that one of some parameters has, or its default.
func number(args json.RawMessage, t *Tool, names ...string) int {
	for _, name := range names {
		p := t.query(name)
		if p == nil {
			continue
		}
		if n, err := strconv.Atoi(text(get(args, p.Name))); err == nil {
			return n
		}
		if n, err := strconv.Atoi(text(get(p.Schema, "default"))); err == nil {
			return n
		}
	}
	return 0
}

// with returns arguments with one of them changed.
func with(args json.RawMessage, name string, v json.RawMessage) json.RawMessage {
	list := slices.DeleteFunc(fields(args), func(f field) bool { return f.key == name })
	return object(append(list, field{name, v}))
}

// Joined puts the elements of a further page behind those of the first reply.
func (r *Reply) Joined(page *Reply) {
	list, key := listOf(r.JSON)
	more, _ := listOf(page.JSON)
	words := make([]string, 0, len(list)+len(more))
	for _, x := range append(slices.Clone(list), more...) {
		words = append(words, string(x))
	}
	joined := json.RawMessage("[" + strings.Join(words, ",") + "]")
	if key != "" {
		members := fields(r.JSON)
		for i := range members {
			if members[i].key == key {
				members[i].raw = joined
			}
		}
		joined = object(members)
	}
	r.JSON = joined
}
