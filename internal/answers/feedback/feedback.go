// Package feedback keeps what people thought of answers, durably, and reports
// what follows from it: which places to lower for questions like those that
// were answered badly, and which questions the stores keep failing.
//
// Entries lie in the table feedback of the database, the newest MostEntries of
// them. For comparison of questions by meaning those of the newest that cite a
// source, or are negative, lie in a chromem-go collection in memory as well,
// made again when another process has added to the table.
package feedback

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The bounds of an entry, in bytes, and of the table.
const (
	MaxQuery    = 8 << 10
	MaxResponse = 32 << 10
	MaxComment  = 4 << 10
	MaxExtra    = 8 << 10
	MaxSession  = 128
	MaxAction   = 200
	MostEntries = 50_000
	MostListed  = 500
	// What waits for the owner is bounded by itself: beyond it nothing more is
	// taken, so that what strangers send neither fills the disk nor drives out
	// what counts.
	MostPending  = 1000
	pendingBytes = 4 << 20
)

// The ratings.
const (
	Positive = "positive"
	Negative = "negative"
)

// lowConfidence is the confidence below which an answer counts as one of low
// confidence: that of an answer that nothing supports.
const lowConfidence = 1.0 / 3

// Source is a place that a rated answer cited.
type Source struct {
	Store kb.StoreID `json:"store"`
	ID    string     `json:"id"` // of the chunk, as hits have it: place and text
	At    string     `json:"at,omitempty"`
}

// Entry is what one person thought of one answer.
type Entry struct {
	ID         int64
	Created    time.Time
	Query      string
	Response   string
	Rating     string   // Positive or Negative
	Confidence *float64 // in [0,1]
	Session    string
	Comment    string
	Extra      json.RawMessage // an object of what else was sent
	Sources    []Source
	Reviewed   bool
	Action     string // what was done about it
	Pending    bool   // sent by who has not shown the token: it counts for nothing until it is reviewed
}

// size is what an entry takes of pendingBytes.
func (e *Entry) size() int {
	return len(e.Query) + len(e.Response) + len(e.Session) + len(e.Comment) + len(e.Extra)
}

// Store is the feedback of one data directory. Its methods are safe for
// concurrent use.
type Store struct {
	db  *db.DB
	emb kb.Embedder

	mu    sync.Mutex
	known *known // of the revision that was read last
}

// New returns the feedback in a database. Questions are compared by emb.
func New(d *db.DB, emb kb.Embedder) *Store { return &Store{db: d, emb: emb} }

// Check refuses what is no entry.
func (e *Entry) Check() error {
	switch e.Rating = strings.ToLower(strings.TrimSpace(e.Rating)); e.Rating {
	case Positive, Negative:
	case "":
		return kb.Errorf(kb.Invalid, "the rating is missing").WithHint("say positive or negative")
	default:
		return kb.Errorf(kb.Invalid, "%q is no rating", kb.Clip(e.Rating, 40)).WithHint("say positive or negative")
	}
	if strings.TrimSpace(e.Query) == "" {
		return kb.Errorf(kb.Invalid, "the feedback is about no question").WithHint("send the question as query")
	}
	for _, f := range []struct {
		name, value string
		most        int
	}{
		{"query", e.Query, MaxQuery}, {"response", e.Response, MaxResponse}, {"comment", e.Comment, MaxComment},
		{"session_id", e.Session, MaxSession}, {"metadata", string(e.Extra), MaxExtra},
	} {
		if len(f.value) > f.most {
			return kb.Errorf(kb.TooLarge, "%s has %d bytes, more than the %d that are kept", f.name, len(f.value), f.most).WithHint("send less of it")
		}
		if !utf8.ValidString(f.value) {
			return kb.Errorf(kb.Invalid, "%s is not valid UTF-8", f.name).WithHint("send it as UTF-8 text")
		}
	}
	if c := e.Confidence; c != nil && !(*c >= 0 && *c <= 1) {
		return kb.Errorf(kb.Invalid, "confidence must lie between 0 and 1, not %g", *c).WithHint("leave it out when it is not known")
	}
	return nil
}

// Add keeps an entry and returns its number.
func (s *Store) Add(ctx context.Context, e Entry) (id int64, err error) {
	if err := e.Check(); err != nil {
		return 0, err
	}
	sources, err := json.Marshal(append([]Source{}, e.Sources...))
	if err != nil {
		return 0, err
	}
	if len(e.Extra) == 0 {
		e.Extra = json.RawMessage("{}")
	}
	rating := 1
	if e.Rating == Negative {
		rating = -1
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		if e.Pending {
			if err := room(ctx, tx, e.size()); err != nil {
				return err
			}
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO feedback (created, query, response, rating, confidence, session, comment, extra, sources, pending)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, time.Now().UnixMicro(), e.Query, e.Response, rating, e.Confidence, e.Session, e.Comment, string(e.Extra), string(sources), e.Pending)
		if err != nil {
			return err
		}
		if id, err = res.LastInsertId(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM feedback WHERE pending = 0 AND id <= (SELECT max(id) FROM feedback) - ?", MostEntries)
		return err
	})
	return id, err
}

