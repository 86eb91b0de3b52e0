package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// question is what -print prints of an item.
type question struct {
	ID     string  `json:"id"`
	Set    string  `json:"set"`
	Kind   string  `json:"kind,omitempty"`
	Repo   string  `json:"repo"`
	From   string  `json:"from,omitempty"` // whose project asks
	Dir    string  `json:"dir,omitempty"`  // the tree that is asked about
	Git    string  `json:"git,omitempty"`  // or the repository and the commit of it
	Commit string  `json:"commit,omitempty"`
	Text   string  `json:"question"`
	Gold   []place `json:"gold"`
}

// put prints what would be asked.
func (b *bench) put(it *item, q question) {
	if !b.o.json {
		fmt.Printf("=== %s %s %q %v\n%s\n", it.ID, it.Repo, q.From, q.Gold, q.Text)
		return
	}
	q.ID, q.Set, q.Kind, q.Repo = it.ID, it.set, it.Kind, it.Repo
	_ = json.NewEncoder(os.Stdout).Encode(q) // of strings and numbers
}
