package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// writeCorpus keeps a corpus in a file as varints and strings.
func writeCorpus(file string, c *corpus) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var buf [binary.MaxVarintLen64]byte
	num := func(n int) { w.Write(buf[:binary.PutUvarint(buf[:], uint64(n))]) }
	str := func(s string) { num(len(s)); w.WriteString(s) }
	side := func(os []occurrence) {
		num(len(os))
		last := uint32(0)
		for _, o := range os {
			num(int(o.word - last))
			num(int(o.n))
			last = o.word
		}
	}
	num(len(c.sources))
	for _, s := range c.sources {
		str(s.name)
		str(s.commit)
		for _, n := range s.pairs {
			num(n)
		}
	}
	num(len(c.words))
	for _, s := range c.words {
		str(s)
	}
	num(len(c.pairs))
	for _, p := range c.pairs {
		num(int(p.kind))
		num(int(p.repo))
		side(p.q)
		side(p.d)
	}
	return errors.Join(w.Flush(), f.Close())
}

// readCorpus reads what writeCorpus wrote.
func readCorpus(file string) (*corpus, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	num := func() int {
		n, e := binary.ReadUvarint(r)
		if e != nil && err == nil {
			err = e
		}
		return int(n)
	}
	str := func() string {
		b := make([]byte, min(num(), 1<<16))
		if _, e := io.ReadFull(r, b); e != nil && err == nil {
			err = e
		}
		return string(b)
	}
	side := func() []occurrence {
		os := make([]occurrence, min(num(), 1<<16))
		last := uint32(0)
		for i := range os {
			last += uint32(num())
			os[i] = occurrence{last, uint32(num())}
		}
		return os
	}
	c := &corpus{}
	for range num() {
		s := source{name: str(), commit: str()}
		for k := range s.pairs {
			s.pairs[k] = num()
		}
		c.sources = append(c.sources, s)
	}
	for range num() {
		c.words = append(c.words, str())
	}
	for range num() {
		if err != nil {
			break
		}
		c.pairs = append(c.pairs, example{uint8(num()), uint16(num()), side(), side()})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// setShares reads "name=0.5,commit=0" into o.Share, times part.
func setShares(o *options, s string, part float64) error {
	for k := range o.Share {
		o.Share[k] = part
	}
	if s == "" {
		return nil
	}
	for f := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(f, "=")
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("share %q: %w", f, err)
		}
		found := false
		for k, n := range kindNames {
			if n == name {
				o.Share[k], found = max(1e-9, x*part), true
			}
		}
		if !found {
			return fmt.Errorf("no kind of pairs named %q", name)
		}
	}
	return nil
}
