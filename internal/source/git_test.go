package source

import (
	"os"
	"testing"
)

func needGit(t *testing.T) {
	t.Helper()
	if !haveGit() {
		t.Skip("no git installed")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
}
