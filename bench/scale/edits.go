package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// edited is what was measured while a copy of the folder was edited.
type edited struct {
	info
	edits, files  int
	changed       int64 // bytes of the files at each of their edits
	written       int64 // bytes that the server and its jobs wrote to disk
	span          time.Duration
	late          []time.Duration // from an edit to the first search that finds it
	lost          int             // edits that no search found in time
	before, after []time.Duration // warm searches
	disk, diskEnd int64
}

// patience is how long an edit is looked for.
const patience = 30 * time.Second

// edit indexes a copy of the folder and then edits it while a server answers: so many
// edits, spread evenly over span, of files drawn by a seeded generator. Nine of
// ten add a line, one of twenty makes a file and one of twenty deletes one. Beside that
// one edit at a time is looked for, by a word that nothing else has, until a search
// finds it.
func (b *bench) edit(edits int, span time.Duration) (e edited, err error) {
	files, err := sampled(b.dir)
	if err != nil {
		return e, err
	}
	root := filepath.Join(b.scratch, "edited")
	text, data := filepath.Join(root, "text"), filepath.Join(root, "data")
	whole := int64(0)
	for _, f := range files {
		if raw, ok := readText(filepath.Join(b.dir, f)); ok {
			whole += int64(len(raw))
		}
	}
	if err := fill(text, b.dir, files, whole); err != nil {
		return e, err
	}
	env := b.env
	defer func() { b.env = env }()
	b.env = lab.Env(data)
	g, err := b.grownOf(text, data)
	if err != nil {
		return e, err
	}
	e.info, e.disk, e.edits = g.info, g.disk, edits
	c, err := lab.Dial(b.scratch, b.env, b.bin, lab.Handshake)
	if err != nil {
		return e, err
	}
	defer c.Close()
	if e.before, err = b.warm(c); err != nil {
		return e, err
	}
	stop, sum := make(chan struct{}), make(chan int64)
	go count(b.bin, stop, sum)
	err = b.editing(c, text, files, span, &e)
	close(stop)
	e.written = <-sum
	if err != nil {
		return e, err
	}
	if e.after, err = b.warm(c); err != nil {
		return e, err
	}
	e.diskEnd, err = lab.DirSize(filepath.Join(data, "segments"))
	return e, err
}

// warm asks every query twice and returns the times of the second.
func (b *bench) warm(c *lab.Client) (all []time.Duration, err error) {
	for round := range 2 {
		for _, q := range b.queries {
			start := time.Now()
			if _, err := c.Call("search", map[string]any{"query": q, "stores": []string{store}}); err != nil {
				return nil, err
			}
			if round == 1 {
				all = append(all, time.Since(start))
			}
		}
	}
	return all, nil
}

