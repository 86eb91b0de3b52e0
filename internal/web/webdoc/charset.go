package webdoc

import (
	"bytes"
	"mime"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// decode returns a body in UTF-8: by its byte order mark, the header, the
// page's own meta element, and else by looking. Bytes that mean nothing become
// U+FFFD.
func decode(body []byte, contentType string) []byte {
	if rest, ok := bytes.CutPrefix(body, []byte("\xef\xbb\xbf")); ok {
		return bytes.ToValidUTF8(rest, []byte("\ufffd"))
	}
	_, params, _ := mime.ParseMediaType(contentType)
	if params["charset"] == "" && utf8.Valid(body) && !metaCharset(body) {
		return body
	}
	enc, name, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	// Without a certain name, windows-1252 is a guess that the first 1,024
	// bytes were ASCII; text that is valid UTF-8 as a whole is that.
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	out, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	return out
}

// metaCharset reports whether the head of a page names a character set.
func metaCharset(body []byte) bool {
	return bytes.Contains(bytes.ToLower(body[:min(len(body), 1024)]), []byte("charset="))
}
