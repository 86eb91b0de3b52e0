package db

// sizeLimit returns the largest size of a file; Windows has no such limit.
func sizeLimit() (limit int64, limited bool) { return 0, false }
