package care

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

// Usage says what the program takes of this machine.
type Usage struct {
	Dir   string      `json:"dir"`   // the data directory
	Parts []UsagePart `json:"parts"` // the largest first
	Bytes int64       `json:"bytes"` // of all parts
	// DiskFree and DiskSize are those of the disk that Dir lies on; 0 is unknown.
	DiskFree int64       `json:"diskFree,omitempty"`
	DiskSize int64       `json:"diskSize,omitempty"`
	Memory   UsageMemory `json:"memory"` // of the process that answers
}

// UsagePart is what one kind of file takes.
type UsagePart struct {
	What  string `json:"what"`
	Path  string `json:"path"` // below the data directory
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// UsageMemory is in bytes.
type UsageMemory struct {
	Resident int64 `json:"resident,omitempty"` // mapped files that were read included; 0 is unknown
	Heap     int64 `json:"heap"`               // in use
	Reserved int64 `json:"reserved"`           // what the runtime has had of the system
}

// usageNames says what lies in each folder of the data directory.
var usageNames = map[string]string{
	"segments": "index", "generations": "generations of stores", "views": "resolved references", "grammars": "compiled grammars",
	"repos": "copies of repositories", "web": "kept pages", "replies": "kept replies of APIs", "evidence": "imported reports",
	"history": "commits of projects", "revisions": "commits that were searched", "looks": "looks at large folders",
	"transfer": "exports and imports under way", "jobs": "locks of jobs", "hooks": "hints that were given",
}

// UsageOf adds up the files of the data directory and the memory of this process.
func UsageOf(ctx context.Context, a *app.App) (Usage, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{Dir: c.Dir, Parts: []UsagePart{}}
	parts := map[string]*UsagePart{}
	err = filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, _ := filepath.Rel(c.Dir, path)
		if err != nil || !d.Type().IsRegular() {
			return nil // gone meanwhile, or not for us to read
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		first, _, nested := strings.Cut(filepath.ToSlash(rel), "/")
		what := usageNames[first]
		if !nested {
			if first, what = "other", "other files"; strings.HasPrefix(rel, "knowledge.db") {
				first, what = "knowledge.db", "stores, names, jobs, trust"
			}
		}
		p := parts[first]
		if p == nil {
			p = &UsagePart{What: cmp.Or(what, "other files"), Path: first}
			parts[first] = p
		}
		p.Files++
		p.Bytes += info.Size()
		u.Bytes += info.Size()
		return nil
	})
	for _, p := range parts {
		u.Parts = append(u.Parts, *p)
	}
	slices.SortFunc(u.Parts, func(a, b UsagePart) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path)) })
	u.DiskFree, u.DiskSize = diskSpace(c.Dir)
	u.Memory = memoryNow()
	return u, err
}

// memoryNow measures this process.
func memoryNow() UsageMemory {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := UsageMemory{Heap: int64(m.HeapInuse), Reserved: int64(m.Sys)}
	status, err := os.ReadFile("/proc/self/status") // Linux alone has it
	if err != nil {
		return u
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if f := strings.Fields(rest); len(f) > 0 {
		if kib, err := strconv.ParseInt(f[0], 10, 64); err == nil {
			u.Resident = kib << 10
		}
	}
	return u
}

// printUsage prints what lies where; the memory is that of a command that ends
// with it, so it is of no interest to who sees it here.
func printUsage(p *printer.Printer, u Usage) {
	t := p.Table("size", "files", "what", "in").None("nothing is kept yet")
	for _, x := range u.Parts {
		t.Row(app.BytesOf(x.Bytes), strconv.Itoa(x.Files), x.What, printer.Name(x.Path))
	}
	t.Flush()
	free := ""
	if u.DiskSize > 0 {
		free = fmt.Sprintf("; %s of %s are free on its disk", app.BytesOf(u.DiskFree), app.BytesOf(u.DiskSize))
	}
	p.Remark(fmt.Sprintf("%s in %s%s", app.BytesOf(u.Bytes), u.Dir, free))
}
