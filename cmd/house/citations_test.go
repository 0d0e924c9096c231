package house

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recfs/nodes/nodestest"
)

// The grammar of citations. A page of docs/tree or docs/formats is cited by its path, followed by
// the sections that are meant:
//
//	docs/formats/hcrp.md sections 6.1 and 6.2
//
// In such a page "section N" is one of its own, in one of docs/tree "format N" is one of the page
// of the same name in docs/formats, and in docs/formats/datafile.md "B.6" is one of its own.
// Sections of documents that are not ours follow their names. Everything else that looks like a
// citation is wrong.
const (
	sectionID   = `(?:\d+[a-z]?|[A-C])(?:\.\d+)*\b`
	sectionList = sectionID + `(?:(?:, (?:and )?| and | or | to |–)` + sectionID + `)*`
)

var (
	citation = regexp.MustCompile(`(?P<foreign>(?:RFC \d+|PNG specification), sections? [\d.]+)` +
		`|(?P<page>docs/(?:tree|formats)/[\w-]+\.md)(?: sections? (?P<sections>` + sectionList + `))?` +
		`|\bsections? (?P<own>` + sectionList + `)` +
		`|\bformat (?P<format>` + sectionList + `)` +
		`|\b(?P<part>[A-C]\.\d+)\b` +
		`|(?P<old>\bsheet\b|\b(?:tree|formats)/[\w-]+\.md)` +
		`|(?P<file>[\w./-]*\w\.md\b)`)
	sectionIn = regexp.MustCompile(sectionID)
	heading   = regexp.MustCompile(`(?m)^(#+) (.*)$`)
	numbered  = regexp.MustCompile(`^(` + sectionID + `)\.? `)
	fence     = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	verbatim  = regexp.MustCompile("`[^`]*`|\\\\.")
	link      = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]*)\)`)
	noAnchor  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// A library is the files of the module, and what can be cited of its documents.
type library struct {
	files    fs.FS
	sections map[string][]string // numbers, by page
	anchors  map[string][]string // of all headings, by document
}

// TestCitations holds every citation in the comments and documents to what is there, and every link
// between documents.
func TestCitations(t *testing.T) {
	nodestest.Long(t)
	l := newLibrary(t)
	sources := 0
	walkModule(t, l.files, func(name string, text []byte) {
		var wrong []string
		switch path.Ext(name) {
		case ".go":
			sources++
			for _, comment := range comments(t, name, text) {
				wrong = append(wrong, l.check(name, comment)...)
			}
		case ".md":
			prose := fence.ReplaceAllString(string(text), "")
			wrong = l.check(name, plainText(prose))
			wrong = append(wrong, l.checkLinks(name, prose)...)
		}
		for _, w := range wrong {
			t.Errorf("%s: %s", name, w)
		}
	})
	if sources < 100 || len(l.sections) < 10 {
		t.Errorf("only %d sources and %d pages looked at", sources, len(l.sections))
	}
}

// TestCitationGrammar holds the test above to what it must find.
func TestCitationGrammar(t *testing.T) {
	l := newLibrary(t)
	const source, page = "formats/hcrp/world.go", "docs/tree/hcrp.md"
	for _, c := range []struct {
		in, text string
		wrong    int
	}{
		{source, "as docs/tree/hcrp.md section 7 and docs/formats/datafile.md sections A.1 and B.10 say", 0},
		{source, "the vectors of docs/formats/butter.md section 17, RFC 8878, section 3.1", 0},
		{source, "docs/tree/hcrp.md section 70 and docs/formats/hcrp.md sections 6.1, 6.9 and 99", 3},
		{source, "docs/tree/nowhere.md", 1},
		{source, "sheet section 7", 2},
		{source, "tree section 7", 1},
		{source, "(tree/hcrp.md section 7)", 2},
		{source, "the table of sections 7.1 and 7.2", 1},
		{source, "see NOWHERE.md", 1},
		{page, "as section 7 and format 8.1 say", 0},
		{page, "as section 70 and format 8.9 say", 2},
		{"docs/formats/datafile.md", "B.6 and B.60", 1},
	} {
		if got := l.check(c.in, c.text); len(got) != c.wrong {
			t.Errorf("%s: %q: %q, want %d", c.in, c.text, got, c.wrong)
		}
	}
	for text, wrong := range map[string]int{
		"[a](README.md) [b](../formats/hcrp.md#9-event-schema-files-o) [c](https://example.org/x)": 0,
		"[a](nowhere.md) [b](README.md#nowhere)":                                                   2,
	} {
		if got := l.checkLinks(page, text); len(got) != wrong {
			t.Errorf("%q: %q, want %d", text, got, wrong)
		}
	}
}

func newLibrary(t *testing.T) *library {
	l := &library{os.DirFS(filepath.Join("..", "..")), map[string][]string{}, map[string][]string{}}
	walkModule(t, l.files, func(name string, text []byte) {
		if path.Ext(name) != ".md" {
			return
		}
		for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			l.anchors[name] = append(l.anchors[name], anchor(m[2]))
			if number := numbered.FindStringSubmatch(m[2]); number != nil && isPage(name) {
				l.sections[name] = append(l.sections[name], number[1])
			}
		}
	})
	return l
}

// walkModule calls visit for each Go file and document.
func walkModule(t *testing.T, files fs.FS, visit func(name string, text []byte)) {
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != "." {
			return fs.SkipDir
		}
		if ext := path.Ext(name); d.IsDir() || ext != ".go" && ext != ".md" {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err == nil {
			visit(name, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func comments(t *testing.T, name string, text []byte) []string {
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, group := range f.Comments {
		all = append(all, strings.Join(strings.Fields(group.Text()), " "))
	}
	return all
}

// plainText returns the text of a document as it is read: in one line, without the marks of code
// and the targets of links.
func plainText(text string) string {
	text = link.ReplaceAllString(text, "$1")
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "")), " ")
}

func isPage(name string) bool {
	dir := path.Dir(name)
	return dir == "docs/tree" || dir == "docs/formats"
}

// check returns what is wrong with the citations in a text of the file called name.
func (l *library) check(name, text string) []string {
	var wrong []string
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		part := func(group string) string { return m[citation.SubexpIndex(group)] }
		switch {
		case part("page") != "":
			wrong = append(wrong, l.checkSections(part("page"), part("sections"))...)
		case part("own") != "" && isPage(name):
			wrong = append(wrong, l.checkSections(name, part("own"))...)
		case part("own") != "":
			wrong = append(wrong, fmt.Sprintf("%q does not say of which page", m[0]))
		case part("format") != "" && path.Dir(name) == "docs/tree":
			wrong = append(wrong, l.checkSections("docs/formats/"+path.Base(name), part("format"))...)
		case part("part") != "" && name == "docs/formats/datafile.md":
			wrong = append(wrong, l.checkSections(name, part("part"))...)
		case part("old") != "":
			wrong = append(wrong, fmt.Sprintf("%q is not the path of a page", m[0]))
		case part("file") != "":
			if _, err := fs.Stat(l.files, part("file")); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s does not exist", m[0]))
			}
		}
	}
	return wrong
}

func (l *library) checkSections(page, list string) []string {
	sections := l.sections[page]
	if sections == nil {
		return []string{page + " does not exist or has no sections"}
	}
	var wrong []string
	for _, s := range sectionIn.FindAllString(list, -1) {
		if !slices.Contains(sections, s) {
			wrong = append(wrong, fmt.Sprintf("%s has no section %s", page, s))
		}
	}
	return wrong
}

// checkLinks returns the links in a document that lead nowhere in the module.
func (l *library) checkLinks(name, text string) []string {
	var wrong []string
	for _, m := range link.FindAllStringSubmatch(verbatim.ReplaceAllString(text, ""), -1) {
		if strings.Contains(m[2], ":") {
			continue
		}
		target, fragment, _ := strings.Cut(m[2], "#")
		to := name
		if target != "" {
			to = path.Join(path.Dir(name), target)
		}
		if _, err := fs.Stat(l.files, to); err != nil || fragment != "" && !slices.Contains(l.anchors[to], fragment) {
			wrong = append(wrong, "the link to "+m[2]+" leads nowhere")
		}
	}
	return wrong
}

// anchor returns the name by which a heading is linked to.
func anchor(text string) string {
	text = strings.ToLower(strings.ReplaceAll(text, "`", ""))
	return strings.ReplaceAll(noAnchor.ReplaceAllString(text, ""), " ", "-")
}
