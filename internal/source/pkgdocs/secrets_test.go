package pkgdocs

import (
	"strings"
	"testing"
)

// TestKeptWithoutSecrets: what is kept of a package has no credential in it,
// so that no export of the kept pages has.
func TestKeptWithoutSecrets(t *testing.T) {
	token := "npm_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	r := newRegistry(t)
	r.tarballs["thing@1.0.0"] = tgz(t, map[string]string{"package/README.md": "# thing\n\nexport NPM=" + token + "\n"})
	r.tags["thing"] = map[string]string{"latest": "1.0.0"}
	get, _ := env(t, "npm_config_registry", r.URL+"/")
	_, docs, err := fetch(t, Config{Registry: "npm", Name: "thing", Env: get})
	if want := "# thing\n\nexport NPM=" + strings.Repeat("*", len(token)) + "\n"; err != nil || docs["README.md"] != want {
		t.Errorf("kept %q, %v", docs["README.md"], err)
	}
}
