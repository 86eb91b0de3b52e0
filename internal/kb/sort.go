package kb

import "sort"

// SortFunc is slices.SortFunc by one code for elements of all types. That of
// package slices is compiled for each type, which takes 20 KB of the program
// apiece; it is for lists that are long, or sorted often.
func SortFunc[S ~[]E, E any](x S, cmp func(a, b E) int) { sort.Sort(sortable(x, cmp)) }

// SortStableFunc is slices.SortStableFunc likewise.
func SortStableFunc[S ~[]E, E any](x S, cmp func(a, b E) int) { sort.Stable(sortable(x, cmp)) }

func sortable[S ~[]E, E any](x S, cmp func(a, b E) int) sort.Interface {
	return list{
		n:    len(x),
		less: func(i, j int) bool { return cmp(x[i], x[j]) < 0 },
		swap: func(i, j int) { x[i], x[j] = x[j], x[i] },
	}
}

type list struct {
	n    int
	less func(i, j int) bool
	swap func(i, j int)
}

func (l list) Len() int           { return l.n }
func (l list) Less(i, j int) bool { return l.less(i, j) }
func (l list) Swap(i, j int)      { l.swap(i, j) }
