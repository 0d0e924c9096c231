package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"recfs/nodes/nodestest"
)

// TestManual keeps the manual pages in step with the table of commands.
func TestManual(t *testing.T) {
	_, shared := commands().named("ls").flags()
	mount, _ := mountCommand.parse()
	testPage(t, "recfs.1", "@COMMANDS@\n", manualCommands(), "@SHARED@\n", manualFlags(shared, flagItem))
	testPage(t, "mount.recfs.8", "@OPTIONS@\n", manualFlags(mount, optionItem))
}

// testPage compares a manual page with what its prose becomes, in which words are replaced.
func testPage(t *testing.T, name string, replaced ...string) {
	name = filepath.Join("../../packaging", name)
	prose, err := os.ReadFile(name + ".in")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.NewReplacer(replaced...).Replace(string(prose))
	if *nodestest.Update {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != page {
		t.Errorf("%s is out of date: go test ./cmd/recfs -run TestManual -update", name)
	}

	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not installed")
	}
	if out, err := exec.Command(mandoc, "-T", "lint", "-W", "warning", name).CombinedOutput(); err != nil {
		t.Errorf("mandoc: %v\n%s", err, out)
	}
}

// A reader of the page sees a heading for each command with all its arguments, and no default that
// is one of the machine that made the page.
func TestRenderedManual(t *testing.T) {
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not installed")
	}
	page, err := exec.Command(mandoc, "-T", "ascii", "-O", "width=200", "../../packaging/recfs.1").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(regexp.MustCompile(".\x08").ReplaceAll(page, nil)) // bold and underlined characters are struck twice
	for _, cmd := range commands() {
		if heading := "\n   " + strings.TrimPrefix(cmd.usage(), "recfs ") + "\n"; !cmd.hidden && !strings.Contains(text, heading) {
			t.Errorf("no heading %q", heading)
		}
	}
	if strings.Contains(text, fmt.Sprintf("at a time (default: %d)", runtime.GOMAXPROCS(0))) {
		t.Error("the number of processors of this machine is a default")
	}
}

// manualCommands is the COMMANDS section in mdoc(7).
func manualCommands() string {
	var b strings.Builder
	for _, cmd := range commands() {
		if cmd.hidden {
			continue
		}
		usage := strings.ReplaceAll(escapeRoff(strings.TrimPrefix(cmd.usage(), "recfs ")), ".\n", ". ") // "..." ends no sentence
		fmt.Fprintf(&b, ".Ss %s\n%s.\n", usage, escapeRoff(cmd.summary))
		for paragraph := range strings.SplitSeq(strings.TrimSpace(cmd.about), "\n\n") {
			if paragraph != "" {
				fmt.Fprintf(&b, ".Pp\n%s\n", escapeRoff(paragraph))
			}
		}
		own, _ := cmd.flags()
		b.WriteString(manualFlags(own, flagItem))
	}
	return b.String()
}

// manualFlags is a list of flags in mdoc(7), each under what item returns; it leaves out those
// without.
func manualFlags(flags *pflag.FlagSet, item func(f *pflag.Flag, value string) string) string {
	if !flags.HasAvailableFlags() {
		return ""
	}
	var b strings.Builder
	b.WriteString(".Bl -tag -width Ds\n")
	flags.VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		if head := item(f, escapeRoff(value)); head != "" && !f.Hidden {
			b.WriteString(".It " + head + "\n" + escapeRoff(manualText(f, usage)) + ".\n")
		}
	})
	b.WriteString(".El\n")
	return b.String()
}

// flagItem is a flag of a command.
func flagItem(f *pflag.Flag, value string) string {
	item := "Fl -" + f.Name
	if f.Shorthand != "" {
		item = "Fl " + f.Shorthand + " , Fl -" + f.Name
	}
	if values := f.Annotations[offered]; values != nil && f.NoOptDefVal != "" {
		item += " Ns Op = Ns Ar " + strings.Join(values, "|")
	}
	if value != "" {
		item += " Ar " + value
	}
	return item
}

// optionItem is a flag as an option of mount(8), which has no use for those of one letter.
func optionItem(f *pflag.Flag, value string) string {
	if f.Shorthand != "" {
		return ""
	}
	item := "Cm " + strings.ReplaceAll(f.Name, "-", "_")
	if value != "" {
		item += " Ns = Ns Ar " + value
	}
	return item
}

func manualText(f *pflag.Flag, usage string) string {
	text := strings.ToUpper(usage[:1]) + usage[1:]
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" {
		text += " (default: " + f.DefValue + ")"
	}
	return text
}

// escapeRoff keeps roff from taking text for its own, and starts each sentence on a line.
func escapeRoff(text string) string {
	text = strings.ReplaceAll(text, `\`, `\e`)
	text = strings.ReplaceAll(text, "-", `\-`)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), ". ", ".\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
