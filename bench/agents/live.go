package main

import "flag"

type live struct{}

func (l *live) flags(f *flag.FlagSet) {}
func (o *options) run() error         { return nil }
func (o *options) sheet() error       { return nil }
func (o *options) report() error      { return nil }
