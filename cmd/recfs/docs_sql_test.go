package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A question is a query of a document with what it answers: lines of a comment with | between the
// values, or else the table in the block of text that follows.
type question struct {
	line  int
	query string
	want  []string
	table bool
}

// askAll answers the queries that it gets, a JSON array, with an array of lines for each: rows with
// | between their values, or the table that DuckDB draws.
const askAll = `
import duckdb, json, os, sys
duckdb.execute("set timezone = 'UTC'")
duckdb.execute(open(os.environ["VIEWS"]).read())
def ask(q):
    answer = duckdb.sql(q["query"])
    return str(answer).rstrip().split("\n") if q["table"] else [" | ".join(map(str, row)) for row in answer.fetchall()]
json.dump([ask(q) for q in json.load(sys.stdin)], sys.stdout)
`

// lakes returns where the tables of the sample archive are: of a mount at mnt, of an export and of
// a merged one.
func lakes(t *testing.T, mnt string) (prefixes []string) {
	t.Helper()
	cached := "--cache-dir=" + t.TempDir()
	_ = recfs(t, "index", cached, samples).Run() // a recording does not open
	if out, err := recfs(t, "mount", cached, samples, mnt).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	prefixes = []string{filepath.Join(mnt, "tables")}
	for _, flags := range [][]string{nil, {"--merge", "--by", "month"}} {
		to := t.TempDir()
		_ = recfs(t, append(append([]string{"export", cached}, flags...), "tables", samples, to)...).Run()
		prefixes = append(prefixes, to)
	}
	return prefixes
}

// TestDocumentsSQL asks what the SQL blocks of the documents ask, of the mounted sample archive,
// and what they ask of views of exports, too.
func TestDocumentsSQL(t *testing.T) {
	if testing.Short() || !canMount() {
		t.Skip("mounts the sample archive and decodes much of it")
	}
	python := cmp.Or(os.Getenv("RECFS_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import duckdb").Run(); err != nil {
		t.Skipf("%s has no duckdb: %v", python, err)
	}
	mnt := filepath.Join(t.TempDir(), "m")
	t.Cleanup(func() { unmountBelow(filepath.Dir(mnt)) })
	prefixes := lakes(t, mnt)
	for _, name := range []string{"README.md", "docs/cookbook.md"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		questions := parseQuestions(string(text))
		if len(questions) == 0 {
			t.Errorf("%s has no queries", name)
		}
		for _, prefix := range prefixes {
			for i, got := range answers(t, python, mnt, prefix, questions) {
				if q := questions[i]; strings.Join(got, "\n") != strings.Join(q.want, "\n") {
					t.Errorf("%s:%d: %s\nanswers of %s\n%s\nwhere the document has\n%s", name, q.line, q.query, prefix,
						strings.Join(got, "\n"), strings.Join(q.want, "\n"))
				}
			}
			questions = slices.DeleteFunc(questions, func(q question) bool { return strings.Contains(q.query, docMount) })
		}
	}
}

func answers(t *testing.T, python, mnt, prefix string, questions []question) (answers [][]string) {
	type asked struct {
		Query string `json:"query"`
		Table bool   `json:"table"`
	}
	all := []asked{}
	for _, q := range questions {
		all = append(all, asked{strings.ReplaceAll(q.query, docMount, mnt), q.table})
	}
	in, err := json.Marshal(all)
	must(t, err)
	cmd := exec.CommandContext(t.Context(), python, "-c", askAll)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(in)), os.Stderr
	cmd.Env = append(os.Environ(), "TZ=UTC", "PYTHONUTF8=1", "VIEWS="+filepath.Join(prefix, "views.sql"))
	out, err := cmd.Output()
	must(t, err)
	must(t, json.Unmarshal(out, &answers))
	return answers
}

// parseQuestions takes the queries, each up to its semicolon, from the SQL blocks of a document.
func parseQuestions(text string) (all []question) {
	block, query := "", ""
	for i, line := range strings.Split(text, "\n") {
		comment, isComment := strings.CutPrefix(line, "-- ")
		switch {
		case block == "" && strings.HasPrefix(line, "```"):
			block = strings.TrimPrefix(line, "```")
		case strings.HasPrefix(line, "```"):
			block = ""
		case block == "text" && len(all) > 0 && all[len(all)-1].table:
			all[len(all)-1].want = append(all[len(all)-1].want, line)
		case block == "sql" && isComment && len(all) > 0:
			last := &all[len(all)-1]
			last.want, last.table = append(last.want, comment), false
		case block == "sql":
			query += line + "\n"
			if strings.HasSuffix(line, ";") {
				all = append(all, question{i + 1, strings.TrimSpace(query), nil, true})
				query = ""
			}
		}
	}
	return all
}

func TestParseQuestions(t *testing.T) {
	got := parseQuestions("```sql\nselect 1,\n2;\n-- 1 | 2\n\nselect 3;\n-- 3\n```\n\n```sql\nselect 4;\n```\n\n```text\n[4]\n```\n")
	want := []question{
		{3, "select 1,\n2;", []string{"1 | 2"}, false},
		{6, "select 3;", []string{"3"}, false},
		{11, "select 4;", []string{"[4]"}, true},
	}
	if len(got) != len(want) {
		t.Fatalf("%d queries: %v", len(got), got)
	}
	for i, q := range want {
		if g := got[i]; g.line != q.line || g.query != q.query || strings.Join(g.want, "\n") != q.want[0] || g.table != q.table {
			t.Errorf("query %d: %+v, want %+v", i, g, q)
		}
	}
}
