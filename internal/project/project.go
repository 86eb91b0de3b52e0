// Package project is being written.
package project

import "github.com/seed-4f2d999b/knowledge/internal/kb"

var errStub = kb.Errorf(kb.Unsupported, "not built yet")

// Project says on whose behalf something is asked.
type Project struct {
	// ID is the same for all work trees of one repository: 16 characters; ""
	// outside any project.
	ID string
	// Root is the own folder: the root of the work tree that asks, the project's
	// directory outside git, the directory asked from when there is no project.
	Root string
	// Dir is the directory that was asked from, resolved.
	Dir string
	// Git reports whether Root lies in a git repository.
	Git bool
	// None reports that there is no project; names then belong to the user.
	None bool
}

// Resolve finds the project: explicit (--project) if not empty, else
// $CLAUDE_PROJECT_DIR, else dir; outside git only the first two make a project.
func Resolve(dir, explicit string, env func(string) string) (Project, error) {
	return Project{}, errStub
}

// DataDir returns the absolute data directory: flag, else $KNOWLEDGE_DATA_DIR,
// else the platform's per-user data directory. It makes nothing.
func DataDir(flag string, env func(string) string) (string, error) { return "", errStub }
