// Package views makes the files and directories that the trees of all recordings have in common
// (docs/tree/README.md section 2) from what a format declares.
//
// A format declares a [Game]: its documents, its texts and its tables. The package lays them out,
// learns their sizes, remembers them within the budget, and tells the index from what is made of
// it:
//
//	| declared      | shown                                   | sizes                                    |
//	|---------------|-----------------------------------------|------------------------------------------|
//	| [Documents]   | ticks/, states/: one JSON file a number | learned a stretch at a time by making it |
//	| [Text]        | a long file, made part by part          | declared, or learned by making each part |
//	| [Tree.TextOf] | one of many texts, as of demos          | those that were made are kept on disk    |
//	| [List]        | a JSON document with one long list      | as those of a text                       |
//	| [Chunks]      | chunks/, lines/: one file a chunk       | those of the files                       |
//	| [Table]       | tables/NAME.parquet                     | computed of counts                       |
//
// What is costly to make of a recording is kept on disk by a [Kept].
//
// There is one way to make each byte. A size is the length of what the same function makes.
package views
