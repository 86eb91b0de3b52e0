package main

import "os"

// Windows has no signal that asks a process to end.
const interruptible = false

var interrupt os.Signal = os.Kill
