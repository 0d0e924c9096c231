// Package remote is a bucket of an S3 server, or a folder of a web server, as a source.Tree.
//
// A Server knows the protocol: how names are listed, how bytes are asked for, what a refusal says.
// What all have in common stands around it: requests with limits and retries (client.go), listings
// that are good for a while (listing.go), and blocks of objects (blocks.go). The contract is
// docs/tree/remote.md.
package remote
