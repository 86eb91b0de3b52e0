package feedback

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// MostAsked is how many questions are kept, those asked last.
const MostAsked = 5000

// Asked is a question that was asked, with how it was answered last.
type Asked struct {
	Question    string
	First, Last time.Time
	Times       int
	Answered    bool
	Confidence  float64
	Sources     []Source
	Stores      []string // that were asked by name
	Indexes     string   // names the generations that were asked
}

// Note keeps a question that was asked.
func (s *Store) Note(ctx context.Context, a Asked) error {
	sources, err := json.Marshal(append([]Source{}, a.Sources...))
	if err != nil {
		return err
	}
	stores, err := json.Marshal(append([]string{}, a.Stores...))
	if err != nil {
		return err
	}
	now := time.Now().UnixMicro()
	return s.db.WriteSoon(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO asked (question, first, last, times, answered, confidence, sources, stores, indexes)
			VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT (question) DO UPDATE SET last = excluded.last, times = times + 1, answered = excluded.answered,
			confidence = excluded.confidence, sources = excluded.sources, stores = excluded.stores, indexes = excluded.indexes`,
			strings.Join(strings.Fields(a.Question), " "), now, now, a.Answered, a.Confidence, string(sources), string(stores), a.Indexes)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM asked WHERE question IN (SELECT question FROM asked ORDER BY last DESC, question LIMIT -1 OFFSET ?)", MostAsked)
		return err
	})
}

// Questions returns the questions that are kept, the one asked last first.
func (s *Store) Questions(ctx context.Context) (list []Asked, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT question, first, last, times, answered, confidence, sources, stores, indexes FROM asked ORDER BY last DESC, question`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var a Asked
			var first, last int64
			var sources, stores string
			if err := rows.Scan(&a.Question, &first, &last, &a.Times, &a.Answered, &a.Confidence, &sources, &stores, &a.Indexes); err != nil {
				return err
			}
			a.First, a.Last = time.UnixMicro(first).UTC(), time.UnixMicro(last).UTC()
			_ = json.Unmarshal([]byte(sources), &a.Sources) // ours; a damaged one cites nothing
			_ = json.Unmarshal([]byte(stores), &a.Stores)
			list = append(list, a)
		}
		return rows.Err()
	})
	return list, err
}

// ForgetQuestions drops what was kept of questions and returns how many there were.
func (s *Store) ForgetQuestions(ctx context.Context) (int64, error) {
	return s.db.Exec(ctx, "DELETE FROM asked")
}

// Cluster is questions that ask much the same.
type Cluster struct {
	Asked []Asked // the wording that was used most first
	Times int
}

// Clusters takes like questions together, those asked most first.
func (s *Store) Clusters(ctx context.Context, list []Asked) ([]Cluster, error) {
	list = list[:min(len(list), mostCompared)]
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].Question
	}
	if len(texts) == 0 {
		return nil, nil
	}
	vectors, err := s.emb.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	kb.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].Times, list[a].Times) })
	var out []Cluster
	var heads [][]float32
next:
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for c := range heads {
			if alike(heads[c], vectors[i]) >= similar {
				out[c].Asked, out[c].Times = append(out[c].Asked, list[i]), out[c].Times+list[i].Times
				continue next
			}
		}
		out, heads = append(out, Cluster{[]Asked{list[i]}, list[i].Times}), append(heads, vectors[i])
	}
	kb.SortStableFunc(out, func(a, b Cluster) int { return cmp.Compare(b.Times, a.Times) })
	return out, nil
}

// alike is the cosine of two vectors of unit length.
func alike(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
