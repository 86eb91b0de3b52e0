package follow

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/job/watch"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The process that follows a folder holds a lock, keeps a note on how it goes,
// and answers probes, files that it deletes; see watch.Folder.

// watchLock is the lock of the process that follows a store's folder.
func watchLock(c *app.Core, id kb.StoreID) string {
	return filepath.Join(c.Dir, "jobs", "watch-"+string(id)+".lock")
}

// watchProbes is the folder of the probes of that process; see watch.Folder.
func watchProbes(c *app.Core, id kb.StoreID) string {
	return filepath.Join(c.Dir, "jobs", "watch-"+string(id)+".probes")
}

// watchState is the file in which the process that follows a store's folder
// says how it goes; it is out of date where no process has the lock.
func watchState(c *app.Core, id kb.StoreID) string {
	return filepath.Join(c.Dir, "jobs", "watch-"+string(id)+".json")
}

// noteWatch keeps the newest event that says how the folder is followed.
func noteWatch(c *app.Core, id kb.StoreID, e WatchEvent) {
	if e.Kind == "updated" || e.Kind == "waiting" {
		return
	}
	if raw, err := json.Marshal(e); err == nil {
		_ = atomicfile.Write(watchState(c, id), raw) // only doctor misses it
	}
}

// watchNote returns what noteWatch kept last.
func watchNote(c *app.Core, id kb.StoreID) (e WatchEvent, ok bool) {
	raw, err := os.ReadFile(watchState(c, id))
	return e, err == nil && json.Unmarshal(raw, &e) == nil
}

// probeWait is how long the answer to a probe is waited for. It takes a fraction
// of a millisecond; without one the caller looks at the folder.
const probeWait = 25 * time.Millisecond

// probes counts the probes of this process.
var probes atomic.Int64

// Probe asks the process that follows a store's folder whether everything that
// happened in there until now is in the index.
func Probe(c *app.Core, id kb.StoreID) app.Following {
	if _, held := lockfile.Held(watchLock(c, id)); !held {
		return app.Unfollowed
	}
	name := filepath.Join(watchProbes(c, id), fmt.Sprintf("%d-%d", os.Getpid(), probes.Add(1)))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return app.Unfollowed
	}
	f.Close()
	for end := time.Now().Add(probeWait); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		if os.Remove(name+watch.Behind) == nil {
			_ = os.Remove(name)
			return app.Edited
		}
		if _, err := os.Lstat(name); os.IsNotExist(err) {
			// Gone with its directory is no answer.
			if _, err := os.Lstat(filepath.Dir(name)); err == nil {
				return app.Current
			}
			return app.Unfollowed
		}
	}
	_ = os.Remove(name)
	return app.Unfollowed
}
