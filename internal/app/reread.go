package app

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// reread has a store read again that was indexed before the present rules on
// secrets. Until that is done its texts are masked as they are shown. No server
// is asked for it: what lies elsewhere waits for its next update.
func (c *Core) reread(ctx context.Context, st kb.Store) error {
	if !ingest.OlderRules(st.Head) || st.LastError != "" || source.TraitsOf(st.Spec.Kind).Network {
		return nil
	}
	_, active, err := c.Jobs.Active(ctx, st.ID)
	if err == nil && !active {
		_, err = c.Submit(ctx, st, IndexArgs{})
	}
	switch kb.CodeOf(err) {
	case kb.Denied, kb.Full, kb.Newer, kb.Internal:
		return nil // nothing can be written here now: what is shown is masked all the same
	}
	return err
}
