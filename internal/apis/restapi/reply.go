package restapi

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// read takes a body as what it says it is: JSON stays JSON to the digit, any
// other text becomes UTF-8. What is neither is Unsupported. The secrets of the
// call are out of it afterwards, and those of others masked, as in what is indexed.
func (r *Reply) read(contentType string, body []byte, red *Redactor) error {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, params = "", nil
	}
	r.Media = media
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	saysJSON := media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
	if (saysJSON || media == "" || media == "text/plain" || media == "application/octet-stream" || media == "text/javascript" || media == "application/javascript") &&
		looksJSON(trimmed, saysJSON) && utf8.Valid(trimmed) && json.Valid(trimmed) {
		var b bytes.Buffer
		if json.Compact(&b, trimmed) == nil {
			r.JSON = secret.MaskJSON("", red.JSON(b.Bytes()))
			return nil
		}
	}
	s, ok := toText(body, media, params["charset"])
	if !ok {
		return kb.Errorf(kb.Unsupported, "the reply is %s of %d bytes, not text", clip(mediaName(media), 60), len(body)).
			WithHint("only JSON and text can be shown")
	}
	r.Text, _ = secret.Mask("", red.Text(s))
	return nil
}

func mediaName(media string) string {
	if media == "" {
		return "something unnamed"
	}
	return media
}

// looksJSON keeps a bare word of text from being taken for JSON when the
// service does not say that it is.
func looksJSON(b []byte, says bool) bool {
	return len(b) > 0 && (says || b[0] == '{' || b[0] == '[')
}

// toText decodes text and drops control characters, which a terminal would obey.
func toText(b []byte, media, charset string) (string, bool) {
	if charset != "" && !strings.EqualFold(charset, "utf-8") {
		if enc, err := htmlindex.Get(charset); err == nil {
			if d, err := enc.NewDecoder().Bytes(b); err == nil {
				b = d
			}
		}
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(b) {
		textual := strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+xml") || media == "application/xml" || media == "application/json"
		if !textual {
			return "", false
		}
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return "", false
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c >= 0x80 && c < 0xa0 {
			return -1
		}
		return c
	}, string(b)), true
}

// heads are the headers that an answer to HEAD is asked for.
func heads(resp *http.Response) json.RawMessage {
	m := map[string]any{"status": resp.StatusCode}
	for _, k := range []string{"Content-Type", "Content-Length", "Last-Modified", "Etag"} {
		if v := resp.Header.Get(k); v != "" {
			m[k] = clip(v, 200)
		}
	}
	return mustJSON(m)
}