// room refuses what the owner could not look through any more.
func room(ctx context.Context, tx *sql.Tx, n int) error {
	var count, bytes int
	err := tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(length(CAST(query AS BLOB)) + length(CAST(response AS BLOB)) + length(session)
		+ length(CAST(comment AS BLOB)) + length(CAST(extra AS BLOB))), 0) FROM feedback WHERE pending = 1`).Scan(&count, &bytes)
	if err == nil && (count >= MostPending || bytes+n > pendingBytes) {
		err = kb.Errorf(kb.Busy, "%d ratings wait for the owner of this server, and no more are taken", count).WithHint("send it when they were reviewed")
	}
	return err
}

// Filter chooses entries; its zero value chooses the newest 50.
type Filter struct {
	Rating        string
	Reviewed      *bool
	Pending       *bool
	LowConfidence bool
	Limit         int
}

// List returns entries, newest first.
func (s *Store) List(ctx context.Context, f Filter) (list []Entry, err error) {
	if f.Limit == 0 {
		f.Limit = 50
	}
	if f.Limit < 0 || f.Limit > MostListed {
		return nil, kb.Errorf(kb.Invalid, "limit must lie between 1 and %d, not %d", MostListed, f.Limit).WithHint("leave it out for 50")
	}
	where, args := []string{"1"}, []any{}
	switch f.Rating {
	case "":
	case Positive, Negative:
		where, args = append(where, "rating = ?"), append(args, map[string]int{Positive: 1, Negative: -1}[f.Rating])
	default:
		return nil, kb.Errorf(kb.Invalid, "%q is no rating", kb.Clip(f.Rating, 40)).WithHint("say positive or negative, or leave it out")
	}
	if f.Reviewed != nil {
		where, args = append(where, "reviewed = ?"), append(args, *f.Reviewed)
	}
	if f.Pending != nil {
		where, args = append(where, "pending = ?"), append(args, *f.Pending)
	}
	if f.LowConfidence {
		where, args = append(where, "confidence < ?"), append(args, lowConfidence)
	}
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		list, err = read(ctx, tx, "WHERE "+strings.Join(where, " AND ")+" ORDER BY id DESC LIMIT ?", append(args, f.Limit)...)
		return err
	})
	return list, err
}

func read(ctx context.Context, tx *sql.Tx, rest string, args ...any) ([]Entry, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, created, query, response, rating, confidence, session, comment, extra, sources, reviewed, action, pending
		FROM feedback `+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := []Entry{}
	for rows.Next() {
		var e Entry
		var created int64
		var rating int
		var extra, sources string
		if err := rows.Scan(&e.ID, &created, &e.Query, &e.Response, &rating, &e.Confidence, &e.Session, &e.Comment, &extra, &sources, &e.Reviewed, &e.Action, &e.Pending); err != nil {
			return nil, err
		}
		e.Created, e.Rating = time.UnixMicro(created).UTC(), Positive
		if rating < 0 {
			e.Rating = Negative
		}
		if extra != "" && extra != "{}" {
			e.Extra = json.RawMessage(extra)
		}
		_ = json.Unmarshal([]byte(sources), &e.Sources) // ours; a damaged one cites nothing
		list = append(list, e)
	}
	return list, rows.Err()
}

// dismissing are actions after which an entry is not held against a source.
var dismissing = kb.WordsOf("dismiss dismissed ignore ignored invalid spam rejected")

// Review notes that an entry was looked at, and what was done. One that
// was pending counts from then on; after "dismissed" none does.
func (s *Store) Review(ctx context.Context, id int64, action string) (e Entry, err error) {
	if len(action) > MaxAction || !utf8.ValidString(action) {
		return e, kb.Errorf(kb.TooLarge, "the action has more than %d bytes", MaxAction).WithHint("say it in a few words")
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE feedback SET reviewed = 1, pending = 0, action = ? WHERE id = ?", action, id); err != nil {
			return err
		}
		list, err := read(ctx, tx, "WHERE id = ?", id)
		if err == nil && len(list) == 0 {
			err = kb.Errorf(kb.NotFound, "there is no feedback %d", id).WithHint("list it with: feedback:list")
		}
		if err == nil {
			e = list[0]
		}
		return err
	})
	return e, err
}
