package care

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/transfer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

type backupIn struct {
	Folder string `json:"folder" arg:"1" help:"an empty folder, or an older backup, which is brought up to date"`
}

type restoreIn struct {
	Folder string `json:"folder" arg:"1" help:"a folder that backup made"`
}

// BackedUp is the reply of backup and restore.
type BackedUp struct {
	Folder string `json:"folder"`
	To     string `json:"to,omitempty"` // of a restore, the data directory
	transfer.Backup
}

// Text is the reply for people.
func (b BackedUp) Text() string {
	if b.To != "" {
		return fmt.Sprintf("%s: %s as of %s, %s\nread all of it: knowledge verify", b.To, kb.Count(b.Stores, "store"), b.Time.Local().Format("2006-01-02 15:04:05"), app.BytesOf(b.Copied))
	}
	return fmt.Sprintf("%s: %s, %s in %s, of which %s are new\nback: knowledge --data-dir NEW restore %s", b.Folder, kb.Count(b.Stores, "store"), app.BytesOf(b.Bytes),
		kb.Count(b.Files, "file"), app.BytesOf(b.Copied), kb.ShellWord(b.Folder))
}

func folderOf(a *app.App, folder string) string {
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(a.Config.Dir, folder)
	}
	return filepath.Clean(folder)
}

// BackUp copies the data directory into a folder while others go on.
func BackUp(ctx context.Context, a *app.App, folder string) (BackedUp, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return BackedUp{}, err
	}
	out := BackedUp{Folder: folderOf(a, folder)}
	out.Backup, err = place(c, a.Version()).Backup(ctx, c.Db, out.Folder)
	return out, err
}

// Restore fills a data directory that is empty with what a folder holds.
func Restore(ctx context.Context, a *app.App, folder string) (BackedUp, error) {
	dir, err := a.DataDir()
	if err != nil {
		return BackedUp{}, err
	}
	out := BackedUp{Folder: folderOf(a, folder), To: dir}
	out.Backup, err = transfer.Restore(ctx, out.Folder, dir)
	return out, err
}
