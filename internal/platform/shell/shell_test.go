package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrograms: which programs a line starts, on what, and where what they
// print goes.
func TestPrograms(t *testing.T) {
	for line, want := range map[string]string{
		`grep -rn 'a b' src`:                         `grep[-rn "a b" src]`,
		`cd lib && grep -rn "x\"y" . | head -3`:      `cd[lib] grep[-rn "x\"y" .] |head[-3]`,
		`go test ./... 2>&1 | grep -E 'FAIL|ok'`:     `go[test ./...] |grep[-E "FAIL|ok"]`,
		"cat > f.go <<'EOF'\ngrep x\nEOF\nls":        `cat[]> ls[]`,
		"cat <<A <<-\"B\"\nfind\nA\n\trg\n\tB\nrg q": `cat[] rg[q]`,
		`sed -n 3,9p a.go > /dev/null; cat b >> c`:   `sed[-n 3,9p a.go] cat[b]>`,
		`find . -name '*.go' | xargs -n 1 grep -l x`: `find[. -name *.go] grep[-l x]`,
		`for f in *.go; do head -5 "$f"; done`:       `for[f in *.go] head[-5 $f] done[]`,
		`FOO=1 timeout -k 5 60 /usr/bin/grep x y &`:  `grep[x y]`,
		`(cd a; sudo -u me nice -n 3 cat b)`:         `cd[a] cat["b)"]`,
		`echo 'grep a|b' # rg`:                       `echo["grep a|b"]`,
		`if ! rg -q a; then tail -f b &> log; fi`:    `rg[-q a] tail[-f b]> fi[]`,
		`grep a\ b c\
 d`: `grep["a b" c d]`,
		`cat 'open`:      `cat[open]`,
		`tail <<< "x"`:   `tail[]`,
		`>`:              ``,
		"a 2> b 1>&2 <c": `a[]`,
		`x#y |& z`:       `x#y[] |z[]`,
	} {
		var got []string
		for _, c := range Commands(line) {
			name, args, piped := c.Program()
			for i, a := range args {
				if strings.ContainsAny(a, ` "()|`) {
					args[i] = fmt.Sprintf("%q", a)
				}
			}
			text := name + "[" + strings.Join(args, " ") + "]"
			if piped {
				text = "|" + text
			}
			if c.File {
				text += ">"
			}
			got = append(got, text)
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", line, d)
		}
	}
}

// FuzzCommands: no line is too odd to be taken apart.
func FuzzCommands(f *testing.F) {
	f.Add("cat <<'E\n' | (x=1 y 2>&1 \\")
	f.Fuzz(func(t *testing.T, line string) {
		for _, c := range Commands(line) {
			c.Program()
		}
	})
}
