package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// lan is a network of three namespaces on this machine. Each node has an address for
// clients and one for the other nodes, on two bridges, so that a node can be cut off from the
// others alone: what it sends is lost, and nothing says so.
type lan struct{}

const (
	clientNet = "10.213.78"
	nodeNet   = "10.213.77"
)

// newLan makes the network, which takes the right to.
func newLan() (*lan, error) {
	l := &lan{}
	l.close() // what a run left that was killed
	run := []string{
		"link add kbclients type bridge", "addr add " + clientNet + ".254/24 dev kbclients", "link set kbclients up",
		"link add kbnodes type bridge", "link set kbnodes up",
	}
	for i := range 3 {
		ns := namespace(i)
		run = append(run, "netns add "+ns, "-n "+ns+" link set lo up")
		for _, side := range [][3]string{{"c", "kbclients", clientNet}, {"n", "kbnodes", nodeNet}} {
			out, in := fmt.Sprintf("kb%s%d", side[0], i), side[0]+"0"
			run = append(run, fmt.Sprintf("link add %s type veth peer name %s netns %s", out, in, ns), "link set "+out+" master "+side[1], "link set "+out+" up",
				fmt.Sprintf("-n %s addr add %s.%d/24 dev %s", ns, side[2], 11+i, in), fmt.Sprintf("-n %s link set %s up", ns, in))
		}
	}
	for _, line := range run {
		if err := ip(line); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

func namespace(i int) string { return fmt.Sprintf("kbnode%d", i) }

func ip(line string) error {
	said, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", line, err, said)
	}
	return nil
}

// cut takes a node off the net of the nodes, with clients off theirs too, or puts it
// back.
func (l *lan) cut(i int, clients, off bool) error {
	do := func(port, bridge string) error {
		if off {
			return ip("link set " + port + " nomaster")
		}
		return ip("link set " + port + " master " + bridge)
	}
	err := do(fmt.Sprintf("kbn%d", i), "kbnodes")
	if clients {
		err = errors.Join(err, do(fmt.Sprintf("kbc%d", i), "kbclients"))
	}
	return err
}

func (l *lan) close() {
	for i := range 3 {
		_ = ip("netns del " + namespace(i)) // not there: nothing to do
		_ = ip(fmt.Sprintf("link del kbn%d", i))
		_ = ip(fmt.Sprintf("link del kbc%d", i))
	}
	_ = ip("link del kbclients")
	_ = ip("link del kbnodes")
}
