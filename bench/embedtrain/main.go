// Command embedtrain makes the static model of package embed.
//
//	embedtrain -repos DIR [-docs DIR] [-o MODEL] [-card FILE] [-tasks FILE -eval DIR]
//	embedtrain -model MODEL -tasks FILE -eval DIR
//
// It mines pairs of a short and a long text from every folder in DIR, a
// checked-out repository with its history if it has one (mine.go and prose.go have
// what is paired; of those in -docs only documentation is), adds descriptions
// of concepts (concepts.go) and some of the pairs once more in other words
// (synonyms.go) and in Spanish (spanish.go), trains on all
// cores (train.go) and writes the model and its card. With -tasks it measures
// the vectors alone on judged queries, in the format of "knowledge eval",
// whose repositories lie in DIR (eval.go); the second form does nothing else.
//
// The same pairs, options and build give the same bytes, however many workers
// there are. History is read with the installed git. Built with
// GOEXPERIMENT=simd GOAMD64=v3, training takes a third of the time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
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
	docs := fl.String("docs", "", "folder of checked-out repositories whose documentation alone is read")
	tasks := fl.String("tasks", "", "judged queries to measure with")
	dir := fl.String("eval", "", "folder of the repositories of the judged queries")
	cache := fl.String("pairs", "", "file that keeps what was mined from -repos for the next run")
	given := fl.String("model", "", "model file to measure; nothing is trained")
	out := fl.String("o", "", "model file to write")
	card := fl.String("card", "", "model card to write")
	version := fl.Int("version", 3, "version of the model")
	fl.IntVar(&o.Dims, "dims", 192, "dimensions, a multiple of 16")
	fl.IntVar(&o.Words, "words", 32000, "words with a row of their own, at most")
	fl.IntVar(&o.Buckets, "buckets", 8192, "buckets of trigrams")
	fl.IntVar(&o.Least, "least", 4, "texts that a word with a row stands in, at least")
	fl.IntVar(&o.Batch, "batch", 512, "pairs in a batch, a multiple of 16")
	fl.IntVar(&o.Epochs, "epochs", 2, "how often every pair is seen")
	fl.IntVar(&o.Near, "near", 32, "pairs of one repository side by side in a batch")
	fl.Float64Var(&o.Rate, "rate", 0.08, "learning rate at the start; it falls linearly")
	fl.Float64Var(&o.Temperature, "temperature", 0.07, "what cosines are divided by")
	fl.Uint64Var(&o.Seed, "seed", 1, "seed of all that is random")
	fl.IntVar(&o.Workers, "workers", runtime.GOMAXPROCS(0), "cores to use")
	part := fl.Float64("part", 1, "share of the pairs to train on, for experiments")
	spanish := fl.Float64("spanish", 0.12, "share of the pairs to add in Spanish")
	other := fl.Float64("synonyms", 0.15, "share of the pairs to add in other words")
	shares := fl.String("shares", "name=0.5,string=0.4,path=0.5,file=0.8", "shares of kinds per epoch, such as name=0.5,commit=0")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if o.Dims%16 != 0 || o.Batch%16 != 0 || o.Dims < 16 || o.Batch < 16 || o.Workers < 1 || o.Temperature < 0.03 {
		return errors.New("dims and batch are multiples of 16, workers at least 1, temperature at least 0.03")
	}
	if err := setShares(&o, *shares, *part); err != nil {
		return err
	}
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%6.1fs "+format+"\n", append([]any{time.Since(began).Seconds()}, args...)...)
	}
	var bench *benchmark
	if *tasks != "" {
		var err error
		if bench, err = readBenchmark(*tasks, *dir); err != nil {
			return err
		}
		say("%d judged queries on %d repositories", len(bench.tasks), len(bench.repos))
	}
	if *given != "" {
		e, err := embed.New(embed.Config{Model: *given})
		if err == nil {
			_, err = measure(ctx, e, bench, say)
		}
		return err
	}
	c, err := learnFrom(ctx, *repos, *docs, *cache, o.Workers, say)
	if err != nil {
		return err
	}
	addConcepts(c, conceptsText, o.Seed)
	addSynonyms(c, *other, o.Seed)
	addSpanish(c, *spanish, o.Seed)
	t := newTrainer(c, o)
	if err := t.train(ctx, say, nil); err != nil {
		return err
	}
	b, err := t.model("code", *version).Encode()
	if err != nil {
		return err
	}
	say("a model of %d bytes, %d words", len(b), len(t.words))
	e, err := embed.Load(b)
	if err != nil {
		return err
	}
	fs, err := measure(ctx, e, bench, say)
	if err != nil {
		return err
	}
	if *out != "" {
		if err := os.WriteFile(*out, b, 0o644); err != nil {
			return err
		}
	}
	if *card != "" {
		text := writeCard(t, e, len(b), fs, *repos, *docs, *shares, *other, *spanish)
		return os.WriteFile(*card, []byte(text), 0o644)
	}
	return nil
}

// learnFrom reads the pairs of repos that an earlier run kept, or mines them,
// and adds those of docs.
func learnFrom(ctx context.Context, repos, docs, cache string, workers int, say func(string, ...any)) (*corpus, error) {
	c, err := readCorpus(cache)
	if err != nil {
		if repos == "" {
			return nil, errors.New("name a folder of repositories with -repos")
		}
		ms, err := mine(ctx, repos, false, workers, say)
		if err != nil {
			return nil, err
		}
		c = gather(ms)
		if err := writeCorpus(cache, c); err != nil {
			return nil, err
		}
	}
	if docs != "" {
		ms, err := mine(ctx, docs, true, workers, say)
		if err != nil {
			return nil, err
		}
		c.add(ms)
	}
	return c, nil
}

// measure says how good vectors alone are, in each ranking.
func measure(ctx context.Context, e kb.Embedder, b *benchmark, say func(string, ...any)) ([]figures, error) {
	if b == nil {
		return nil, nil
	}
	fs, err := b.score(ctx, e)
	for i, f := range fs {
		say("%s, %s: %v", e.ID(), rankings[i].name, f)
	}
	return fs, err
}

func defaultModel() kb.Embedder { return embed.Default() }
