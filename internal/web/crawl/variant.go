package crawl

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// versionOf returns the elements of a path that name a version of a
// documentation, "" for none: pages that differ in them are never folded.
func versionOf(key string) string {
	var out []string
	p, _, _ := strings.Cut(key, "?")
	parts := strings.Split(p, "/")
	for i, e := range parts {
		// A bare number is one only as the first folder, or the one after a
		// language: "/3/tutorial" and "/en/5/intro", not "/page/3".
		first := i == 1 || i == 2 && len(parts[1]) <= 5 && !strings.ContainsAny(parts[1], "0123456789")
		if i > 0 && isVersion(e) && (first && i < len(parts)-1 || strings.Trim(e, "0123456789") != "") {
			out = append(out, strings.ToLower(e))
		}
	}
	if label, _, ok := strings.Cut(parts[0], "."); ok && isVersion(label) && label[0] == 'v' {
		out = append(out, label)
	}
	return strings.Join(out, "/")
}

func isVersion(e string) bool {
	switch e = strings.ToLower(e); e {
	case "latest", "stable", "main", "master", "dev", "devel", "next", "nightly", "current", "canary", "trunk", "lts":
		return true
	}
	v := strings.TrimPrefix(strings.TrimPrefix(e, "release-"), "version-")
	v = strings.TrimPrefix(v, "v")
	if v == "" || v[0] < '0' || v[0] > '9' {
		return false
	}
	// "3", "3.12", "2.x", "1.0.0-rc.1"; but neither a year nor a date.
	num, rest, dotted := strings.Cut(v, ".")
	if strings.Trim(num, "0123456789") != "" || len(num) > 3 {
		return false
	}
	if !dotted {
		return e != v || len(num) < 3
	}
	return strings.Trim(rest, "0123456789.xabcr-evptl") == ""
}

// variant is the version or the language of a start page, and its place in the URL.
type variant struct {
	prefix string // of keys, with the final slash
	own    string
	same   func(element string) bool // whether an element is of this kind
}

// variantsOf returns the variants that a key names, outermost first.
func variantsOf(key string) []variant {
	p, _, _ := strings.Cut(key, "?")
	var out []variant
	at := strings.IndexByte(p, '/') + 1
	for i := 0; at > 0 && at < len(p) && i < 6; i++ {
		e, _, more := strings.Cut(p[at:], "/")
		v := variant{prefix: p[:at], own: strings.ToLower(e)}
		switch {
		case i < 2 && isLanguage(e):
			v.same = isLanguage
			out = append(out, v)
		case isVersion(e) && (more || strings.Trim(e, "0123456789") != ""):
			v.same = isVersion
			out = append(out, v)
		}
		if !more {
			break
		}
		at += len(e) + 1
	}
	return out
}

// other reports whether a key is of the variant's kind and not the same.
func (v *variant) other(key string) bool {
	rest, ok := strings.CutPrefix(key, v.prefix)
	if !ok {
		return false
	}
	e, _, _ := strings.Cut(rest, "/")
	e, _, _ = strings.Cut(e, "?")
	return v.same(e) && !strings.EqualFold(e, v.own)
}

// languages are those of documentation, by ISO 639-1.
var languages = kb.WordsOf(`ar bg bn ca cs da de el en es et eu fa fi fr gl he hi hr hu id it ja ka ko lt lv ms my nb nl no pl pt
	ro ru sk sl sr sv ta te th tr uk ur uz vi zh`)

// isLanguage reports whether an element of a path is a language: "en",
// "pt-br", "zh_CN", "zh-Hans".
func isLanguage(e string) bool {
	l, region, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(e), "_", "-"), "-")
	return languages[l] && (region == "" && len(e) == 2 || len(region) >= 2 && len(region) <= 4)
}
