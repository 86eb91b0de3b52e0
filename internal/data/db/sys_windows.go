package db

// sizeLimit would tell beyond which size a file may not grow; Windows has no
// such limit.
func sizeLimit() (limit int64, limited bool) { return 0, false }
