package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// commentColumns is how wide a comment on lines of its own may be.
const commentColumns = 100

// uncleanRooms says how many comments of a room may be too wide, or begin with another word than
// the name of what they document. It only ever shrinks: the others have none.
var uncleanRooms = map[string]faults{
	"bench/stress":               {3, 0},
	"cache":                      {48, 0},
	"cmd/recfs":                  {97, 0},
	"formats":                    {24, 3},
	"formats/archive":            {62, 0},
	"formats/catalogue":          {54, 0},
	"formats/columnar":           {20, 0},
	"formats/compare":            {15, 0},
	"formats/container":          {77, 0},
	"formats/datafile":           {69, 2},
	"formats/echo":               {128, 27},
	"formats/export":             {29, 0},
	"formats/hcrp":               {95, 1},
	"formats/internal/indexfile": {14, 0},
	"formats/internal/jsonenc":   {22, 0},
	"formats/internal/ledger":    {17, 0},
	"formats/internal/parquet":   {66, 0},
	"formats/internal/rowcount":  {6, 1},
	"formats/internal/wire":      {26, 0},
	"formats/internal/zipfile":   {12, 0},
	"formats/nethack":            {138, 2},
	"formats/recordings":         {36, 0},
	"formats/source":             {19, 0},
	"formats/teehistorian":       {5, 4},
	"formats/unpack":             {48, 0},
	"formats/views":              {7, 0},
	"fs":                         {34, 0},
	"nodes":                      {19, 0},
}

// faults are what is wrong with the comments of a room.
type faults struct{ wide, unnamed int }

// citedFile finds the paths of files of this module in comments. [TestCitations] looks at pages.
var citedFile = regexp.MustCompile(`\b(?:bench|cache|cmd|formats|fs|nodes|packaging|testdata)/[\w./-]*\.\w+\b`)

// TestComments holds comments to their width, those of documentation to begin with the name, and
// the files that they cite to be there.
func TestComments(t *testing.T) {
	rooms, places := map[string]faults{}, map[string][]string{}
	files := os.DirFS(filepath.Join("..", ".."))
	walkModule(t, files, func(name string, text []byte) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			return
		}
		room, found := path.Dir(name), rooms[path.Dir(name)]
		for n, line := range strings.Split(string(text), "\n") {
			comment := strings.TrimSpace(line)
			if strings.HasPrefix(comment, "// ") && utf8.RuneCountInString(line) > commentColumns {
				found.wide++
				places[room] = append(places[room], sprint(name, n+1, "is wider than", commentColumns, "columns"))
			}
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range f.Comments {
			for _, cited := range citedFile.FindAllString(group.Text(), -1) {
				if _, err := os.Stat(filepath.Join("..", "..", cited)); err != nil && path.Ext(cited) != ".md" {
					t.Errorf("%s cites %s, which is not there", name, cited)
				}
			}
		}
		if !strings.HasSuffix(name, "_test.go") {
			for at, what := range unnamed(f) {
				found.unnamed++
				places[room] = append(places[room], sprint(name, fset.Position(at).Line, "does not begin with", what))
			}
		}
		rooms[room] = found
	})
	for room, found := range rooms {
		allowed := uncleanRooms[room]
		if found != (faults{}) {
			t.Logf("%s: %d wide comments, %d that do not begin with the name", room, found.wide, found.unnamed)
		}
		if found.wide > allowed.wide || found.unnamed > allowed.unnamed {
			t.Errorf("%s: more than %+v:\n%s", room, allowed, strings.Join(places[room], "\n"))
		}
	}
}

// sprint makes a line of what is wrong at a place.
func sprint(name string, line int, words ...any) string {
	return strings.TrimSuffix(fmt.Sprintln(append([]any{fmt.Sprintf("%s:%d", name, line)}, words...)...), "\n")
}

// unnamed returns the declarations whose comment begins with another word than their name, by
// place.
func unnamed(f *ast.File) map[token.Pos]string {
	wrong := map[token.Pos]string{}
	check := func(doc *ast.CommentGroup, name string) {
		if doc == nil {
			return
		}
		words := strings.Fields(doc.Text())
		if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
			words = words[1:]
		}
		if len(words) > 0 && strings.Trim(words[0], ".,:;") != name && !strings.HasPrefix(words[0], name) {
			wrong[doc.Pos()] = name
		}
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			check(d.Doc, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s, ok := spec.(*ast.TypeSpec)
				if ok && !d.Lparen.IsValid() {
					check(d.Doc, s.Name.Name)
				} else if ok {
					check(s.Doc, s.Name.Name)
				}
			}
		}
	}
	return wrong
}
