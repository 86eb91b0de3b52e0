package answers

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/answers/answer"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Conversation is what is remembered of a session, by client.
type Conversation struct {
	SessionID     string          `json:"session_id"`
	Turns         []answer.Turn   `json:"turns"`            // of the client that asked last
	Others        [][]answer.Turn `json:"others,omitempty"` // of other clients with a session of that id
	ExpiresAfterS int             `json:"expires_after_s"`
}

// ConversationNamed returns the turns of a session that is in memory here.
func ConversationNamed(ctx context.Context, a *app.App, id string) (Conversation, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return Conversation{}, err
	}
	all := answeringOf(c).sessions.Named(id)
	if len(all) == 0 {
		return Conversation{}, kb.Errorf(kb.NotFound, "there is no session %q", kb.Clip(id, 60)).
			WithHint("sessions live in the memory of the process that answered, for %v after the last question", answer.SessionLife)
	}
	return Conversation{SessionID: id, Turns: all[0], Others: all[1:], ExpiresAfterS: int(answer.SessionLife.Seconds())}, nil
}

// ConversationOf returns the session that a key belongs to, which its client
// was given with the first answer.
func ConversationOf(ctx context.Context, a *app.App, id, key string) (Conversation, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return Conversation{}, err
	}
	turns, ok := answeringOf(c).sessions.OfSecret(id, key)
	if !ok {
		return Conversation{}, notYours(id)
	}
	return Conversation{SessionID: id, Turns: turns, ExpiresAfterS: int(answer.SessionLife.Seconds())}, nil
}

// notYours is the same for a session of another client and for none.
func notYours(id string) error {
	return kb.Errorf(kb.NotFound, "there is no session %q of this key", kb.Clip(id, 60)).
		WithHint("send the session_key of its answers as X-Session-Key, or the server's token")
}

// ForgetOwn drops the session that a key belongs to.
func ForgetOwn(ctx context.Context, a *app.App, id, key string) (Forgotten, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return Forgotten{}, err
	}
	if !answeringOf(c).sessions.ForgetOfSecret(id, key) {
		return Forgotten{}, notYours(id)
	}
	return Forgotten{SessionID: id, Forgotten: 1}, nil
}

// Forgotten is the reply of answer:forget.
type Forgotten struct {
	SessionID string `json:"session_id"`
	Forgotten int    `json:"forgotten"` // conversations that there were
}

// Forget drops a session.
func Forget(ctx context.Context, a *app.App, id string) (Forgotten, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return Forgotten{}, err
	}
	return Forgotten{SessionID: id, Forgotten: answeringOf(c).sessions.Forget(id)}, nil
}
