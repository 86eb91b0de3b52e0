package pkgdocs

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// unzipped returns the files of an archive.
func unzipped(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(b)
		r.Close()
	}
	return out
}

// TestGet has the whole of a module, and of an npm package what a comparison reads:
// its changelog as well, and the declarations that @types has.
func TestGet(t *testing.T) {
	r := newRegistry(t)
	const m = "example.com/m@v1.0.0"
	whole := map[string]string{"go.mod": "module example.com/m\n", "m.go": "package m\n", "internal/x/x.go": "package x\n", "CHANGELOG.md": "# v1.0.0\n"}
	r.zips[m] = modZip(t, m+"/", whole)
	r.zips["example.com/m@v1.1.0"] = modZip(t, "elsewhere@v1.1.0/", whole)
	r.tarballs["thing@1.0.0"] = tgz(t, map[string]string{
		"package/package.json": "{}", "package/CHANGELOG.md": "# 1.0.0\n", "package/index.js": "code", "package/node_modules/x/CHANGELOG.md": "x",
	})
	r.tarballs["@types/thing@1.0.0"] = tgz(t, map[string]string{"package/index.d.ts": "export {}", "package/package.json": "{}"})
	r.tags["thing"], r.tags["@types/thing"] = map[string]string{"latest": "1.0.0"}, map[string]string{"latest": "1.0.0"}
	get, _ := env(t, "GOPROXY", r.URL+"/", "GOENV", "off", "npm_config_registry", r.URL)
	if _, err := Get(t.Context(), Config{Registry: "go", Name: "example.com/m", Version: "1.0.0", Env: get}); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("a proxy without the go.mod: %v", err)
	}
	good := Archive{Version: "v1.0.0", Zip: r.zips[m]}
	if err := good.check("example.com/m"); err != nil {
		t.Error(err)
	}
	a, err := Get(t.Context(), Config{Registry: "npm", Name: "thing", Version: "1", Env: get})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"package.json": "{}", "CHANGELOG.md": "# 1.0.0\n", "@types/thing/index.d.ts": "export {}", "@types/thing/package.json": "{}"}, unzipped(t, a.Zip)); d != "" || a.Version != "1.0.0" {
		t.Errorf("%s %s", a.Version, d)
	}
	bad := Archive{Version: "v1.1.0", Zip: r.zips["example.com/m@v1.1.0"]}
	if err := bad.check("example.com/m"); kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("a zip of another module: %v", err)
	}
}
