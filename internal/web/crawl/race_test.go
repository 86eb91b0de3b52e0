//go:build race

package crawl_test

const raceless = false
