package crawl_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/web/crawl"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// TestKeptPagesHoldNoSecret: what is kept of a site has no credential in it,
// so that no export of the kept pages has.
func TestKeptPagesHoldNoSecret(t *testing.T) {
	token := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	srv := newSmall(t, map[string]string{"/": "# Guide\n\nSet the token to " + token + " and go on reading what stands here about it.\n"})
	set := store(t, filepath.Join(t.TempDir(), "site"))
	run(t, crawl.Config{Start: []string{srv.URL}, Client: client(t, 5*time.Second), Pages: set, Rate: -1, Backoff: time.Millisecond})
	n := 0
	for v := range set.All() {
		if v.Outcome != pages.OutKept {
			continue
		}
		n++
		body, err := set.Body(v)
		if err != nil || strings.Contains(string(body), token) || !strings.Contains(string(body), "****") {
			t.Errorf("kept %q, %v", body, err)
		}
	}
	if n != 1 {
		t.Errorf("%d pages are kept", n)
	}
}
