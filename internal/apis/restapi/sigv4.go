package restapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// AWS says how requests are signed with version 4 of Amazon's signatures. The secret
// key is the scheme's Secret.
type AWS struct {
	Region  string
	Service string // as in the host: s3, execute-api
	KeyID   Ref
	Session Ref // of temporary credentials; none for lasting ones
}

// others returns the references beside the secret that may be set.
func (a *Auth) others() []Ref {
	if a.AWS != nil {
		return []Ref{a.AWS.KeyID, a.AWS.Session}
	}
	return []Ref{a.client()}
}

// awsFields are the keys of a definition.
func (r *reader) awsFields(a *AWS) map[string]func(*yaml.Node) {
	ref := func(key string, into *Ref) func(*yaml.Node) {
		return func(v *yaml.Node) {
			var ok bool
			if *into, ok = ParseRef(v.Value); !ok { // not repeated: it may be the credential itself
				r.wrong(v, "%s is not a reference", key).hint("put it into an environment variable and write ${NAME} here")
			}
		}
	}
	return map[string]func(*yaml.Node){
		"awsRegion":    func(v *yaml.Node) { r.text(v, &a.Region, "awsRegion") },
		"awsService":   func(v *yaml.Node) { r.text(v, &a.Service, "awsService") },
		"accessKeyId":  ref("accessKeyId", &a.KeyID),
		"sessionToken": ref("sessionToken", &a.Session),
	}
}

// aws judges how requests are signed.
func (r *reader) aws(n *yaml.Node, a *Auth) {
	if a.AWS.Region == "" || a.AWS.Service == "" || !a.AWS.KeyID.Set() {
		r.wrong(n, "AWS_SIGV4 needs awsRegion, awsService and accessKeyId").
			hint("as in awsRegion: eu-central-1, awsService: execute-api, accessKeyId: ${AWS_ACCESS_KEY_ID}, apiKeyValue: ${AWS_SECRET_ACCESS_KEY}")
	}
}

// sign signs a request that is complete but for that.
func (a *Auth) sign(ctx context.Context, req *http.Request, body []byte, cred credentials) error {
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	plain := func(o *v4.SignerOptions) {}
	if a.AWS.Service == "s3" { // whose paths are signed as they are, and which wants the hash said
		req.Header.Set("X-Amz-Content-Sha256", hash)
		plain = func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }
	}
	creds := aws.Credentials{AccessKeyID: cred.refs[a.AWS.KeyID], SecretAccessKey: cred.refs[a.Secret], SessionToken: cred.refs[a.AWS.Session]}
	if err := v4.NewSigner().SignHTTP(ctx, creds, req, hash, a.AWS.Service, a.AWS.Region, time.Now(), plain); err != nil {
		return kb.Errorf(kb.Invalid, "the request cannot be signed").WithHint("check awsRegion and awsService")
	}
	return nil
}
