package source

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

var ownerRepoRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.-]+$`)

// MeantURL returns the URL that a path of nothing on this machine is short
// for: host/owner/name, or owner/name of GitHub; "" for what looks like neither.
func MeantURL(raw, dir string) string {
	raw = strings.TrimRight(strings.TrimSpace(raw), "/")
	first, rest, ok := strings.Cut(raw, "/")
	if !ok || rest == "" || first == "." || first == ".." {
		return ""
	}
	if _, err := os.Stat(absolute(first, dir)); err == nil || filepath.IsAbs(raw) || remoteShape(raw) {
		return "" // a folder of that name is here, and something in it was meant
	}
	switch {
	case strings.Contains(strings.Trim(first, "."), ".") && hostRE.MatchString(first):
		return "https://" + raw
	case ownerRepoRE.MatchString(raw):
		return "https://github.com/" + raw
	}
	return ""
}

// otherPackages are prefixes by which other tools name packages, which are not
// read here, with the page that says where a package's repository is.
var otherPackages = map[string]string{
	"pypi": "https://pypi.org/project/", "pip": "https://pypi.org/project/", "python": "https://pypi.org/project/",
	"cargo": "https://crates.io/crates/", "crates": "https://crates.io/crates/", "crate": "https://crates.io/crates/", "rust": "https://crates.io/crates/",
	"gem": "https://rubygems.org/gems/", "rubygems": "https://rubygems.org/gems/",
	"composer": "https://packagist.org/packages/", "packagist": "https://packagist.org/packages/",
	"nuget": "https://www.nuget.org/packages/", "hex": "https://hex.pm/packages/", "pub": "https://pub.dev/packages/",
	"maven": "", "mvn": "", "gradle": "", "conda": "", "brew": "", "apt": "", "deb": "", "rpm": "", "docker": "",
}

// refuseOtherPackage says of the name of a package that its registry is not read.
func refuseOtherPackage(raw string) (why, hint string, ok bool) {
	prefix, name, _ := strings.Cut(raw, ":")
	page, ok := otherPackages[strings.ToLower(prefix)]
	if !ok {
		return "", "", false
	}
	hint = "give the URL of its repository"
	if page != "" {
		name, _, _ = strings.Cut(name, "@")
		hint += ", which this page names: " + page + name
	}
	return "names a package, and of packages only those of npm: and go: are read", hint, true
}
