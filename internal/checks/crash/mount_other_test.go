//go:build !linux

package crash

import (
	"errors"
	"os/exec"
	"testing"
)

func mountSmall(*testing.T, string, int) (func(int) error, error) {
	return nil, errors.ErrUnsupported
}

func unprivileged(*exec.Cmd) {}
