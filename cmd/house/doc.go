// Package house has the tests of the structure: what each room may import, how files of a package
// refer to each other, how long they are, and that the pages and sections which comments cite
// exist.
package house
