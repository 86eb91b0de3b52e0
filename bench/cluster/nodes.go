package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// nodes are three processes of one cluster on loopback.
type nodes struct {
	binary, dir string
	base        int
	running     [3]*exec.Cmd
}

// start starts a cluster and waits until it is ready.
func start(binary, dir string) (*nodes, error) {
	n := &nodes{binary: binary, dir: dir, base: 21000}
	for i := range 3 {
		if err := n.begin(i); err != nil {
			n.stop()
			return nil, err
		}
		if i == 0 { // who joins and finds no peer ends
			if err := within(30*time.Second, func() bool { return open(n.port(0, "gossip")) }); err != nil {
				n.stop()
				return nil, err
			}
		}
	}
	return n, n.ready(0, 1, 2)
}

func open(port int) bool {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		c.Close()
	}
	return err == nil
}

func within(d time.Duration, ok func() bool) error {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if ok() {
			return nil
		}
	}
	return errors.New("a node is not ready in time")
}

func (n *nodes) port(i int, what string) int {
	return n.base + 10*i + map[string]int{"http": 0, "gossip": 1, "data": 2, "raft": 3, "rpc": 4, "grpc": 5}[what]
}

func (n *nodes) address(i int) string { return fmt.Sprintf("http://127.0.0.1:%d", n.port(i, "http")) }

func (n *nodes) addresses() string {
	return strings.Join([]string{n.address(0), n.address(1), n.address(2)}, ",")
}

func (n *nodes) begin(i int) error {
	var join []string
	for k := range 3 {
		join = append(join, fmt.Sprintf("node%d:%d", k, n.port(k, "raft")))
	}
	data := filepath.Join(n.dir, fmt.Sprint(i))
	if err := os.MkdirAll(data, 0o755); err != nil {
		return err
	}
	cmd := exec.Command(n.binary, "--host", "127.0.0.1", "--port", strconv.Itoa(n.port(i, "http")), "--scheme", "http")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + n.dir, "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true", "PERSISTENCE_DATA_PATH=" + data,
		"DEFAULT_VECTORIZER_MODULE=none", "ENABLE_MODULES=", "DISABLE_TELEMETRY=true", "GO_PROFILING_DISABLE=true", "LOG_LEVEL=error",
		fmt.Sprintf("CLUSTER_HOSTNAME=node%d", i), "CLUSTER_IN_LOCALHOST=true", "CLUSTER_ADVERTISE_ADDR=127.0.0.1", "CLUSTER_BIND_ADDR=127.0.0.1",
		fmt.Sprintf("CLUSTER_GOSSIP_BIND_PORT=%d", n.port(i, "gossip")), fmt.Sprintf("CLUSTER_ADVERTISE_PORT=%d", n.port(i, "gossip")),
		fmt.Sprintf("CLUSTER_DATA_BIND_PORT=%d", n.port(i, "data")), fmt.Sprintf("RAFT_PORT=%d", n.port(i, "raft")),
		fmt.Sprintf("RAFT_INTERNAL_RPC_PORT=%d", n.port(i, "rpc")), "RAFT_JOIN=" + strings.Join(join, ","), "RAFT_BOOTSTRAP_EXPECT=3",
		fmt.Sprintf("GRPC_PORT=%d", n.port(i, "grpc")), "GOMEMLIMIT=2GiB"}
	if i > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("CLUSTER_JOIN=127.0.0.1:%d", n.port(0, "gossip")))
	}
	n.running[i] = cmd
	return cmd.Start()
}

func (n *nodes) ready(which ...int) error {
	return within(2*time.Minute, func() bool {
		for _, i := range which {
			resp, err := http.Get(n.address(i) + "/v1/.well-known/ready")
			if err != nil {
				return false
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				return false
			}
		}
		return true
	})
}

func (n *nodes) kill(i int) error {
	if err := n.running[i].Process.Kill(); err != nil {
		return err
	}
	_ = n.running[i].Wait() // it was killed
	return nil
}

func (n *nodes) restart(i int) error {
	if err := n.begin(i); err != nil {
		return err
	}
	return n.ready(i)
}

// hang stops a node as a partition does: connections are taken, nothing answers.
func (n *nodes) hang(i int, stop bool) error {
	signal := syscall.SIGCONT
	if stop {
		signal = syscall.SIGSTOP
	}
	return n.running[i].Process.Signal(signal)
}

func (n *nodes) stop() {
	for _, c := range n.running {
		if c != nil && c.Process != nil && c.ProcessState == nil {
			_ = c.Process.Kill() // it ends here
			_ = c.Wait()
		}
	}
}

// use returns the memory and disk of each node in MiB.
func (n *nodes) use() (memory, disk []int64) {
	for i, c := range n.running {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid)) // elsewhere there is none
		for _, line := range strings.Split(string(raw), "\n") {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "VmRSS:" {
				kib, _ := strconv.ParseInt(f[1], 10, 64)
				memory = append(memory, kib>>10)
			}
		}
		var sum int64
		_ = filepath.WalkDir(filepath.Join(n.dir, fmt.Sprint(i)), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				if info, err := d.Info(); err == nil {
					sum += info.Size()
				}
			}
			return nil
		})
		disk = append(disk, sum>>20)
	}
	return memory, disk
}
