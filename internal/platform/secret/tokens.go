package secret

import (
	"regexp"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// token is a credential that is known by its own form.
type token struct {
	kind   string
	prefix string
	rest   func() *regexp.Regexp
	inside bool // the prefix stands somewhere in it: the whole run is matched
}

// tokenTable lists the tokens whose prefix and length their givers publish, or
// can be seen in any of them: kind, prefixes, and what follows a prefix. The
// prefix is matched as it is written.
var tokenTable = []struct{ kind, prefixes, rest string }{
	{"GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", `[A-Za-z0-9]{36,255}`},
	{"GitHub token", "github_pat_", `\w{40,255}`},
	{"GitLab token", "glpat- gldt- glft- glrt- glsoat- glffct- glagent- gloas- glptt- glcbt- glimt- glwt-", `[\w-]{20,}(?:\.[\w.-]+)?`},
	{"GitLab token", "GR1348941", `[\w-]{20,}`},
	{"GitLab session", "_gitlab_session=", `[0-9a-z]{32}`},
	{"Bitbucket token", "ATBB ATCTT3 BBDC-", `[\w=+/-]{24,}`},
	{"Atlassian token", "ATATT3", `[\w=+/-]{60,}`},
	{"Trello token", "ATTA", `[a-f0-9]{64}`},
	{"Gitea token", "gta_", `[a-f0-9]{40}`},

	{"AWS key", "AKIA ASIA ABIA ACCA A3T", `[A-Z0-9]{16,17}`},
	{"AWS Bedrock key", "ABSK", `[A-Za-z0-9+/]{100,}={0,2}`},
	{"AWS Bedrock key", "bedrock-api-key-", `[A-Za-z0-9+/=_-]{20,}`},
	{"AWS Marketplace token", "amzn.mws.", `[0-9a-f-]{36}`},
	{"Amazon client secret", "amzn1.oa2-cs.v1.", `[a-f0-9]{64}`},
	{"Google API key", "AIza", `[\w-]{35}`},
	{"Google OAuth token", "ya29.", `[\w-]{20,}(?:\.[\w-]+)*`},
	{"Google client secret", "GOCSPX-", `[\w-]{24,}`},
	{"Google refresh token", "1//0", `[\w-]{40,}`},
	{"Alibaba key", "LTAI", `[A-Za-z0-9]{12,24}`},
	{"Tencent key", "AKID", `[A-Za-z0-9]{32}`},
	{"Yandex key", "AQVN", `[\w-]{35,40}`},
	{"Yandex key", "YCAJ YCN YCM YCO YCP", `[\w-]{35,38}`},
	{"Yandex token", "t1.", `[\w-]+={0,2}\.[\w-]{86}={0,2}`},
	{"Scaleway key", "SCW", `[A-Z0-9]{17}`},
	{"Exoscale key", "EXO", `[a-f0-9]{24,26}`},
	{"DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_", `[a-f0-9]{64}`},
	{"Cloudflare key", "v1.0-", `[a-f0-9]{24}-[a-f0-9]{100,}`},
	{"Fly.io token", "fo1_", `[\w-]{40,}`},
	{"Fly.io token", "fm1a_ fm1r_ fm2_", `[A-Za-z0-9+/]{90,}={0,3}`},
	{"Heroku key", "HRKU-", `[\w-]{36,64}`},
	{"Netlify token", "nfp_ nfc_", `[A-Za-z0-9]{36,40}`},
	{"Render token", "rnd_", `[A-Za-z0-9]{28,32}`},
	{"Supabase token", "sbp_", `[a-f0-9]{40}`},
	{"Supabase secret", "sb_secret_", `[\w-]{20,}`},
	{"PlanetScale token", "pscale_tkn_ pscale_oauth_ pscale_pw_", `[\w=.-]{32,64}`},
	{"ClickHouse key", "4b1d", `[A-Za-z0-9]{38}`},
	{"Databricks token", "dapi dkea dose", `[a-f0-9]{32}(?:-\d)?`},
	{"Terraform token", "atlasv1.", "inside:" + `[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}`},
	{"Pulumi token", "pul-", `[a-f0-9]{40}`},
	{"Vault token", "hvs. hvb. hvr.", `[\w-]{24,300}`},
	{"Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", `[A-Za-z0-9._-]{40,}`},
	{"Infracost key", "ico-", `[A-Za-z0-9]{32}`},
	{"OpenShift token", "sha256~", `[\w-]{43}`},
	{"Docker token", "dckr_pat_ dckr_oat_", `[\w-]{27,}`},
	{"Tailscale key", "tskey-", `[a-z]+-[\w-]{12,}`},
	{"Azure secret", "Q~", "inside:" + `[\w~.]{3}\dQ~[\w~.-]{31,34}`},
	{"Defined Networking token", "dnkey-", `[\w=-]{26}-[\w=-]{52}`},
	{"k3s token", "K10", `[a-f0-9]{64}::[\w:.-]{16,}`},
	{"swarm token", "SWMTKN-1-", `[a-z0-9]{50}-[a-z0-9]{25}`},

	{"npm token", "npm_", `[A-Za-z0-9]{36}`},
	{"PyPI token", "pypi-", `[\w-]{50,}`},
	{"RubyGems key", "rubygems_", `[a-f0-9]{48}`},
	{"Clojars token", "CLOJARS_", `[a-z0-9]{60}`},
	{"NuGet key", "oy2", `[a-z0-9]{43}`},
	{"crates.io token", "cio", `[A-Za-z0-9]{32}`},
	{"Artifactory key", "AKCp", `[A-Za-z0-9]{60,73}`},
	{"Artifactory token", "cmVmd", `[A-Za-z0-9]{59}`},

	{"Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxc- xoxd- xoxe.xoxb- xoxe.xoxp-", `[A-Za-z0-9%/+=-]{10,}`},
	{"Slack token", "xapp-", `\d-[A-Za-z0-9]+-\d+-[a-z0-9]+`},
	{"Slack webhook", "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", `[A-Za-z0-9+/_-]{30,}`},
	{"Discord webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", `\d{10,}/[\w-]{40,}`},
	{"Teams webhook", ".webhook.office.com/webhookb2/", `[\w@-]{36,}/IncomingWebhook/[\w/-]+`},
	{"Telegram token", ":AA", "inside:" + `\d{5,16}:AA[\w-]{32,34}`},
	{"Twilio key", "SK AC", `[0-9a-f]{32}`},
	{"SendGrid key", "SG.", `[\w=-]{16,}\.[\w=-]{16,}|[\w=.-]{66}`},
	{"Brevo key", "xkeysib- xsmtpsib-", `[a-f0-9]{64}-[A-Za-z0-9]{16}`},
	{"Mailgun key", "key- pubkey-", `[a-f0-9]{32}`},
	{"Mailchimp key", "-us", "inside:" + `[a-f0-9]{32}-us\d{1,2}`},
	{"Stripe key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", `[A-Za-z0-9]{10,247}`},
	{"webhook secret", "whsec_", `[A-Za-z0-9+/=]{24,}`},
	{"Square token", "EAAA sq0atp- sq0csp-", `[\w-]{22,60}`},
	{"Facebook token", "EAAM EAAC EAAB EAAG", `[A-Za-z0-9]{60,}`},
	{"Shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_", `[a-fA-F0-9]{32}`},
	{"Shippo token", "shippo_live_ shippo_test_", `[a-fA-F0-9]{40}`},
	{"EasyPost key", "EZAK EZTK", `[A-Za-z0-9]{54}`},
	{"Duffel token", "duffel_test_ duffel_live_", `[\w=-]{40,}`},
	{"Flutterwave key", "FLWSECK-  FLWSECK_TEST- FLWPUBK_TEST-", `[A-Za-z0-9]{12,32}(?:-X)?`},
	{"Razorpay key", "rzp_live_ rzp_test_", `[A-Za-z0-9]{14}`},
	{"WooCommerce key", "ck_ cs_", `[a-f0-9]{40}`},
	{"Braintree token", "access_token$production$ access_token$sandbox$", `[0-9a-z]{16}\$[0-9a-f]{32}`},
	{"Plaid token", "access-sandbox- access-development- access-production-", `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`},

	{"OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", `[\w-]{20,}`},
	{"Anthropic key", "sk-ant-", `[\w-]{32,}`},
	{"OpenRouter key", "sk-or-v1-", `[a-f0-9]{64}`},
	{"model provider's key", "sk-", `[A-Za-z0-9]{32,64}`},
	{"ElevenLabs key", "sk_", `[a-f0-9]{48}`},
	{"Hugging Face token", "hf_ api_org_", `[A-Za-z0-9]{30,40}`},
	{"Replicate token", "r8_", `[A-Za-z0-9]{37,40}`},
	{"Groq key", "gsk_", `[A-Za-z0-9]{40,}`},
	{"xAI key", "xai-", `[A-Za-z0-9]{60,}`},
	{"Perplexity key", "pplx-", `[A-Za-z0-9]{40,56}`},
	{"NVIDIA key", "nvapi-", `[\w-]{60,}`},
	{"Tavily key", "tvly-", `[A-Za-z0-9-]{32,}`},
	{"Jina key", "jina_", `[A-Za-z0-9_-]{60,}`},
	{"Pinecone key", "pcsk_", `\w{60,}`},
	{"LangSmith key", "lsv2_pt_ lsv2_sk_", `[a-f0-9]{32}_[a-f0-9]{10}`},
	{"Langfuse key", "sk-lf- pk-lf-", `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`},

	{"1Password key", "A3-", `[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}`},
	{"1Password token", "ops_eyJ", `[A-Za-z0-9+/_-]{100,}={0,3}`},
	{"age key", "AGE-SECRET-KEY-1", `[A-Z0-9]{20,58}`},
	{"Authress key", ".acc_ .acc-", "inside:" + `(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}`},
	{"Adobe secret", "p8e-", `[A-Za-z0-9]{32}`},
	{"Airtable token", "pat", `[A-Za-z0-9]{14}\.[a-f0-9]{64}`},
	{"Harness key", "pat. sat.", `[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`},
	{"Contentful token", "CFPAT-", `[\w-]{43}`},
	{"Dynatrace token", "dt0c01. dt0s01. dt0s02. dt0s16.", `[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}`},
	{"Grafana token", "glsa_", `[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}`},
	{"Grafana token", "glc_ eyJrIjoi", `[A-Za-z0-9+/_-]{32,400}={0,3}`},
	{"New Relic key", "NRAK- NRJS- NRII- NRRA- NRBR- NRIQ- NRSP- NRIL-", `[A-Za-z0-9_-]{19,42}`},
	{"Notion token", "ntn_", `[A-Za-z0-9]{40,}`},
	{"Notion token", "secret_", `[A-Za-z0-9]{43}`},
	{"Octopus key", "API-", `[A-Z0-9]{26}`},
	{"Postman key", "PMAK-", `[a-fA-F0-9]{24}-[a-fA-F0-9]{34}`},
	{"Prefect key", "pnu_ pnb_", `[A-Za-z0-9]{36}`},
	{"ReadMe key", "rdme_", `[a-z0-9]{60,}`},
	{"Scalingo token", "tk-us-", `[\w-]{48}`},
	{"Sentry token", "sntrys_eyJ", `[A-Za-z0-9+/=_-]{40,}`},
	{"Sentry token", "sntryu_", `[a-f0-9]{64}`},
	{"SettleMint token", "sm_aat_ sm_pat_ sm_sat_", `[A-Za-z0-9]{16}`},
	{"Sonar token", "squ_ sqp_ sqa_", `[A-Za-z0-9]{40}`},
	{"Sourcegraph token", "sgp_ slk_", `(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40,64}`},
	{"Buildkite token", "bkua_ bkaa_", `[a-f0-9]{40}`},
	{"CircleCI token", "CCIPAT_", `[A-Za-z0-9]{22}_[a-f0-9]{40}`},
	{"Linear key", "lin_api_ lin_oauth_", `[A-Za-z0-9]{32,64}`},
	{"Typeform token", "tfp_", `[\w=.-]{40,}`},
	{"Frame.io token", "fio-u-", `[\w=-]{64}`},
	{"Figma token", "figd_", `[\w-]{38,}`},
	{"Adafruit key", "aio_", `[A-Za-z0-9]{28}`},
	{"PostHog key", "phx_", `[A-Za-z0-9]{40,}`},
	{"MaxMind key", "_mmk", "inside:" + `[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk`},
	{"42 secret", "s-s4t2ud- s-s4t2af-", `[a-f0-9]{64}`},
	{"Mapbox token", "pk. sk.", `[A-Za-z0-9_-]{50,}\.[A-Za-z0-9_-]{20,}`},
	{"Dropbox token", "sl.", `[\w=-]{120,}`},
	{"Freemius key", "sk_", `[^\s"'\\]{29}`},
	{"JSON web token", "eyJ", `[A-Za-z0-9_-]{14,}\.e[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]*)?(?:\.[A-Za-z0-9_-]+)*`},
	{"JSON web token", "ZXlK", `[A-Za-z0-9+/_-]{60,}={0,2}`},
	{"encoded private key", "LS0tLS1CRUdJTi", `(?:BQUklWQVRF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVE|BFTkNSWVBURUQgUF|BEU0EgUFJJVkFURS)[A-Za-z0-9+/=]{20,}`},
}

// manuals are keys that a vendor's manual shows as examples and never gave out.
var manuals = kb.WordsOf(`AKIAIOSFODNN7EXAMPLE ASIAIOSFODNN7EXAMPLE AKIAI44QH8DHBEXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
	je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY sk_test_4eC39HqLyjWDarjtT1zdp7dc sk_test_BQokikJOvBiI2HlWgH4olfQ2
	C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==`)

func tokenWords() []*word {
	var words []*word
	for i := range tokenTable {
		row := &tokenTable[i]
		expr, inside := strings.CutPrefix(row.rest, "inside:")
		rest := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + expr + `)`) })
		for _, p := range strings.Fields(row.prefixes) {
			words = append(words, &word{text: strings.ToLower(p), token: &token{kind: row.kind, prefix: p, rest: rest, inside: inside}})
		}
	}
	return words
}

