// NetHack: the screen as text, a save a key press, and what a save says of hero and pack.
import { clean, el } from "./dom.js";
import { getJSON, latest } from "./fetch.js";
import { button, line, rows as rowsOf } from "./parts.js";
import { changes, heroText, itemText } from "./saves.js";

const columns = 80, lines = 24, blank = Array(lines).fill("");

export function scene(view) {
  let monsters = true, state = null, changed = [], of = null, shown = "";
  const screen = el("pre", { "data-testid": "screen", tabIndex: 0, role: "img", "aria-roledescription": "screen of the game" });
  const toggle = button("Monsters", "monsters on or off", "m", "monsters", () => show(!monsters));
  const hero = view.side("Hero", "hero"), pack = view.side("Pack", "inventory"), diff = view.side("Since the save before", "changes");
  const score = el("p", { "data-testid": "score", className: "number" });
  view.stage.classList.add("terminal");
  view.stage.append(screen);
  view.stage.after(el("div", { className: "filters" }, toggle, score));
  toggle.setAttribute("aria-pressed", "true");

  function show(on) {
    monsters = on;
    toggle.setAttribute("aria-pressed", String(on));
    view.say(on ? "with monsters" : "without monsters");
    view.repaint();
  }

  /** fit makes the letters as large as the stage has room for. */
  function fit() {
    const { width, height } = view.stage.getBoundingClientRect();
    screen.style.fontSize = `${Math.max(6, Math.min((width - 16) / columns / 0.605, (height - 16) / lines / 1.2))}px`;
  }
  new ResizeObserver(fit).observe(view.stage);

  const saved = (tick, signal) => (tick < view.first ? null : getJSON(view.source.file(`states/${tick}.json`), signal).catch(() => null));

  const rest = latest(async (signal, tick) => {
    const [now, before] = await Promise.all([saved(tick, signal), saved(tick - 1, signal)]);
    signal.throwIfAborted();
    state = now;
    changed = changes(before, now);
    list(hero, now ? heroText(now) : ["This save cannot be read."]);
    list(pack, now?.inventory?.map(itemText) ?? ["not known"]);
    list(diff, changed.length ? changed.map((c) => `${c.path}: ${c.from} → ${c.to}`) : ["nothing"]);
    of = tick;
    view.repaint();
  });

  const list = (section, texts) => section.replaceChildren(section.firstChild, ...rowsOf(texts, line));

  const rows = (at) => (at && (monsters ? at.screen : at.plain ?? at.screen)) ?? null;

  return {
    size: 64,
    kinds: ["command"],
    legend: "The screen as export/game.cast shows it: what the hero remembers and sees. m takes away monsters.",
    actions: [["m", "", "monsters on, off", () => show(!monsters)]],
    rest: (at) => at && rest(at.tick),
    draw(ctx, at) {
      const now = rows(at), text = (now ?? blank).map((row) => [...row].slice(0, columns).join("").padEnd(columns)).join("\n");
      if (text !== shown) screen.textContent = shown = text;
      screen.classList.toggle("lost", !now);
      for (const section of [hero, pack, diff]) section.classList.toggle("dim", of !== at.tick);
      const turn = at.block.turns?.[at.frame];
      const status = now ? now.slice(-2).map((row) => row.trim()).filter(Boolean).join(". ") : "This save is lost.";
      screen.setAttribute("aria-label", `${monsters ? "" : "without monsters. "}${clean(status, 300)}`);
      score.textContent = now ? `turn ${turn ?? "?"}` : "This save is lost: there is no screen.";
    },
    entities: () => [],
    facts(at) {
      const known = at && of === at.tick;
      return {
        ready: !!view.ready && (known || view.playing), screen: rows(at),
        inventory: known ? state?.inventory?.map(itemText) ?? [] : [], changes: known ? changed : [],
      };
    },
  };
}
