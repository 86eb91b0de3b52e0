package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/install/configedit"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Installed reports whether a client has an entry of ours in a scope. A file
// that does not parse is an error when we were in it.
func (o Options) Installed(c Client, scope string) (bool, error) {
	s := Step{Client: c.Name, Scope: scope, File: c.file(o.Place, scope)}
	if s.File == "" || s.read() != nil || !s.exists {
		return false, nil
	}
	kept, err := load(o.DataDir)
	if err != nil {
		return false, err
	}
	r := kept.find(s.File, kindServer)
	state, _, err := c.state(s.before, o, r)
	if err != nil && r != nil {
		return false, o.broken(s, err)
	}
	return err == nil && (state == current || state == extended || state == old), nil
}

// HasText reports whether the client's file of a scope has the block of instructions.
func (o Options) HasText(c Client, scope string) bool {
	s := Step{File: c.text(o.Place, scope)}
	if s.File == "" || s.read() != nil {
		return false
	}
	_, ok, err := configedit.GetBlock(s.before)
	return ok && err == nil
}

// maxFile bounds what is read: a client's own history may lie in the same file.
const maxFile = 256 << 20

// read fills in what the file holds now.
func (s *Step) read() error {
	info, err := os.Stat(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		if l, err := os.Lstat(s.File); err == nil && l.Mode()&fs.ModeSymlink != 0 {
			return kb.Errorf(kb.Invalid, "%q is a link to a file that there is not", s.File).
				WithHint("make the file that it leads to, or remove the link")
		}
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return kb.Errorf(kb.Invalid, "%q is not a file", s.File).WithHint("move it away")
	}
	if err == nil && info.Size() > maxFile {
		return kb.Errorf(kb.TooLarge, "%q has %d bytes, more than is read", s.File, info.Size()).
			WithHint("add the entry by hand; see docs/install.md")
	}
	if err == nil {
		s.before, err = os.ReadFile(s.File)
	}
	if err != nil {
		return kb.Errorf(kb.Denied, "%q cannot be read: %w", s.File, err).WithHint("check its permissions")
	}
	s.exists = true
	return nil
}

// broken says that a file is not touched.
func (o Options) broken(s Step, err error) error {
	return kb.Errorf(kb.Invalid, "%q is left alone: %s", s.File, strings.TrimSuffix(err.Error(), ".")).
		WithHint("mend that place of it and try again; who else is here: knowledge clients")
}

func (o Options) again(s Step) string {
	if s.Scope == Project {
		return o.Again + " --project --client " + s.Client
	}
	return o.Again + " --client " + s.Client
}

// PluginOf returns our plugin that a client has enabled, NAME@MARKETPLACE, and
// the settings file that does; "" for none.
func (c *Client) PluginOf(p Place) (id, file string) {
	if c.Plugin == nil {
		return "", ""
	}
	for _, file := range c.Plugin(p) {
		doc, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		v, _, err := c.Format.Get(doc, []string{"enabledPlugins"})
		if err != nil {
			continue
		}
		m, _ := v.(map[string]any)
		for id, on := range m {
			if strings.HasPrefix(id, Server+"@") && on == true {
				return id, file
			}
		}
	}
	return "", ""
}

// Found says why a client seems to be on this machine; "" when it does not.
func (c *Client) Found(p Place) string {
	for _, name := range c.Programs {
		for dir := range strings.SplitSeq(p.Env("PATH"), string(os.PathListSeparator)) {
			if dir == "" {
				continue
			}
			for _, ext := range []string{"", ".exe", ".cmd"} {
				if ext != "" && p.GOOS != "windows" {
					continue
				}
				path := filepath.Join(dir, name+ext)
				if st, err := os.Stat(path); err == nil && !st.IsDir() && (p.GOOS == "windows" || st.Mode()&0o111 != 0) {
					return path
				}
			}
		}
	}
	for _, f := range c.Folders(p) {
		if _, err := os.Stat(f); err == nil {
			return f
		}
	}
	return ""
}
