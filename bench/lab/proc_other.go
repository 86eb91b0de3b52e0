//go:build !linux

package lab

import (
	"os"
	"time"
)

func usageOf(p *os.ProcessState) sample {
	return sample{user: p.UserTime(), sys: p.SystemTime()}
}

func sampleAll(string, map[int]sample) (n int, now int64) { return 0, 0 }

// OwnRSS returns 0: only Linux tells it here.
func OwnRSS() int64 { return 0 }

// Processor returns 0: the system does not tell.
func (c *Client) Processor() time.Duration { return 0 }

// Anonymous returns 0: the system does not tell.
func (c *Client) Anonymous() int64 { return 0 }

// CPU returns the processor time that this process has taken so far, 0 for unknown.
func CPU() time.Duration { return 0 }
