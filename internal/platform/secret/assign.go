package secret

import (
	"math"
	"strings"
	"unicode"
)

// vendors are services whose credentials have no form of their own: they are
// known by the service's name before a value that looks random.
const vendors = `adafruit adobe airtable algolia alibaba aliyun amplitude asana assemblyai atlassian auth0 azure baidu beamer
	binance bitbucket bitfinex bitly bittrex bugsnag buildkite circleci clearbit clickhouse clojars cloudflare cloudinary
	codecov cohere coinbase confluence confluent contentful contentstack coveralls databricks datadog deepgram deepl
	digitalocean discord dnsimple docusign droneci dropbox dynatrace elevenlabs etsy facebook fastly figma finicity finnhub
	firebase flickr foursquare freshbooks freshdesk giphy gitter gocardless grafana harness helpscout heroku hetzner
	honeybadger honeycomb hubspot huggingface instagram intercom ipinfo iterable jfrog artifactory bintray xray jira kakao
	klaviyo kraken kucoin launchdarkly linear linkedin linked_in linked-in linode lob logdna loggly looker mailchimp mailgun
	mailjet mandrill mapbox mapquest mattermost maxmind meraki messagebird message_bird message-bird mistral mixpanel mongodb
	naver netlify newrelic new_relic new-relic nexmo nytimes newyorktimes octopus okta onelogin openai opsgenie pagerduty
	papertrail paypal pexels pinterest pixabay plaid planetscale plivo postmark privateai private_ai private-ai pusher
	pushover quay rapidapi razorpay readme reddit rollbar salesforce scaleway segment sendbird sendgrid sendinblue sentry
	shodan shopify shutterstock sidekiq contribsys snowflake snyk sonar sonarqube sourcegraph sparkpost splunk spotify square
	squarespace stability strava stripe sumo sumologic tencent telegram telegr todoist tomtom travis trello tumblr twilio
	twitch twitter typeform unsplash vercel vimeo virustotal vonage vultr wakatime wandb wechat weibo yandex yelp zendesk zoho zoom`

// hints are parts of names that credentials are given.
const hints = `secret token passw passwd pwd passphrase apikey api_key api-key credential creds auth key bearer webhook dsn`

func allWords() []*word {
	words := append(tokenWords(), blockWords()...)
	for _, v := range strings.Fields(vendors) {
		words = append(words, &word{text: v, vendor: true})
	}
	for _, h := range strings.Fields(hints) {
		words = append(words, &word{text: h})
	}
	return words
}

// reach is how far after a name its value may begin.
const reach = 72

// assigned judges the value that follows a name in which word stands.
func (f *finder) assigned(w *word, start, end int) {
	s := f.text
	from, to := start, end
	for from > 0 && start-from < 80 && isIdent(s[from-1]) {
		from--
	}
	for to < len(s) && to-end < 60 && isIdent(s[to]) {
		to++
	}
	if w.vendor && !standsAlone(s, start, end) {
		return
	}
	name := s[from:to]
	if before := strings.ToLower(s[max(0, from-8):from]); strings.HasSuffix(before, "public ") {
		return // the first line of a public key
	}
	strength := nameStrength(name, w.vendor)
	if len(name) > 30 && looksRandom(name, 0.2) {
		return // letters that happen to spell a word
	}
	if strength == 0 || from == f.last && !w.vendor {
		return
	}
	f.last = from
	if f.weak(name, to) {
		return
	}
	limit := min(len(s), to+reach)
	// The value may stand on the next line when nothing else stands on this one.
	line := strings.IndexByte(s[to:limit], '\n')
	if line >= 0 {
		limit = to + line
		if next := strings.TrimLeft(s[limit+1:min(len(s), limit+60)], " \t-"); isGlue(s[to:limit]) && (strings.TrimSpace(s[to:limit]) != "" || strings.HasPrefix(next, "value")) {
			limit = len(s)
			if next := strings.IndexByte(s[to+line+1:], '\n'); next >= 0 {
				limit = to + line + 1 + next
			}
			limit = min(limit, to+line+1+reach)
		}
	}
	// The name itself may run into the value: "token.Parse", "key-85e4".
	for i, tried := to, 0; i < limit && tried < 6; tried++ {
		for i < limit && !isValue(s[i]) {
			i++
		}
		begin := i
		for i < len(s) && i-begin < 400 && isValue(s[i]) {
			i++
		}
		if begin == to && isIdentOrMark(s[begin]) { // nothing stands between: no assignment
			continue
		}
		if begin >= limit {
			return
		}
		between := s[to:begin]
		switch {
		case strength == anyName && strings.IndexFunc(between, unicode.IsLetter) >= 0:
			return // "key" alone tells little: its value follows at once
		case (strength == anyName || strength == vendorName && nameStrength(name, false) == 0) && !strings.ContainsAny(between+s[begin:begin+1], "=:,(>|\"'`"):
			continue // prose that speaks of a service
		case strength == vendorName && nameStrength(name, false) == 0 && !isGlue(between):
			return
		}
		if f.value(name, strength, begin, i) {
			return
		}
	}
}

