package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite what tests compare with")

const manualFile = "../../packaging/recfs.1"

// TestManual keeps the manual page in step with the table of commands.
func TestManual(t *testing.T) {
	prose, err := os.ReadFile(manualFile + ".in")
	if err != nil {
		t.Fatal(err)
	}
	_, shared := commands().named("ls").flags()
	page := strings.NewReplacer("@COMMANDS@\n", manualCommands(), "@SHARED@\n", manualFlags(shared)).Replace(string(prose))
	if *update {
		if err := os.WriteFile(manualFile, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(manualFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != page {
		t.Errorf("%s is out of date: go test ./cmd/recfs -run TestManual -update", manualFile)
	}

	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not installed")
	}
	if out, err := exec.Command(mandoc, "-T", "lint", "-W", "warning", manualFile).CombinedOutput(); err != nil {
		t.Errorf("mandoc: %v\n%s", err, out)
	}
}

// manualCommands is the COMMANDS section in mdoc(7).
func manualCommands() string {
	var b strings.Builder
	for _, cmd := range commands() {
		if cmd.hidden {
			continue
		}
		fmt.Fprintf(&b, ".Ss %s\n%s.\n", escapeRoff(strings.TrimPrefix(cmd.usage(), "recfs ")), escapeRoff(cmd.summary))
		for paragraph := range strings.SplitSeq(strings.TrimSpace(cmd.about), "\n\n") {
			if paragraph != "" {
				fmt.Fprintf(&b, ".Pp\n%s\n", escapeRoff(paragraph))
			}
		}
		own, _ := cmd.flags()
		b.WriteString(manualFlags(own))
	}
	return b.String()
}

// manualFlags is a list of flags in mdoc(7).
func manualFlags(flags *pflag.FlagSet) string {
	if !flags.HasAvailableFlags() {
		return ""
	}
	var b strings.Builder
	b.WriteString(".Bl -tag -width Ds\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			b.WriteString(manualFlag(f))
		}
	})
	b.WriteString(".El\n")
	return b.String()
}

func manualFlag(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	item := ".It Fl -" + f.Name
	if f.Shorthand != "" {
		item = ".It Fl " + f.Shorthand + " , Fl -" + f.Name
	}
	if value != "" {
		item += " Ar " + escapeRoff(value)
	}
	text := strings.ToUpper(usage[:1]) + usage[1:]
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" {
		text += " (default: " + f.DefValue + ")"
	}
	return item + "\n" + escapeRoff(text) + ".\n"
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
