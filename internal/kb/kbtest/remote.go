package kbtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"reflect"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Remote returns indexes that have served do the work. Each call is JSON
// through a pipe, as its answer is: nothing else is shared, and what they open
// and write is known to the other side by a number.
func Remote(served kb.Indexes) kb.Indexes {
	s := &server{objects: map[int]any{0: served}}
	return remoteIndexes{object{s, 0}}
}

// request is a call of a method of an object, reply its results.
type request struct {
	Object int
	Method string
	Args   []json.RawMessage
}

type reply struct {
	Results []json.RawMessage
	Error   *failure
}

// failure is a kb.Error with its cause left out.
type failure struct {
	Code          kb.Code
	Message, Hint string
}

// server keeps the objects that its clients know by number.
type server struct {
	mu      sync.Mutex
	objects map[int]any
	last    int
}

// serve answers one request. The client that hangs up cancels the call.
func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	var q request
	if err := json.NewDecoder(conn).Decode(&q); err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = conn.Read(make([]byte, 1)) // returns when the other side closes
		cancel()
	}()
	if err := json.NewEncoder(conn).Encode(s.call(ctx, &q)); err != nil {
		return
	}
}

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

func (s *server) call(ctx context.Context, q *request) (r reply) {
	s.mu.Lock()
	target := s.objects[q.Object]
	if q.Method == "Release" {
		delete(s.objects, q.Object)
	}
	s.mu.Unlock()
	method := reflect.ValueOf(target).MethodByName(q.Method)
	var args []reflect.Value
	for i := range method.Type().NumIn() {
		if method.Type().In(i) == contextType {
			args = append(args, reflect.ValueOf(ctx))
			continue
		}
		arg := reflect.New(method.Type().In(i))
		if err := json.Unmarshal(q.Args[0], arg.Interface()); err != nil {
			return reply{Error: &failure{kb.Internal, err.Error(), ""}}
		}
		q.Args = q.Args[1:]
		args = append(args, arg.Elem())
	}
	for _, out := range method.Call(args) {
		if out.Type() == errorType {
			if err, ok := out.Interface().(error); ok {
				return reply{Error: &failure{kb.CodeOf(err), err.Error(), kb.HintOf(err)}}
			}
			continue
		}
		raw, err := json.Marshal(s.keep(out))
		if err != nil {
			return reply{Error: &failure{kb.Internal, err.Error(), ""}}
		}
		r.Results = append(r.Results, raw)
	}
	return r
}

// keep returns a result as it is sent: of an object its number.
func (s *server) keep(v reflect.Value) any {
	if v.Kind() != reflect.Interface || v.IsNil() {
		return v.Interface()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.objects[s.last] = v.Interface()
	return s.last
}

// object is an object of the server, as a client knows it.
type object struct {
	server *server
	number int
}

// call has the server call a method, and stores its results in out.
func (o object) call(ctx context.Context, method string, args []any, out ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q := request{Object: o.number, Method: method}
	for _, a := range args {
		raw, err := json.Marshal(a)
		if err != nil {
			return kb.Errorf(kb.Internal, "%s: %w", method, err)
		}
		q.Args = append(q.Args, raw)
	}
	here, there := net.Pipe()
	go o.server.serve(there)
	defer here.Close()
	defer context.AfterFunc(ctx, func() { here.Close() })()
	var r reply
	err := json.NewEncoder(here).Encode(q)
	if err == nil {
		err = json.NewDecoder(here).Decode(&r)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF), err != nil:
		return kb.Errorf(kb.Away, "%s: %w", method, err)
	case r.Error != nil:
		e := &kb.Error{Code: r.Error.Code, Message: r.Error.Message, Hint: r.Error.Hint}
		if e.Code == kb.Canceled {
			e.Err = context.Canceled
		}
		return e
	}
	for i, raw := range r.Results {
		if err := json.Unmarshal(raw, out[i]); err != nil {
			return kb.Errorf(kb.Internal, "%s: %w", method, err)
		}
	}
	return nil
}