// longestToken bounds how far a token is looked for.
const longestToken = 4096

// token judges what begins, or for some has its mark, at start.
func (f *finder) token(t *token, start int) {
	s := f.text
	if s[start:start+len(t.prefix)] != t.prefix {
		return
	}
	from, skip := start, len(t.prefix)
	if t.inside {
		for from > 0 && start-from < 100 && (isIdent(s[from-1]) || s[from-1] == '~') {
			from--
		}
		skip = 0
	}
	if from > 0 && !t.inside && isAlnum(t.prefix[0]) && isWordByte(s[from-1]) && !escaped(s, from) {
		return
	}
	if from > 0 && strings.IndexByte("+/", s[from-1]) >= 0 && all(t.prefix, isAlnum) {
		return // inside of Base64
	}
	m := t.rest().FindStringIndex(s[from+skip : min(len(s), from+skip+longestToken)])
	if m == nil {
		return
	}
	end := from + skip + m[1]
	// A longer run of the same letters is something else: a hash, a picture.
	if end < len(s) && isAlnum(s[end]) && isAlnum(s[end-1]) {
		return
	}
	body := s[from+skip : end]
	if manuals[s[from:end]] || isPlaceholder(body) || distinct(body) < 6 {
		return
	}
	if last := t.prefix[len(t.prefix)-1]; !t.inside && (len(t.prefix) < 3 || len(t.prefix) <= 4 && isAlnum(last) || last == '.') && !looksRandom(body, 0.12) {
		return // so short a prefix begins other words too
	}
	f.add(from, end, t.kind)
}

// isWordByte reports whether a token cannot begin after c.
func isWordByte(c byte) bool { return isAlnum(c) || c == '_' }

// escaped reports whether what stands before i is the letter of an escape, as
// in the JSON string "…\nghp_…".
func escaped(s string, i int) bool {
	return i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}
