package columnar

import "slices"

// A ColumnType says what the values of a column are.
type ColumnType uint8

// The types of columns.
const (
	Bool ColumnType = iota
	Int32
	Int64
	Float  // 32 bits
	Double // 64 bits
	Time   // microseconds since 1970, UTC
	Text   // UTF-8
	Texts  // a list of Text, any of which may be null; only a nullable column has it
)

// A Column is one column of a Table.
type Column struct {
	Name     string
	Type     ColumnType
	Nullable bool
	// Words are all values that a column of Text may have, if they are few: rows then have the number
	// of a word. nil: any text.
	Words []string
	// Origin says that the values are those of the Origins of a group, and its rows have none: the
	// paths if they are Text, else the starts.
	Origin bool
}

// Required returns columns of one type that always have a value.
func Required(t ColumnType, names ...string) []Column { return columns(t, false, names) }

// Optional returns columns of one type that may hold nulls.
func Optional(t ColumnType, names ...string) []Column { return columns(t, true, names) }

func columns(t ColumnType, nullable bool, names []string) []Column {
	list := make([]Column, len(names))
	for i, name := range names {
		list[i] = Column{Name: name, Type: t, Nullable: nullable}
	}
	return list
}

// OneOf returns a column of few texts, which its rows have by number.
func OneOf(name string, nullable bool, words ...string) []Column {
	return []Column{{Name: name, Type: Text, Nullable: nullable, Words: words}}
}

// Widen returns columns with the names and types of both lists. One may hold nulls if it may in
// either. ok is false if names or types differ.
func Widen(a, b []Column) (list []Column, ok bool) {
	if !slices.EqualFunc(a, b, func(a, b Column) bool { return a.Name == b.Name && a.Type == b.Type }) {
		return nil, false
	}
	list = slices.Clone(a)
	for i := range list {
		list[i].Nullable = a[i].Nullable || b[i].Nullable
	}
	return list, true
}

// The rows of a group are those of whole chunks, up to the one with which there are GroupRows of
// them; what goes beyond MaxGroupRows is in the next group (docs/tree/tables.md section 1).
const (
	GroupRows    = 1 << 16
	MaxGroupRows = 1 << 20
)

// A Group is a run of rows that are made at once, a row group of Parquet.
type Group struct {
	Rows    int
	Chunk   int      // of the format, where the first row lies
	Skip    int      // rows of that chunk that are in the group before
	Columns []Counts // as many as the table has; nil where nothing is known
	Origins []Origin // with as many rows, if there are columns for them
}

// An Origin is a recording of which rows of a group are, in a table that tells that of each row.
type Origin struct {
	Path  string // in the source
	Start int64  // microseconds since 1970, if Dated
	Dated bool
	Rows  int // one at least
}

// Counts are what is known of the values of a column in a group.
type Counts struct {
	Nulls int64
	Bytes int64 // of all Text without Words
	Items int64 // of all Texts, nulls among them
	Empty int64 // how many Texts have no item, or are null
	// Min and Max are the least and the greatest value, if Bounded: of a Float or Double its bits as
	// [math.Float64bits] has them, else the number.
	Min, Max int64
	Bounded  bool
}
