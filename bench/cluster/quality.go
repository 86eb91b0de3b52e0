package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/index/cluster"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
	"github.com/seed-4f2d999b/knowledge/internal/search/eval"
)

// quality asks judged queries of the embedded index, and of one on the cluster that a
// machine with nothing but tables reads.
func (b *bench) quality(ctx context.Context, dir, addresses string) error {
	set, err := eval.Load(b.tasks)
	if err != nil {
		return err
	}
	here := func(r *eval.Repo) bool {
		_, err := os.Stat(filepath.Join(b.repos, r.Name))
		return err == nil
	}
	missing := 0
	for i := range set.Repos {
		if !here(&set.Repos[i]) {
			missing++
		}
	}
	there := map[string]bool{}
	for i := range set.Repos {
		there[set.Repos[i].Name] = here(&set.Repos[i])
	}
	emb, err := embed.New(embed.Config{})
	if err != nil {
		return err
	}
	o := eval.Options{Repos: b.repos, Keep: func(t *eval.Task) bool { return there[t.Repo] }}
	var rows [2][]eval.Row
	for i, name := range []string{"embedded", "cluster"} {
		e, err := eval.NewBench(ctx, filepath.Join(dir, "quality-"+name), emb, "")
		if err != nil {
			return err
		}
		if i == 1 {
			c, err := weaviate.New(addresses, "")
			if err != nil {
				return err
			}
			e.Over(func(dir string, pool *index.Pool) kb.Indexes { return cluster.New(dir, pool, c) })
		}
		began := time.Now()
		again := 0
		for { // a busy machine keeps a search waiting longer than it has; what it fetched is kept
			if rows[i], err = e.Run(ctx, &set, o); kb.CodeOf(err) != kb.Away || again == 50 {
				break
			}
			again++
		}
		if again > 0 {
			b.say("| %s: begun again, since a search took longer than it may | %d times |", name, again)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.say("| %s: indexed and asked | %.0f s |", name, time.Since(began).Seconds())
		r := e.Summarize(rows[i], 0)
		b.say("| %s: NDCG@10 of %d queries about %d repositories (%d are not here) | %.4f, macro %.4f; query p50 %.1f, p95 %.1f ms |", name, len(rows[i]), len(set.Repos)-missing, missing,
			r.NDCG, r.Macro, r.P50, r.P95)
		if err := e.Close(); err != nil {
			return err
		}
	}
	other, first := 0, 0
	for i := range rows[0] {
		if !slices.Equal(rows[0][i].Top, rows[1][i].Top) {
			other++
		}
		if len(rows[0][i].Top) > 0 && (len(rows[1][i].Top) == 0 || rows[0][i].Top[0] != rows[1][i].Top[0]) {
			first++
			b.say("| … another first hit | %q: %s, through the cluster %s |", rows[0][i].Query, rows[0][i].Top[0], strings.Join(rows[1][i].Top[:min(1, len(rows[1][i].Top))], ""))
		}
	}
	b.say("| queries whose first five hits differ, whose first hit differs | %d, %d |", other, first)
	return nil
}

// conforms runs the conformance suite of indexes against the cluster, and what tries heads and
// deletion there, which empties it.
func (b *bench) conforms(ctx context.Context) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-timeout", "20m", "-run", "TestConformance|TestHeads|TestCollect", "./internal/index/cluster")
	cmd.Env = append(os.Environ(), "KNOWLEDGE_WEAVIATE_URL="+b.addresses())
	said, err := cmd.CombinedOutput()
	passed, failed := 0, 0
	for _, line := range strings.Split(string(said), "\n") {
		line = strings.TrimSpace(line)
		suite := strings.Contains(line, "TestConformance/real,") && strings.Count(line, "/") >= 2
		if !suite && !strings.Contains(line, "TestHeads/real") && !strings.Contains(line, "TestCollect/real") {
			continue
		}
		switch {
		case strings.HasPrefix(line, "--- PASS"):
			passed++
		case strings.HasPrefix(line, "--- FAIL"):
			failed++
		}
	}
	b.say("| the conformance suite of indexes, heads, deletion | %d passed, %d failed %s |", passed, failed, errText(err))
	if err != nil {
		fmt.Println(string(said))
	}
}
