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

// nodes are three processes of one cluster, each in a network namespace of its own or,
// without lan, on loopback.
type nodes struct {
	binary, dir string
	lan         *lan
	small       int64 // MiB of the disk of the last node; 0 for that of the machine
	running     [3]*exec.Cmd
}

// start starts a cluster and waits until it is ready.
// nodeName is what the cluster calls a node.
func nodeName(i int) string { return fmt.Sprintf("node%d", i) }

func start(binary, dir string, small int64) (*nodes, error) {
	n := &nodes{binary: binary, dir: dir, small: small}
	var err error
	if n.lan, err = newLan(); err != nil {
		fmt.Println("on loopback, without a partition:", err)
	}
	if small > 0 {
		if err := os.MkdirAll(n.data(2), 0o755); err != nil {
			return nil, err
		}
		if said, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", small), "none", n.data(2)).CombinedOutput(); err != nil {
			fmt.Printf("without a full disk: %v: %s\n", err, said)
			n.small = 0
		}
	}
	for i := range 3 {
		if err := n.begin(i); err != nil {
			n.stop()
			return nil, err
		}
		if i == 0 { // who joins and finds no peer ends
			if err := within(2*time.Minute, func() bool { return open(n.at(0, "gossip")) }); err != nil {
				n.stop()
				return nil, err
			}
		}
	}
	return n, n.ready(0, 1, 2)
}

func open(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
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

var ports = map[string]int{"http": 0, "gossip": 1, "data": 2, "raft": 3, "rpc": 4, "grpc": 5}

// port returns a port of a node: those of namespaces are the same.
func (n *nodes) port(i int, what string) int {
	if n.lan != nil {
		i = 0
	}
	return 21000 + 10*i + ports[what]
}

// host returns the address of a node for clients, or for the other nodes.
func (n *nodes) host(i int, clients bool) string {
	switch {
	case n.lan == nil:
		return "127.0.0.1"
	case clients:
		return fmt.Sprintf("%s.%d", clientNet, 11+i)
	}
	return fmt.Sprintf("%s.%d", nodeNet, 11+i)
}

// at returns where a port of a node is reached from here; those that listen on all
// addresses are, on that for clients.
func (n *nodes) at(i int, what string) string {
	return fmt.Sprintf("%s:%d", n.host(i, true), n.port(i, what))
}

func (n *nodes) data(i int) string { return filepath.Join(n.dir, fmt.Sprint(i)) }

func (n *nodes) address(i int) string { return "http://" + n.at(i, "http") }

func (n *nodes) addresses() string {
	return strings.Join([]string{n.address(0), n.address(1), n.address(2)}, ",")
}

func (n *nodes) begin(i int) error {
	var join []string
	for k := range 3 {
		join = append(join, fmt.Sprintf("node%d:%d", k, n.port(k, "raft")))
	}
	if err := os.MkdirAll(n.data(i), 0o755); err != nil {
		return err
	}
	args := []string{n.binary, "--host", n.host(i, true), "--port", strconv.Itoa(n.port(i, "http")), "--scheme", "http"}
	if n.lan != nil { // ip becomes the node, so that signals reach it
		args = append([]string{"ip", "netns", "exec", namespace(i)}, args...)
	}
	bind := "0.0.0.0"
	if n.lan == nil {
		bind = "127.0.0.1"
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + n.dir, "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true", "PERSISTENCE_DATA_PATH=" + n.data(i),
		"DEFAULT_VECTORIZER_MODULE=none", "ENABLE_MODULES=", "DISABLE_TELEMETRY=true", "GO_PROFILING_DISABLE=true", "LOG_LEVEL=error",
		"CLUSTER_HOSTNAME=" + nodeName(i), fmt.Sprintf("CLUSTER_IN_LOCALHOST=%v", n.lan == nil), "CLUSTER_ADVERTISE_ADDR=" + n.host(i, false), "CLUSTER_BIND_ADDR=" + bind,
		fmt.Sprintf("CLUSTER_GOSSIP_BIND_PORT=%d", n.port(i, "gossip")), fmt.Sprintf("CLUSTER_ADVERTISE_PORT=%d", n.port(i, "gossip")),
		fmt.Sprintf("CLUSTER_DATA_BIND_PORT=%d", n.port(i, "data")), fmt.Sprintf("RAFT_PORT=%d", n.port(i, "raft")),
		fmt.Sprintf("RAFT_INTERNAL_RPC_PORT=%d", n.port(i, "rpc")), "RAFT_JOIN=" + strings.Join(join, ","), "RAFT_BOOTSTRAP_EXPECT=3",
		fmt.Sprintf("GRPC_PORT=%d", n.port(i, "grpc")), "GOMEMLIMIT=2GiB"}
	if i > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("CLUSTER_JOIN=%s:%d", n.host(0, false), n.port(0, "gossip")))
	}
	log, err := os.OpenFile(filepath.Join(n.dir, fmt.Sprintf("node%d.log", i)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the node has it
	cmd.Stdout, cmd.Stderr = log, log
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
	if n.lan != nil {
		n.lan.close()
	}
	if n.small > 0 {
		_ = exec.Command("umount", n.data(2)).Run() // it goes with the machine otherwise
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
		_ = filepath.WalkDir(n.data(i), func(_ string, d fs.DirEntry, err error) error {
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

// used is the processor time that the nodes have taken, those of before a restart left out.
func (n *nodes) used() (sum time.Duration) {
	for _, c := range n.running {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid)) // elsewhere there is none
		_, rest, _ := strings.Cut(string(raw), ") ")
		f := strings.Fields(rest)
		for _, k := range []int{11, 12} { // user, system, in hundredths of a second
			if k < len(f) {
				ticks, _ := strconv.ParseInt(f[k], 10, 64)
				sum += time.Duration(ticks) * 10 * time.Millisecond
			}
		}
	}
	return sum
}

// dead reports whether a node has ended.
func (n *nodes) dead(i int) bool {
	return n.running[i].Process.Signal(syscall.Signal(0)) != nil || !open(n.at(i, "http"))
}
