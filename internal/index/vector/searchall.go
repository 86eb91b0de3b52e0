package vector

import "context"

// SearchAll searches several matrices of the same number of dimensions as if they
// were one, with a query for each that differs in Live and Less alone. The matches
// of each are in the order of Engine.Search, and only those that may be among the
// K best of all.
func SearchAll(ctx context.Context, engines []Engine, queries []Query) ([][]Match, error) {
	var flats []*flat
	for _, e := range engines {
		if f, ok := e.(*flat); ok {
			flats = append(flats, f)
		}
	}
	if len(flats) == len(engines) {
		return searchFlats(ctx, flats, queries)
	}
	out := make([][]Match, len(engines))
	for i, e := range engines {
		var err error
		if out[i], err = e.Search(ctx, queries[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