// count adds up what the processes of a program write to disk until stop is closed, as
// Linux counts it, looking ten times a second: the end of one that ends between two
// looks is missed.
func count(bin string, stop <-chan struct{}, sum chan<- int64) {
	last := map[int]int64{}
	for {
		lab.WrittenBy(bin, last)
		select {
		case <-stop:
			n := int64(0)
			for _, bytes := range last {
				n += bytes
			}
			sum <- n
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// sought is the edit that is looked for, if any.
type sought struct {
	mu         sync.Mutex
	file, word string
	since      time.Time
}

// set begins to look for an edit, unless another is looked for.
func (s *sought) set(file, word string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.word == "" && word != "" {
		s.file, s.word, s.since = file, word, since
	}
}

// drop gives up looking for what was in a file; "" is whatever is looked for.
func (s *sought) drop(file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if file == "" || s.file == file {
		s.word = ""
	}
}

func (s *sought) get() (file, word string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file, s.word, s.since
}

// editing edits and, beside it, searches.
func (b *bench) editing(c *lab.Client, dir string, files []string, span time.Duration, e *edited) error {
	began := time.Now()
	var at sought
	ended := make(chan error, 1)
	go func() { ended <- writing(dir, files, span, e, &at) }()
	done := false
	for {
		file, word, since := at.get()
		if word == "" {
			if done {
				break
			}
			select {
			case err := <-ended:
				if done = true; err != nil {
					return err
				}
			case <-time.After(5 * time.Millisecond):
			}
			continue
		}
		said, err := c.Call("search", map[string]any{"query": word, "stores": []string{store}})
		if err != nil {
			return err
		}
		_, now, _ := at.get()
		switch late := time.Since(since); {
		case now != word: // deleted meanwhile: it is looked for in vain
		case strings.Contains(said, file):
			e.late = append(e.late, late)
			at.drop("")
		case late > patience:
			e.lost++
			fmt.Printf("not found within %s: %s in %s\n", patience, word, file)
			at.drop("")
		}
	}
	e.span = time.Since(began)
	return nil
}

// writing makes the edits, however long searches take.
func writing(dir string, files []string, span time.Duration, e *edited, at *sought) error {
	r := rand.New(rand.NewPCG(24, 10_000))
	began, touched := time.Now(), map[string]bool{}
	for i := range e.edits {
		name := files[r.IntN(len(files))]
		path := filepath.Join(dir, name)
		this := fmt.Sprintf("zqedit%dq%d", i, r.IntN(1<<30))
		var err error
		switch k := r.IntN(20); {
		case k == 0 && len(files) > 2*e.edits:
			if err = os.Remove(path); os.IsNotExist(err) {
				err = nil
			}
			this = ""
			at.drop(name)
		case k == 1:
			name = filepath.Join(filepath.Dir(name), this+".md")
			path = filepath.Join(dir, name)
			err = os.WriteFile(path, []byte("# A note\n\nThe word "+this+" stands here.\n"), 0o600)
		default:
			this, err = addLine(path, this, r)
		}
		if err != nil {
			return err
		}
		at.set(name, this, time.Now())
		touched[name] = true
		if st, err := os.Stat(path); err == nil {
			e.changed += st.Size()
		}
		time.Sleep(time.Until(began.Add(span * time.Duration(i+1) / time.Duration(e.edits))))
	}
	e.files = len(touched)
	return nil
}

// addLine adds a line with a word to a file, and returns "" where it is no text of
// a size that is indexed.
func addLine(path, word string, r *rand.Rand) (string, error) {
	raw, ok := readText(path)
	switch filepath.Ext(path) {
	case ".c", ".h", ".go", ".rs", ".py", ".js", ".ts", ".java", ".md", ".rst":
	default:
		ok = false
	}
	if !ok {
		return "", nil // deleted before, or perhaps not indexed
	}
	lines := strings.SplitAfter(string(raw), "\n")
	at := r.IntN(len(lines))
	lines[at] = "/* " + word + " */\n" + lines[at]
	return word, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600)
}

// edits writes the report of an edited folder.
func (b *bench) edits(out, what, commit string, n int, span time.Duration, began time.Time, load string) error {
	e, err := b.edit(n, span)
	if err != nil {
		return err
	}
	var r lab.Report
	r.Printf("# A large store that changes, %s\n\nThe product at commit %s. %s. Load averages %s at the start. Written by `.ci/extra scale -edits %d -over %s`.\n\n",
		began.Format(time.DateOnly), commit, lab.Machine(), load, n, span)
	r.Printf("A copy of %s: %d documents, %s of text, %d chunks. %d edits of %d files in %s, seeded; the searches that look for them are those of one server, which follows its folder.\n\n",
		filepath.Base(what), e.Documents, lab.MB(e.TextBytes), e.Chunks, e.edits, e.files, e.span.Round(time.Second))
	before, after := lab.Quantile(e.before, .5), lab.Quantile(e.after, .5)
	if len(e.late) == 0 {
		return fmt.Errorf("no search found any of %d edits", e.lost)
	}
	rows := [][]string{{"what", "figure"},
		{"from an edit to the search that finds it, p50", lab.Ms(lab.Median(e.late))},
		{"… p95", lab.Ms(lab.Quantile(e.late, .95))},
		{"… edits looked for, not found", fmt.Sprintf("%d, %d", len(e.late)+e.lost, e.lost)},
		{"warm search before, p50", lab.Ms(before)},
		{"… after, and its ratio", lab.Ms(after) + ", " + lab.Ratio(after, before)},
		{"bytes of the files at their edits", lab.MB(e.changed)},
		{"bytes that the server and its jobs wrote to disk, and their ratio", lab.MB(e.written) + ", " + lab.Ratio(e.written, e.changed)},
		{"segments on disk before, after", lab.MB(e.disk) + ", " + lab.MB(e.diskEnd)},
	}
	r.Table(rows...)
	path, err := r.Write(out, "scale-edits")
	if err == nil {
		fmt.Println(path)
	}
	return err
}
