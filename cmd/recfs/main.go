// Command recfs mounts an archive of game recordings as a read-only tree of
// plain files.
package main

func main() {}
