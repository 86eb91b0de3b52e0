package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

const spawnsPerRound = 12

// measureSpawn takes spawn → first tools/list reply in both eras of the
// protocol, between spawns of a program that does nothing.
func (b *bench) measureSpawn() error {
	data := filepath.Join(b.scratch, "spawn")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	eras := []string{lab.Handshake, lab.Stateless}
	times := map[string][]time.Duration{}
	for i := range b.rounds * spawnsPerRound {
		if i%spawnsPerRound == 0 {
			b.round()
		}
		d, err := b.spawnEmpty()
		if err != nil {
			return err
		}
		b.spawn = append(b.spawn, d)
		for _, era := range eras {
			c, err := lab.Dial(data, lab.Env(data), b.bin, era)
			if err != nil {
				return err
			}
			if _, err := c.Ask("tools/list", map[string]any{}); err != nil {
				return err
			}
			times[era] = append(times[era], time.Since(c.Began))
			if err := c.Close(); err != nil {
				return err
			}
		}
	}
	e := lab.Median(b.spawn)
	b.details.Printf("## Start\n\nThe client greets first, waits for the reply, and then asks for the tools. %d spawns of each, in turns.\n\n", len(b.spawn))
	rows := [][]string{{"what", "p50", "p95", "least"}}
	add := func(name string, ts []time.Duration) {
		rows = append(rows, []string{name, lab.Ms(lab.Median(ts)), lab.Ms(lab.Quantile(ts, 0.95)), lab.Ms(lab.Quantile(ts, 0))})
	}
	add("empty Go program: spawn → exit", b.spawn)
	for _, era := range eras {
		m := lab.Median(times[era])
		b.figure("spawn → first tools/list, p50, protocol "+era, lab.Ms(m), "≤ 15 ms", m <= 15*time.Millisecond,
			"empty Go program "+lab.Ms(e), lab.Ratio(m, e))
		add("knowledge mcp, "+era+": spawn → tools/list reply", times[era])
	}
	b.details.Table(rows...)
	return nil
}

func (b *bench) spawnEmpty() (time.Duration, error) {
	cmd := exec.Command(b.empty)
	start := time.Now()
	err := cmd.Run()
	return time.Since(start), err
}

// measureTools counts what the tools cost an agent before it does anything.
func (b *bench) measureTools() error {
	data := filepath.Join(b.scratch, "spawn")
	c, err := lab.Dial(data, lab.Env(data), b.bin, lab.Handshake)
	if err != nil {
		return err
	}
	raw, err := c.Ask("tools/list", map[string]any{})
	if err != nil {
		return err
	}
	if err := c.Close(); err != nil {
		return err
	}
	var list struct {
		Tools []struct { // what a model is shown of a tool
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	flat, err := json.Marshal(list.Tools)
	if err != nil {
		return err
	}
	text := string(flat)
	estimate := tokens.Estimate(text)
	counts, why := b.count([]string{text})
	if counts == nil {
		b.figure("tokens of the tools array", fmt.Sprintf("%d (estimate; npm skipped: %s)", estimate, why), "≤ 300", estimate <= 300, fmt.Sprintf("%d bytes", len(text)), "–")
		return nil
	}
	b.figure("tokens of the tools array, by "+b.tok.Name(), fmt.Sprint(counts[0]), "≤ 300", counts[0] <= 300,
		fmt.Sprintf("our estimator %d", estimate), lab.Ratio(counts[0], estimate))
	return nil
}

// count returns the counts of the npm tokenizer, or why there are none.
func (b *bench) count(texts []string) ([]int, string) {
	if b.tok == nil {
		return nil, b.noTok
	}
	counts, err := b.tok.Count(texts)
	if err != nil {
		return nil, err.Error()
	}
	return counts, ""
}

func (b *bench) measureBinary() error {
	info, err := os.Stat(b.bin)
	if err != nil {
		return err
	}
	empty, err := os.Stat(b.empty)
	if err != nil {
		return err
	}
	b.figure("binary, CGO_ENABLED=0 -trimpath -s -w", lab.MB(info.Size()), "≤ 45 MB", info.Size() <= 45_000_000,
		"empty Go program "+lab.MB(empty.Size()), lab.Ratio(info.Size(), empty.Size()))
	return nil
}
