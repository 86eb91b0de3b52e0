package deps

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestReadManifest reads what manifests define and ask for.
func TestReadManifest(t *testing.T) {
	goMod := `module example.org/p

go 1.25

require (
	example.org/a v1.2.0
	example.org/b/v2 v2.0.1 // indirect
	example.org/c v0.0.0
	example.org/d v1.0.0
)

replace example.org/c => ../c

replace example.org/d => example.org/fork v1.1.0
`
	want := Manifest{
		Packages: []Package{{Ecosystem: "go", Name: "example.org/p", Dir: "sub"}},
		Requirements: []Requirement{
			{Ecosystem: "go", Name: "example.org/a", Version: "v1.2.0", Range: "v1.2.0"},
			{Ecosystem: "go", Name: "example.org/b/v2", Version: "v2.0.1", Range: "v2.0.1"},
			{Ecosystem: "go", Name: "example.org/c", Range: "v0.0.0", Local: true},
			{Ecosystem: "go", Name: "example.org/d", Version: "v1.1.0", Range: "v1.0.0", From: "example.org/fork"},
		},
	}
	if d := cmp.Diff(want, ReadManifest("sub/go.mod", []byte(goMod))); d != "" {
		t.Error(d)
	}
	for p, text := range map[string]string{"go.mod": "module", "package.json": "{", "a/package.json": `{"name": 7, "dependencies": []}`} {
		if m := ReadManifest(p, []byte(text)); len(m.Packages)+len(m.Requirements) > 0 {
			t.Errorf("%s %q: %+v", p, text, m)
		}
	}
	m := ReadManifest("package.json", []byte(`{"name": "p", "version": "1.0.0", "dependencies": {"a": "npm:b@^2.0.0"}, "devDependencies": {"c": "workspace:*"}}`))
	want = Manifest{
		Packages: []Package{{Ecosystem: "npm", Name: "p", Version: "1.0.0"}},
		Requirements: []Requirement{
			{Ecosystem: "npm", Name: "a", Range: "^2.0.0", From: "b"},
			{Ecosystem: "npm", Name: "c", Range: "workspace:*", Local: true},
		},
	}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
}

// TestFits holds packages in stores against requirements.
func TestFits(t *testing.T) {
	goOf := func(version string) Requirement {
		return Requirement{Ecosystem: "go", Name: "example.org/a", Version: version}
	}
	npmOf := func(version, rng string) Requirement {
		return Requirement{Ecosystem: "npm", Name: "a", Version: version, Range: rng}
	}
	tag := func(name string) Held { return Held{Ref: kb.Ref{Type: kb.RefTag, Name: name}} }
	goPkg := func(dir string) Package { return Package{Ecosystem: "go", Name: "example.org/a", Dir: dir} }
	npmPkg := func(version string) Package { return Package{Ecosystem: "npm", Name: "a", Version: version} }
	for _, c := range []struct {
		what string
		r    Requirement
		p    Package
		h    Held
		fits bool
		why  string
	}{
		{"the tag", goOf("v1.2.0"), goPkg(""), tag("v1.2.0"), true, ""},
		{"another tag", goOf("v1.2.0"), goPkg(""), tag("v1.2.1"), false, "v1.2.1"},
		{"the tag of a folder", goOf("v1.2.0"), goPkg("sub"), tag("sub/v1.2.0"), true, ""},
		{"the root's tag for a folder", goOf("v1.2.0"), goPkg("sub"), tag("v1.2.0"), false, "v1.2.0"},
		{"a folder of a major version", goOf("v2.2.0"), goPkg("v2"), tag("v2.2.0"), true, ""},
		{"incompatible", goOf("v3.0.0+incompatible"), goPkg(""), tag("v3.0.0"), true, ""},
		{"a commit", goOf("v0.0.0-20240102030405-0123456789ab"), goPkg(""), Held{Commit: "0123456789abcdef"}, true, ""},
		{"another commit", goOf("v0.0.0-20240102030405-0123456789ab"), goPkg(""), Held{Commit: "fedcba9876543210"}, false, "fedcba9"},
		{"the default branch", goOf("v1.2.0"), goPkg(""), Held{Commit: "fedcba9876543210"}, false, "fedcba9"},
		{"a package", goOf("v1.2.0"), goPkg(""), Held{Commit: "v1.2.0"}, true, ""},
		{"a work tree", goOf("v1.2.0"), goPkg(""), Held{Folder: "/src/a"}, true, ""},
		{"the cache of modules", goOf("v1.2.0"), goPkg(""), Held{Folder: "/mod/example.org/a@v1.2.0"}, true, ""},
		{"another version there", goOf("v1.2.0"), goPkg(""), Held{Folder: "/mod/example.org/a@v1.1.0"}, false, "v1.1.0"},
		{"a replacement", Requirement{Ecosystem: "go", Name: "example.org/a", Local: true}, goPkg(""), tag("v1.2.0"), false, ""},
		{"the version of the manifest", npmOf("2.1.0", ""), npmPkg("2.1.0"), Held{}, true, ""},
		{"another version", npmOf("2.1.0", ""), npmPkg("2.0.0"), Held{}, false, "2.0.0"},
		{"a tag of many packages", npmOf("2.1.0", ""), npmPkg(""), tag("a@2.1.0"), true, ""},
		{"a work tree of npm", npmOf("2.1.0", ""), npmPkg("0.0.0"), Held{Folder: "/src/a"}, true, ""},
		{"a range", npmOf("", "^2.0.0"), npmPkg("2.4.0"), Held{Folder: "/src/a"}, true, ""},
		{"out of a range", npmOf("", "^2.0.0"), npmPkg("3.0.0"), Held{Folder: "/src/a"}, false, "3.0.0"},
		{"another world", npmOf("1.0.0", ""), goPkg(""), tag("v1.0.0"), false, ""},
	} {
		if fits, why := c.r.Fits(c.p, c.h); fits != c.fits || why != c.why {
			t.Errorf("%s: %v %q, not %v %q", c.what, fits, why, c.fits, c.why)
		}
	}
}
