package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recfs/nodes/nodestest"
)

// completionSessions are what shells do to complete a line and print what became of it. They find
// the line in $LINE, the script in the file _recfs, and print into the file out.
var completionSessions = map[string][]string{
	"bash": {"bash", "--norc", "-c", `printf '%s\t\a' "$LINE" | bash --noprofile --rcfile .bashrc -i 2>/dev/null`},
	"fish": {"fish", "--no-config", "-c", `source ./_recfs
echo (string replace -r '(\\\\.|[^\\\\ ])*$' '' -- $LINE)(complete -C $LINE | string split -f 1 \t | string replace -a ' ' '\\ ') >out`},
	"zsh":          {"zsh", "-f", "-c", zshTerminal},
	"zsh autoload": {"zsh", "-f", "-c", zshTerminal},
}

// zshTerminal runs a zsh with the .zshrc below on a terminal of its own, which it has to have.
const zshTerminal = `zmodload zsh/zpty; zpty terminal zsh -i; while zpty -r terminal text; do :; done`

// bashrc lets Readline end the session with a bell, after the tabulator that completes.
const bashrc = `source ./_recfs
bind 'set bell-style none'
bind -x '"\C-g": printf "%s\n" "$READLINE_LINE" >out; exit'
`

const zshrc = `autoload -Uz compinit
[[ $NAME == 'zsh autoload' ]] && fpath=($PWD $fpath)
compinit -u -D
[[ $NAME == zsh ]] && source ./_recfs
complete-line() { BUFFER=$LINE CURSOR=$#LINE; zle complete-word; print -r -- "$BUFFER" >out; exit }
zle -N zle-line-init complete-line
`

// TestCompletion completes a command, a flag and a path into a recording in each shell.
func TestCompletion(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many programs")
	}
	for name, session := range completionSessions {
		t.Run(name, func(t *testing.T) {
			shell := session[0]
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s is not installed", shell)
			}
			dir := t.TempDir()
			self, err := os.Executable()
			if err == nil {
				err = os.Symlink(self, filepath.Join(dir, "recfs"))
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "_recfs"), completionScript(t, shell), 0o666)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, ".zshrc"), []byte(zshrc), 0o666)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, ".bashrc"), []byte(bashrc), 0o666)
			}
			for _, to := range []string{"maps", "our server"} {
				if err == nil {
					err = os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(samples, "datafile/maps")))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			for line, want := range map[string]string{
				"recfs che":                         "recfs check",
				"recfs check --js":                  "recfs check --json",
				"recfs cat maps/new.map/set":        "recfs cat maps/new.map/settings.cfg",
				"recfs cat ~/maps/new.map/set":      "recfs cat ~/maps/new.map/settings.cfg",
				`recfs cat our\ server/new.map/set`: `recfs cat our\ server/new.map/settings.cfg`,
				"recfs find --format da":            "recfs find --format datafile",
				"recfs find --format=da":            "recfs find --format=datafile",
				"recfs cat --mapres=ma":             "recfs cat --mapres=maps/",
			} {
				ctx, cancel := context.WithTimeout(t.Context(), nodestest.Hang)
				defer cancel()
				cmd := exec.CommandContext(ctx, session[0], session[1:]...)
				cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
				cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "ZDOTDIR="+dir, "XDG_CACHE_HOME="+dir,
					"TERM=dumb", "NAME="+name, "LINE="+line)
				text, err := cmd.CombinedOutput()
				if err != nil || len(text) > 0 {
					t.Errorf("%s: %v\n%s", line, err, text)
				}
				got, err := os.ReadFile(filepath.Join(dir, "out"))
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.TrimSpace(string(got)); got != want {
					t.Errorf("%s becomes %q, want %q", line, got, want)
				}
			}
		})
	}
}

func completionScript(t *testing.T, shell string) []byte {
	script, err := completionScripts.ReadFile("completions/" + shell)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// TestCompletionLog has somewhere to log errors to, where nobody sees them.
func TestCompletionLog(t *testing.T) {
	setCacheHome(t)
	looking(t.Context(), func(_ context.Context, a *archive) { a.log.Error("unheard") })
}