// isIdentOrMark reports whether c goes on a name rather than giving it a value.
func isIdentOrMark(c byte) bool { return c != '=' && c != ':' && c != '|' && c != '?' }

// value masks s[begin:end] if it is a credential for a name of that strength.
func (f *finder) value(name string, strength, begin, end int) bool {
	s := f.text
	for begin < end && strings.IndexByte("=:/.,+-|!#&%@^*?", s[begin]) >= 0 {
		begin++
	}
	for end > begin && strings.IndexByte(".,:;!?", s[end-1]) >= 0 {
		end--
	}
	if strings.HasSuffix(strings.ToLower(s[max(0, begin-6):begin]), "basic ") {
		return false // basic judges it
	}
	// An expression: a call, an index, a member.
	if end < len(s) && strings.IndexByte("([{", s[end]) >= 0 {
		return false
	}
	v := s[begin:end]
	least, ratio := 16, 0.2
	if strength >= vendorName {
		least, ratio = 14, 0.14
	} else if strength == strongName && len(v) < 16 && begin > 0 && strings.IndexByte("\"'`", s[begin-1]) >= 0 {
		least, ratio = 10, 0.3
	}
	if len(v) < least || len(v) < 16 && isNumber(v) || isPlaceholder(v) || manuals[v] || isReference(s, begin, v) {
		return false
	}
	switch {
	case isUUID(v):
		if strength < strongName {
			return false
		}
	case all(v, isDigit):
		// An account's number is as good as its name.
		if strength < vendorName || len(v) < 15 || nameStrength(name, false) == 0 && !strings.Contains(strings.ToLower(name), "client") {
			return false
		}
	case all(v, isHex) && strength < strongName:
		return false
	case all(v, isHex):
		if hashWord(f.line(begin)) || distinct(v) < 6 {
			return false
		}
	case !looksRandom(v, ratio) || longestChunk(v) < 8:
		return false
	}
	if sequence(v) {
		return false
	}
	f.add(begin, end, kindAssignment)
	return true
}

// isNumber reports whether v is a number with an exponent.
func isNumber(v string) bool {
	m, e, ok := strings.Cut(strings.ToLower(v), "e")
	e = strings.TrimLeft(e, "+-")
	return ok && m != "" && e != "" && all(strings.Replace(m, ".", "", 1), isDigit) && all(e, isDigit)
}

// line returns what stands on the line of i before it.
func (f *finder) line(i int) string {
	return f.text[max(strings.LastIndexByte(f.text[:i], '\n')+1, i-120):i]
}

// How telling a name is.
const (
	anyName    = 1 // "key", "auth"
	strongName = 2 // "apiKey", "client_secret", "password"
	vendorName = 3 // the name of a service in it
)

// qualified are words before "key" that make a credential of it.
var qualified = lists["qualified"]

