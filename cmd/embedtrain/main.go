// Command embedtrain makes the static model of package embed from folders of
// checked-out repositories.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "embedtrain:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	fl := flag.NewFlagSet("embedtrain", flag.ContinueOnError)
	o := options{}
	repos := fl.String("repos", "", "folder of checked-out repositories to learn from")
	tasks := fl.String("tasks", "", "judged queries to measure with")
	dir := fl.String("eval", "", "folder of the repositories of the judged queries")
	cache := fl.String("pairs", "", "file that keeps the mined pairs for the next run")
	given := fl.String("model", "", "model file to measure; nothing is trained")
	out := fl.String("o", "", "model file to write")
	fl.IntVar(&o.Dims, "dims", 192, "dimensions, a multiple of 16")
	fl.IntVar(&o.Words, "words", 32000, "words with a row of their own, at most")
	fl.IntVar(&o.Buckets, "buckets", 8192, "buckets of trigrams")
	fl.IntVar(&o.Least, "least", 4, "texts that a word with a row stands in, at least")
	fl.IntVar(&o.Batch, "batch", 512, "pairs in a batch, a multiple of 16")
	fl.IntVar(&o.Epochs, "epochs", 5, "")
	fl.IntVar(&o.Hard, "hard", 4, "pairs of one directory side by side in a batch")
	fl.Float64Var(&o.Rate, "rate", 0.1, "learning rate at the start; it falls linearly")
	fl.Float64Var(&o.Temperature, "temperature", 0.05, "")
	fl.Uint64Var(&o.Seed, "seed", 1, "")
	fl.IntVar(&o.Workers, "workers", runtime.GOMAXPROCS(0), "")
	part := fl.Float64("part", 1, "share of the pairs to train on, for experiments")
	spanish := fl.Float64("spanish", 0.15, "share of the pairs to add in Spanish")
	shares := fl.String("shares", "", "shares of kinds per epoch, such as name=0.5,commit=0")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if *given != "" {
		return only(ctx, *given, *tasks, *dir)
	}
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%6.1fs "+format+"\n", append([]any{time.Since(began).Seconds()}, args...)...)
	}
	c, err := readCorpus(*cache)
	if err != nil {
		ms, err := mine(ctx, *repos, o.Workers, say)
		if err != nil {
			return err
		}
		c = gather(ms)
		if err := writeCorpus(*cache, c); err != nil {
			return err
		}
	}
	if err := addSpanish(c, *spanish, o.Seed); err != nil {
		return err
	}
	var per [kinds]int
	for _, p := range c.pairs {
		per[p.kind]++
	}
	say("%d pairs of %d repositories, %d words %v", len(c.pairs), len(c.sources), len(c.words), per)
	if err := setShares(&o, *shares, *part); err != nil {
		return err
	}
	var bench *benchmark
	if *tasks != "" {
		if bench, err = readBenchmark(*tasks, *dir); err != nil {
			return err
		}
		say("%d tasks", len(bench.tasks))
	}
	t := newTrainer(c, o)
	measure := func(epoch int) {
		if bench == nil {
			return
		}
		b, err := t.model("code", 1).Encode()
		if err != nil {
			panic(err)
		}
		s, err := embed.Load(b)
		if err != nil {
			panic(err)
		}
		fs, err := bench.score(ctx, s)
		if err != nil {
			panic(err)
		}
		for i, f := range fs {
			say("%s: %v", rankings[i].name, f)
		}
	}
	if err := t.train(ctx, say, measure); err != nil {
		return err
	}
	b, err := t.model("code", 1).Encode()
	if err != nil {
		return err
	}
	say("model of %d bytes, %d words", len(b), len(t.words))
	if *out == "" {
		return nil
	}
	return os.WriteFile(*out, b, 0o644)
}

// only measures a model that is there.
func only(ctx context.Context, model, tasks, dir string) error {
	e, err := embed.New(embed.Config{Model: model})
	if err != nil {
		return err
	}
	b, err := readBenchmark(tasks, dir)
	if err != nil {
		return err
	}
	fs, err := b.score(ctx, e)
	if err != nil {
		return err
	}
	for i, f := range fs {
		fmt.Printf("%s, %s: %v\n", e.ID(), rankings[i].name, f)
	}
	return nil
}
