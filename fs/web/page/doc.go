// Package page is the page of recfs serve (docs/tree/page.md): the list of all recordings, the
// viewer of one, their scripts, and the data that these ask for. What a recording shows comes as
// values of package play; here it becomes JSON. Who gets in, and in what order, is of fs/web.
package page
