//go:build !unix

package cache

// alive cannot be known; the age of the file decides.
func alive(int) bool { return true }
