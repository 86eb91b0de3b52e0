package care

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// ripgrep returns the installed program, "" when there is none, or when it lies in
// the folder that is measured: what came with that is not run.
func ripgrep(folder string) string {
	path, err := exec.LookPath("rg")
	if err != nil {
		return ""
	}
	if path, err = filepath.Abs(path); err != nil || project.Within(project.RealPath(folder), project.RealPath(path)) {
		return ""
	}
	return path
}

// runRipgrep returns how long one run over a folder takes. That it finds nothing
// is no failure.
func runRipgrep(ctx context.Context, program, folder string, args []string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, program, append([]string{"--no-config", "--line-number"}, append(args, "--", ".")...)...)
	cmd.Dir = folder
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	return took, err
}
