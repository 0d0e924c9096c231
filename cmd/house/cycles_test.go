package house

import (
	"bytes"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// A reader holds a few files in mind, not a package.
const (
	maxCycle = 4   // files that refer to each other in a cycle
	maxLines = 400 // of a file that is no test
)

// TestFiles keeps packages readable in pieces: few files of one know each other, and none is long.
func TestFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("loads all packages with their types")
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := packages.Load(&packages.Config{
		Dir: module,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesInfo,
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) < 10 {
		t.Fatalf("only %d packages", len(loaded))
	}
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Error(err)
		}
		for _, cycle := range cycles(references(p)) {
			if len(cycle) > maxCycle {
				t.Errorf("%s: a cycle of %d files: %s", p.PkgPath, len(cycle), strings.Join(cycle, " "))
			}
		}
		for _, name := range p.GoFiles {
			checkLength(t, module, name)
		}
	}
}

func checkLength(t *testing.T, module, name string) {
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(module, name)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(src, []byte("\n")); n > maxLines {
		t.Errorf("%s has %d lines", rel, n)
	}
}

// A graph has the files that each file refers to.
type graph map[string]map[string]bool

// references returns which file of p uses what is declared in which other one.
func references(p *packages.Package) graph {
	g := graph{}
	for _, f := range p.Syntax {
		from := filepath.Base(p.Fset.Position(f.Pos()).Filename)
		g[from] = map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if o := p.TypesInfo.Uses[id]; o != nil && ofPackage(p.Types, o) {
				g[from][filepath.Base(p.Fset.Position(o.Pos()).Filename)] = true
			}
			return true
		})
	}
	return g
}

// ofPackage reports whether o is declared by p itself, or is a method or field of such a type.
func ofPackage(p *types.Package, o types.Object) bool {
	if o.Pkg() != p || !o.Pos().IsValid() {
		return false
	}
	switch v := o.(type) {
	case *types.Func:
		return true
	case *types.Var:
		return v.IsField() || o.Parent() == p.Scope()
	}
	return o.Parent() == p.Scope()
}

// cycles returns the sets of two and more files of which each refers to each other, if not
// directly.
func cycles(g graph) (all [][]string) {
	reach := graph{}
	for from := range g {
		reach[from] = map[string]bool{}
		reach.from(g, from, from)
	}
	done := map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(g)) {
		var cycle []string
		for _, other := range slices.Sorted(maps.Keys(reach[file])) {
			if !done[other] && reach[other][file] {
				cycle = append(cycle, other)
				done[other] = true
			}
		}
		if len(cycle) > 1 {
			all = append(all, cycle)
		}
	}
	return all
}

// from adds to what start reaches all that at refers to in g.
func (reach graph) from(g graph, start, at string) {
	for next := range g[at] {
		if !reach[start][next] {
			reach[start][next] = true
			reach.from(g, start, next)
		}
	}
}

func TestCycles(t *testing.T) {
	g := func(edges ...string) graph {
		g := graph{}
		for _, e := range edges {
			from, to, _ := strings.Cut(e, " ")
			g[from] = map[string]bool{}
			for _, name := range strings.Fields(to) {
				g[from][name] = true
			}
		}
		return g
	}
	for _, c := range []struct {
		graph graph
		want  string
	}{
		{g("a b", "b c", "c"), ""},
		{g("a a"), ""},
		{g("a b", "b a c", "c"), "a b"},
		{g("a b", "b c", "c a", "d a"), "a b c"},
		{g("a b", "b a c", "c d", "d c"), "a b|c d"},
	} {
		var got []string
		for _, cycle := range cycles(c.graph) {
			got = append(got, strings.Join(cycle, " "))
		}
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("%v: cycles %q, want %q", c.graph, got, c.want)
		}
	}
}