// must is call of what cannot fail.
func (o object) must(method string, args []any, out ...any) {
	if err := o.call(context.Background(), method, args, out...); err != nil {
		panic(err)
	}
}

// made calls a method that returns an object.
func (o object) made(ctx context.Context, method string, args ...any) (object, error) {
	x := object{server: o.server}
	err := o.call(ctx, method, args, &x.number)
	return x, err
}

type remoteIndexes struct{ object }

func (r remoteIndexes) Open(ctx context.Context, manifest string) (kb.Index, error) {
	o, err := r.made(ctx, "Open", manifest)
	if err != nil {
		return nil, err
	}
	return remoteIndex{o}, nil
}

func (r remoteIndexes) Forget(segments []string) { r.must("Forget", []any{segments}) }

func (r remoteIndexes) Segments(ctx context.Context) (out []string, err error) {
	err = r.call(ctx, "Segments", nil, &out)
	return out, err
}

func (r remoteIndexes) Imported(ctx context.Context, segments []string) (out []string, err error) {
	err = r.call(ctx, "Imported", []any{segments}, &out)
	return out, err
}

func (r remoteIndexes) Segment(ctx context.Context, name string) (out kb.Segment, err error) {
	err = r.call(ctx, "Segment", []any{name}, &out)
	return out, err
}

func (r remoteIndexes) Sizes(ctx context.Context, segments []string) (out [][]int64, err error) {
	err = r.call(ctx, "Sizes", []any{segments}, &out)
	return out, err
}

func (r remoteIndexes) Stored(ctx context.Context, segment string, numbers []int) (out []kb.SegmentDocument, err error) {
	err = r.call(ctx, "Stored", []any{segment, numbers}, &out)
	return out, err
}

func (r remoteIndexes) NewSegment(chunker uint32, dims int) kb.SegmentWriter {
	var w remoteSegment
	w.server = r.server
	r.must("NewSegment", []any{chunker, dims}, &w.number)
	return w
}

func (r remoteIndexes) NewVectors(segment string, dims int) kb.VectorWriter {
	var w remoteVectors
	w.server = r.server
	r.must("NewVectors", []any{segment, dims}, &w.number)
	return w
}

func (r remoteIndexes) NewGeneration(ctx context.Context, m kb.Manifest) (kb.GenerationWriter, error) {
	o, err := r.made(ctx, "NewGeneration", m)
	if err != nil {
		return nil, err
	}
	return remoteGeneration{o}, nil
}

func (r remoteIndexes) Kept(ctx context.Context) (out []kb.Kept, err error) {
	err = r.call(ctx, "Kept", nil, &out)
	return out, err
}

func (r remoteIndexes) Missing(ctx context.Context, segments []string) (out []string, err error) {
	err = r.call(ctx, "Missing", []any{segments}, &out)
	return out, err
}

func (r remoteIndexes) Delete(ctx context.Context, name string, dry bool) (out []kb.Deleted, err error) {
	err = r.call(ctx, "Delete", []any{name, dry}, &out)
	return out, err
}

func (r remoteIndexes) Clean(ctx context.Context, age time.Duration) error {
	return r.call(ctx, "Clean", []any{age})
}

type remoteSegment struct{ object }

func (w remoteSegment) Add(ctx context.Context, d kb.SegmentDocument) (n int, err error) {
	err = w.call(ctx, "Add", []any{d}, &n)
	return n, err
}

func (w remoteSegment) Take(ctx context.Context, segment string, numbers []int) (out []int, err error) {
	err = w.call(ctx, "Take", []any{segment, numbers}, &out)
	return out, err
}

func (w remoteSegment) Documents() (n int) {
	w.must("Documents", nil, &n)
	return n
}

func (w remoteSegment) TextBytes() (n int64) {
	w.must("TextBytes", nil, &n)
	return n
}

func (w remoteSegment) Name(ctx context.Context) (name string, err error) {
	err = w.call(ctx, "Name", nil, &name)
	return name, err
}

func (w remoteSegment) Write(ctx context.Context) (n int64, err error) {
	err = w.call(ctx, "Write", nil, &n)
	return n, err
}

