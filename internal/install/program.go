package install

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Released says whether a release is published. Until one is, the channels
// that fetch it bring nothing: the README says so below "Not yet".
const Released = false

// Home of the project.
const (
	Repository = "https://github.com/seed-4f2d999b/knowledge"
	Module     = "github.com/seed-4f2d999b/knowledge/cmd/knowledge"
)

// Program returns the path under which clients start this program, whose file
// is exe: the one on the PATH that leads to it, which package managers keep
// where it is over versions, else exe itself. A program that will be gone soon,
// or that a plugin owns, is refused.
func Program(exe string, p Place) (string, error) {
	switch slashed := filepath.ToSlash(exe); {
	case strings.Contains(slashed, "/go-build"):
		return "", kb.Errorf(kb.Invalid, "%q is what go run made, and goes when it ends", exe).
			WithHint("install the program first: go install %s@latest", Module)
	case strings.Contains(slashed, "/_npx/"):
		return "", kb.Errorf(kb.Invalid, "%q lies in npx's cache, which npm empties", exe).
			WithHint("install the program first: npm install --global %s", npmPackage(slashed))
	case strings.Contains(slashed, "/plugins/cache/"), strings.Contains(slashed, "/plugins/data/"):
		return "", kb.Errorf(kb.Invalid, "%q belongs to a client's plugin, which updates and removes it", exe).
			WithHint("install the program for itself first: go install %s@latest", Module)
	}
	st, err := os.Stat(exe)
	if err != nil {
		return "", kb.Errorf(kb.NotFound, "the program %q is gone: %w", exe, err).WithHint("install it again")
	}
	name := Server
	if p.GOOS == "windows" {
		name += ".exe"
	}
	for dir := range strings.SplitSeq(p.Env("PATH"), string(os.PathListSeparator)) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if other, err := os.Stat(path); err == nil && os.SameFile(st, other) {
			return path, nil
		}
	}
	return exe, nil
}

// npmPackage is the package that a path below node_modules belongs to, without
// the platform that its name ends in.
func npmPackage(slashed string) string {
	i := strings.LastIndex(slashed, "/node_modules/")
	if i < 0 {
		return Server
	}
	parts := strings.Split(slashed[i+len("/node_modules/"):], "/")
	name := parts[0]
	if strings.HasPrefix(name, "@") && len(parts) > 1 {
		name += "/" + parts[1]
	}
	for _, system := range []string{"-linux-", "-darwin-", "-win32-", "-windows-"} {
		name, _, _ = strings.Cut(name, system)
	}
	return name
}

// Channel is how this program came here. All are "" when nothing shows it.
type Channel struct {
	Name    string `json:"name,omitempty"`    // Homebrew, npm, go install, …
	Upgrade string `json:"upgrade,omitempty"` // the command that brings the newest version; "" until there is a release
	Remove  string `json:"remove,omitempty"`  // the command that takes it away
}

// Manual is where all channels are described.
const Manual = Repository + "/blob/main/docs/install.md"

// UpgradeLine says how the newest version comes.
func (c Channel) UpgradeLine() string {
	switch {
	case c.Name == "":
		return "nothing here shows how it came, so upgrade it as it was installed; the ways are in " + Manual
	case c.Upgrade == "":
		return "it came by " + c.Name + ", which brings a newer version when one is published; the ways are in " + Manual
	}
	return "it came by " + c.Name + "; the newest comes with: " + c.Upgrade
}

// ChannelOf derives the channel from the program's place, by what cannot be so by
// chance, without the network. Released says whether there are
// published releases, which all channels fetch but those that build the sources.
func ChannelOf(exe string, p Place, released bool) Channel {
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	at := strings.ReplaceAll(exe, `\`, "/")
	low := strings.ToLower(at)
	remove := "rm " + kb.ShellWord(exe)
	if p.GOOS == "windows" {
		remove = "del " + exe
	}
	in := func(dir string) bool {
		dir = strings.TrimRight(strings.ToLower(strings.ReplaceAll(dir, `\`, "/")), "/")
		return dir != "" && low[:max(0, strings.LastIndexByte(low, '/'))] == dir
	}
	goBin := p.Env("GOBIN")
	if goBin == "" {
		goBin = p.home("go", "bin")
		if first, _, _ := strings.Cut(p.Env("GOPATH"), string(os.PathListSeparator)); first != "" {
			goBin = p.join(first, "bin")
		}
	}
	var c Channel
	switch {
	case strings.Contains(low, "/cellar/"):
		c = Channel{"Homebrew", "brew upgrade " + Server, "brew uninstall " + Server}
	case strings.Contains(low, "/scoop/apps/"):
		c = Channel{"Scoop", "scoop update " + Server, "scoop uninstall " + Server}
	case strings.Contains(low, "/node_modules/"):
		name := npmPackage(at)
		c = Channel{"npm", "npm install --global " + name + "@latest", "npm uninstall --global " + name}
	case strings.Contains(low, "/plugins/cache/"), strings.Contains(low, "/plugins/data/"):
		return Channel{"Claude Code's plugin", "claude plugin update " + pluginID(at), "claude plugin uninstall " + pluginID(at)}
	case in(goBin):
		return Channel{"go install", "go install " + Module + "@latest", remove}
	case checkout(exe) != "":
		dir := kb.ShellWord(checkout(exe))
		return Channel{"a build of the checkout " + dir, "git -C " + dir + " pull && go build -C " + dir + " -o " + kb.ShellWord(exe) + " ./cmd/knowledge", remove}
	case p.GOOS == "windows" && in(p.join(p.Env("LOCALAPPDATA"), "Programs", Server)) && released:
		c = Channel{"install.ps1", "irm " + Repository + "/releases/latest/download/install.ps1 | iex", remove}
	case p.GOOS != "windows" && in(p.home(".local", "bin")) && released:
		c = Channel{"install.sh", "curl -fsSL " + Repository + "/releases/latest/download/install.sh | sh", remove}
	default:
		return Channel{Remove: remove}
	}
	if !released {
		c.Upgrade = ""
	}
	return c
}

// checkout is the folder of this program's sources that a file lies in; "" when
// it lies in none.
func checkout(exe string) string {
	for dir := filepath.Dir(exe); ; dir = filepath.Dir(dir) {
		if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			if strings.HasPrefix(string(mod), "module "+strings.TrimSuffix(Module, "/cmd/knowledge")+"\n") {
				return dir
			}
			return ""
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
	}
}

// pluginID is NAME@MARKETPLACE of a path …/plugins/cache/MARKETPLACE/NAME/… or
// …/plugins/data/NAME-MARKETPLACE/….
func pluginID(at string) string {
	if _, rest, ok := strings.Cut(at, "/plugins/cache/"); ok {
		if parts := strings.Split(rest, "/"); len(parts) > 1 {
			return parts[1] + "@" + parts[0]
		}
	}
	if _, rest, ok := strings.Cut(at, "/plugins/data/"+Server+"-"); ok {
		market, _, _ := strings.Cut(rest, "/")
		return Server + "@" + market
	}
	return Server
}