// nameStrength says how telling a name is; 0 for one that says the opposite.
func nameStrength(name string, vendor bool) int {
	words := wordsOf(name)
	strength := 0
	for i, w := range words {
		switch w {
		case "public", "pub", "publishable":
			if !vendor {
				return 0
			}
		case "hash", "sha", "sha1", "sha256", "md5", "checksum", "digest", "fingerprint", "integrity",
			"commit", "revision", "etag", "author", "authors", "authority", "keyboard", "keyword", "keywords", "idempotency", "websocket", "socket":
			return 0
		case "key", "keys":
			strength = max(strength, anyName)
			if i > 0 && qualified[words[i-1]] || i > 1 && qualified[words[i-2]] {
				strength = strongName
			}
		case "auth", "authorization", "bearer", "webhook", "dsn", "pass", "pwd":
			strength = max(strength, anyName)
			if w != "auth" {
				strength = strongName
			}
		default:
			for _, part := range []string{"secret", "token", "passw", "passphrase", "apikey", "credential", "creds", "accesskey", "authkey"} {
				if strings.Contains(w, part) {
					strength = strongName
				}
			}
		}
	}
	if vendor {
		return vendorName
	}
	return strength
}

// wordsOf splits a name at its marks and humps, in lower case.
func wordsOf(name string) []string {
	var out []string
	begin := 0
	cut := func(i int) {
		if i > begin {
			out = append(out, strings.ToLower(name[begin:i]))
		}
		begin = i
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case !isAlnum(c):
			cut(i)
			begin = i + 1
		case i > 0 && isUpper(c) && (isLower(name[i-1]) || isDigit(name[i-1])):
			cut(i)
		case i > 1 && isLower(c) && isUpper(name[i-1]) && isUpper(name[i-2]):
			cut(i - 1)
		}
	}
	cut(len(name))
	return out
}

// standsAlone reports whether the word at s[start:end] is a word of its own in
// the name around it: "lobKey" is of Lob, "blob" and "global" are not.
func standsAlone(s string, start, end int) bool {
	if start > 0 && isLetter(s[start-1]) && (isLower(s[start]) || isUpper(s[start-1])) {
		return false
	}
	if end < len(s) && isLetter(s[end]) && end-start < 5 && (isLower(s[end]) || isUpper(s[end-1])) {
		return false
	}
	return true
}

var glue = lists["glue"]

// isGlue reports whether nothing but marks and the words of declarations stands in s.
func isGlue(s string) bool {
	for i := 0; i < len(s); i++ {
		if isAlnum(s[i]) {
			for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) }) {
				if !glue[w] {
					return false
				}
			}
			return true
		}
	}
	return true
}

// isValue reports whether c may stand in a value that looks random.
func isValue(c byte) bool { return isAlnum(c) || strings.IndexByte("_-+/=.~%:|!@#$^&*?", c) >= 0 }

// isReference reports whether a value names where the credential is instead of
// being one: a variable, a template, a path, an address, a hash.
func isReference(s string, begin int, v string) bool {
	if begin > 0 && (s[begin-1] == '$' || s[begin-1] == '{' && begin > 1 && (s[begin-2] == '$' || s[begin-2] == '{' || s[begin-2] == '#')) {
		return true
	}
	if strings.Contains(v, "://") || strings.HasPrefix(v, "//") || strings.ContainsAny(v, "$") {
		return true
	}
	lower := strings.ToLower(v)
	for _, p := range []string{"sha1", "sha224", "sha256", "sha384", "sha512", "md5", "h1:", "data:", "ssh-", "aaaab3nza", "aaaac3nza", "mii", "mcow", "mfkw", "mfww", "mhyw", "nmcow", "nmfkw", "nmii", "ivborw0kgg", "http", "file:", "arn:", "urn:", "did:", "oid:", "ref:", "refs/"} {
		if strings.HasPrefix(lower, p) {
			return true
		}
	}
	if strings.HasPrefix(lower, "0x") && len(v) == 42 {
		return true // the address of a contract or account
	}
	if i := strings.LastIndexByte(v, '@'); i >= 0 && len(v)-i == 41 && all(v[i+1:], isHex) {
		return true // an action, pinned to a commit
	}
	n := len(v)
	return strings.Count(v, "/") > 1+n/16 || strings.Count(v, ".") > 1+n/24 || strings.Count(v, ":") > 1 || strings.Count(v, "@") > 1
}