type remoteVectors struct{ object }

func (w remoteVectors) Add(ctx context.Context, vectors [][]float32) error {
	return w.call(ctx, "Add", []any{vectors})
}

func (w remoteVectors) Write(ctx context.Context) error { return w.call(ctx, "Write", nil) }

type remoteGeneration struct{ object }

func (w remoteGeneration) Layout() (name string) {
	w.must("Layout", nil, &name)
	return name
}

func (w remoteGeneration) Base() (name string) {
	w.must("Base", nil, &name)
	return name
}

func (w remoteGeneration) Write(ctx context.Context, manifest string) (t kb.Totals, size int64, err error) {
	err = w.call(ctx, "Write", []any{manifest}, &t, &size)
	return t, size, err
}

type remoteIndex struct{ object }

func (x remoteIndex) Info(ctx context.Context) (out kb.IndexInfo, err error) {
	err = x.call(ctx, "Info", nil, &out)
	return out, err
}

func (x remoteIndex) Spelt(ctx context.Context, terms []string) (out [][]string, err error) {
	err = x.call(ctx, "Spelt", []any{terms}, &out)
	return out, err
}

func (x remoteIndex) Stats(ctx context.Context, terms []string, only []kb.Part) (out kb.TermStats, err error) {
	err = x.call(ctx, "Stats", []any{terms, only}, &out)
	return out, err
}

func (x remoteIndex) Retrieve(ctx context.Context, r kb.Retrieval) (out []kb.Candidate, err error) {
	err = x.call(ctx, "Retrieve", []any{r}, &out)
	return out, err
}

func (x remoteIndex) Passages(ctx context.Context, places []kb.Place) (out []kb.Passage, err error) {
	err = x.call(ctx, "Passages", []any{places}, &out)
	return out, err
}

func (x remoteIndex) Excerpts(ctx context.Context, places []kb.Place) (out []kb.Passage, err error) {
	err = x.call(ctx, "Excerpts", []any{places}, &out)
	return out, err
}

func (x remoteIndex) Resolve(ctx context.Context, ids []string) (out []kb.Resolution, err error) {
	err = x.call(ctx, "Resolve", []any{ids}, &out)
	return out, err
}

func (x remoteIndex) Documents(ctx context.Context, under string) (out []string, err error) {
	err = x.call(ctx, "Documents", []any{under}, &out)
	return out, err
}

func (x remoteIndex) Document(ctx context.Context, path string) (out kb.DocumentText, err error) {
	err = x.call(ctx, "Document", []any{path}, &out)
	return out, err
}

func (x remoteIndex) Texts(ctx context.Context, paths []string, bodies bool) (out []kb.DocumentText, err error) {
	err = x.call(ctx, "Texts", []any{paths, bodies}, &out)
	return out, err
}

func (x remoteIndex) IDs(ctx context.Context, places []kb.Place) (out []string, err error) {
	err = x.call(ctx, "IDs", []any{places}, &out)
	return out, err
}

func (x remoteIndex) Outlines(ctx context.Context, paths []string) (out []kb.Outline, err error) {
	err = x.call(ctx, "Outlines", []any{paths}, &out)
	return out, err
}

func (x remoteIndex) Identities(ctx context.Context, paths []string) (out []kb.Identity, err error) {
	err = x.call(ctx, "Identities", []any{paths}, &out)
	return out, err
}

func (x remoteIndex) Specs(ctx context.Context, after string, limit int) (out []kb.SpecEntry, err error) {
	err = x.call(ctx, "Specs", []any{after, limit}, &out)
	return out, err
}

func (x remoteIndex) Manifest(ctx context.Context) (out []kb.Located, err error) {
	err = x.call(ctx, "Manifest", nil, &out)
	return out, err
}

func (x remoteIndex) Current(ctx context.Context) (ok bool) {
	return x.call(ctx, "Current", nil, &ok) == nil && ok
}

func (x remoteIndex) Release() { x.must("Release", nil) }
