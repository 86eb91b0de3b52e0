package reach

// spreadRounds is how often mass moves on.
const (
	spreadRounds = 8
	onward       = 0.9
)

// spread gives each node the mass that comes to it when one unit starts at what
// changes and each node hands it on to those that use it, by the weights of the
// steps: little for one user among many.
func (web *Web) spread() {
	at := map[*Node]float64{}
	starts := 0.0
	for _, n := range web.Nodes {
		if n.Of == nil {
			starts++
		}
	}
	for _, n := range web.Nodes {
		if n.Of == nil {
			at[n] = 1 / starts
		}
	}
	for range spreadRounds {
		next := map[*Node]float64{}
		for _, n := range web.Nodes { // in order, so that sums are the same each time
			mass := at[n]
			if mass == 0 {
				continue
			}
			n.Mass += mass
			all := 0.0
			for _, a := range n.users {
				all += a.weight
			}
			for _, a := range n.users {
				next[a.to] += onward * mass * a.weight / all
			}
		}
		at = next
	}
}
