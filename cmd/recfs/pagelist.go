package main

// A pageList is what the page of recfs serve lists.
type pageList struct{}