// placeholders are words that stand where a credential would; the last is the
// payload of the token with which jwt.io explains the form.
var placeholders = strings.Fields(`example placeholder changeme change_me change-me yourtoken your_ your- replace insert_ redacted
	dummy xxxx **** ???? ---- .... sample todo fixme insecure notasecret not-a-secret foobar deadbeef lorem
	eyjzdwiioiixmjm0nty3odkw`)

func isPlaceholder(v string) bool {
	if strings.HasSuffix(v, "EXAMPLEKEY") && len(v) >= 40 {
		return false // as long as a true one: who knows
	}
	lower := strings.ToLower(v)
	for _, p := range placeholders {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return strings.HasPrefix(lower, "your") || strings.HasPrefix(lower, "my-") || strings.HasPrefix(lower, "my_") || strings.HasPrefix(lower, "test-")
}

// sequence reports whether the keys of a keyboard or the alphabet stand in v
// in their order, as in values that people make up.
func sequence(v string) bool {
	lower := strings.ToLower(v)
	for _, p := range []string{"0123456", "1234567", "abcdefg", "7654321", "qwerty"} {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return false
}

// hashWord reports whether a line says that what follows is a hash.
func hashWord(line string) bool {
	line = strings.ToLower(line)
	for _, w := range []string{"sha", "hash", "md5", "digest", "checksum", "commit", "etag", "integrity", "fingerprint", "revision"} {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

func isUUID(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := 0; i < 36; i++ {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (v[i] == '-') || !dash && !isHex(v[i]) {
			return false
		}
	}
	return true
}

// looksRandom reports whether v is no word and no name: letters and digits, or
// humps that no word has, take turns at least at that share of its places. In
// random base 62 that is 0.43 of them, in hexadecimal 0.47, in identifiers
// with digits below 0.2. Shannon's entropy alone does not tell them apart: a
// long identifier has 3.5 bits a character, and so has a key of 16.
func looksRandom(v string, ratio float64) bool {
	turns, letters, digits, n := 0, 0, 0, 0
	var prev byte
	for i := 0; i < len(v); i++ {
		c := v[i]
		if !isAlnum(c) {
			prev = 0
			continue
		}
		n++
		if isDigit(c) {
			digits++
		} else {
			letters++
		}
		if prev != 0 && (isDigit(c) != isDigit(prev) || isUpper(c) && isLower(prev)) {
			turns++
		}
		prev = c
	}
	if n < 10 || letters == 0 || n*10 < len(v)*7 || digits == 0 && (n < 16 || max(ratio*1.4, 0.25)*float64(n) > float64(turns)) {
		return false
	}
	return float64(turns) >= ratio*float64(n) && entropy(v) >= 2.7 && !isHumps(v)
}

// isHumps reports whether v is words that begin with capitals, for the most
// part: "InvalidUtf8InPathParam".
func isHumps(v string) bool {
	in, capitals := 0, false
	for i := 0; i < len(v); {
		j := i
		if isUpper(v[j]) {
			j++
		}
		for j < len(v) && isLower(v[j]) {
			j++
		}
		if isUpper(v[i]) && j-i >= 3 || !isUpper(v[i]) && j-i >= 4 {
			in += j - i
		}
		capitals = capitals || isUpper(v[i])
		i = max(j, i+1)
	}
	return capitals && 10*in >= 7*len(v)
}

// longestChunk returns the length of the longest run of letters and digits.
func longestChunk(v string) int {
	longest, n := 0, 0
	for i := 0; i < len(v); i++ {
		if isAlnum(v[i]) {
			n++
			longest = max(longest, n)
		} else {
			n = 0
		}
	}
	return longest
}

func distinct(v string) int {
	var seen [256]bool
	n := 0
	for i := 0; i < len(v); i++ {
		if !seen[v[i]] {
			seen[v[i]] = true
			n++
		}
	}
	return n
}

// entropy is Shannon's, of the characters of v, in bits a character.
func entropy(v string) float64 {
	var counts [256]int
	for i := 0; i < len(v); i++ {
		counts[v[i]]++
	}
	h := 0.0
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / float64(len(v))
			h -= p * math.Log2(p)
		}
	}
	return h
}
