// Package milk recognises .milk files by name. Under that extension there are at least three
// incompatible kinds of Echo VR recordings, none of which is described completely, so it only says
// what they are.
package milk
