package deps

import (
	"path/filepath"
	"runtime"
)

// Caches returns the folders in which package managers keep the sources of
// what projects depend on, outside the projects, as the user's environment
// says; they need not exist. Where a manager keeps settings and passwords
// beside them, only the folder of the packages is named.
func Caches(env func(string) string) []string {
	home := env("HOME")
	if runtime.GOOS == "windows" && env("USERPROFILE") != "" {
		home = env("USERPROFILE")
	}
	var out []string
	// at adds rest below the folder that a variable names, else below a folder of the home.
	at := func(variable, inHome string, rest ...string) {
		base := ""
		if variable != "" {
			base = env(variable)
		}
		if base == "" && inHome != "" && home != "" {
			base = filepath.Join(home, filepath.FromSlash(inHome))
		}
		if !filepath.IsAbs(base) {
			return
		}
		for _, r := range rest {
			out = append(out, filepath.Join(base, filepath.FromSlash(r)))
		}
	}
	if env("GOMODCACHE") != "" {
		at("GOMODCACHE", "", ".")
	} else if list := filepath.SplitList(env("GOPATH")); len(list) > 0 && filepath.IsAbs(list[0]) {
		out = append(out, filepath.Join(list[0], "pkg", "mod")) // go help modules: the first entry's
	} else {
		at("", "go", "pkg/mod")
	}
	at("GOROOT", "", "src")
	at("CARGO_HOME", ".cargo", "registry/src", "git/checkouts")
	at("VIRTUAL_ENV", "", "lib", "Lib/site-packages")
	at("CONDA_PREFIX", "", "lib")
	at("", ".m2", "repository")
	at("GRADLE_USER_HOME", ".gradle", "caches/modules-2/files-2.1")
	at("GEM_HOME", "", "gems")
	at("", ".gem", ".")
	at("NUGET_PACKAGES", ".nuget/packages", ".")
	at("COMPOSER_HOME", ".composer", "vendor")
	at("HEX_HOME", ".hex", "packages")
	at("PNPM_HOME", ".local/share/pnpm", "store")
	return out
}
