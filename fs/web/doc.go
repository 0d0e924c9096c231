// Package web serves a tree of nodes over HTTP (docs/tree/serve.md): as files and folders, by the
// dialect of S3 that engines read, and by WebDAV.
//
// A request passes through an endpoint, which lets it in, lets it wait for its turn and writes what
// came of it to the access log. The context of the request goes down to every read, which is a part
// of a request of the cache, see [cache.Cache.Do].
package web
