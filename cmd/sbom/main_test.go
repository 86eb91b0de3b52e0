package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// The test program itself is built by Go.
func TestBill(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := bill(exe)
	if err != nil {
		t.Fatal(err)
	}
	again, err := bill(exe)
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("a second bill differs: %v", err)
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	if d.Format != "CycloneDX" || len(d.Components) == 0 || d.Components[0].Name != "std" || len(d.Metadata.Component.Hashes) != 1 {
		t.Errorf("%+v", d)
	}
	if _, err := bill("main.go"); err == nil {
		t.Error("a text has a bill")
	}
}
