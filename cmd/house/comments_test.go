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

	"recfs/nodes/nodestest"
)

// commentColumns is how wide a comment on lines of its own may be.
const commentColumns = 100

// faults are what is wrong with the comments of a room.
type faults struct{ wide, unnamed int }

// citedFile finds the paths of files of this module in comments. [TestCitations] looks at pages.
var citedFile = regexp.MustCompile(`\b(?:bench|cache|cmd|formats|fs|nodes|packaging|testdata)/[\w./-]*\.\w+\b`)

// TestComments holds comments to their width, those of documentation to begin with the name, and
// the files that they cite to be there.
func TestComments(t *testing.T) {
	nodestest.Long(t)
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
		if found != (faults{}) {
			t.Errorf("%s: %d wide comments, %d that do not begin with the name:\n%s", room, found.wide, found.unnamed,
				strings.Join(places[room], "\n"))
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
