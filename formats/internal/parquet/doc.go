// Package parquet writes tables as Apache Parquet of which every size and offset is known before a
// row is made: they follow from the counts of rows, nulls and text that an index has
// (docs/tree/tables.md section 1).
//
//	PAR1 | row group, zeros … | footer | length of the footer u32 | PAR1
//
//	row group: the chunk of each column after the other, each with one page
//	footer:    schema, and of each chunk its place, size and bounds, in Thrift's compact protocol
//
// So that counts are enough, values are not compressed, texts have a dictionary only if the words
// are known beforehand, and levels, which tell nulls from values, are one bit-packed run. A row
// group is made when it is read first, all columns at once. One that comes out with another length
// than was counted is not of this version of the source, and is nodes.ErrStale.
package parquet
