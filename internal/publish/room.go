// Package publish lets indexes travel: a store is published, signed, where others
// fetch it instead of indexing the same text again.
package publish

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name:     "publish",
		App:      app.Room{Pull: pull},
		Commands: addPublish,
	}
}

type publishIn struct {
	Store  string `json:"store" arg:"1" help:"name or id of the store; . is this folder"`
	Target string `json:"target" arg:"2" help:"a folder, or s3://BUCKET/PATH"`
	Key    string `json:"key,omitempty" help:"file with the secret key (default: what the variable KNOWLEDGE_PUBLISH_KEY holds)"`
}

type keyIn struct {
	File string `json:"file" arg:"1" help:"file to write the secret key to; the public one goes beside it, as FILE.pub"`
}

func addPublish(t *command.Table) {
	c := t.Add("store", command.New("store:publish", "Publish a store, signed, where others fetch it instead of indexing it", command.Writes,
		func(ctx context.Context, a *app.App, in publishIn) (Published, error) {
			return Publish(ctx, a, in.Store, in.Target, in.Key)
		}), `{"store":"react","target":"/srv/www/react","key":"publish.key"}`, `{"store":".","target":"s3://indexes/project"}`)
	c.Network = command.AnyHost
	c.Help = "What is there already is not sent again, and nothing is sent where the store has not changed. Of two who publish at once the second is told. " +
		"An object store is found and asked as Amazon's tools do it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, and AWS_ENDPOINT_URL for others than Amazon's. " +
		"Others fetch it with store:create and from. docs/data.md has the form."
	c = t.Add("store", command.New("publish:key", "Make a pair of keys to sign what is published", command.Writes,
		func(ctx context.Context, a *app.App, in keyIn) (Pair, error) { return MakeKey(ctx, a, in.File) }), `{"file":"publish.key"}`)
	c.Help = "Both files have minisign's form. The secret key has no password: keep it where nobody else reads it, in CI as a secret. Keys of minisign with a password are taken too; the variable KNOWLEDGE_PUBLISH_PASSWORD has it then."
}
