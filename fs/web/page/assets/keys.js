// What one can do to a view: each action has a key, and most have a button (docs/tree/page.md section 2).
import { el } from "./dom.js";
import { button } from "./parts.js";

// An action is [key, what its button shows, what it does in words, run(key), data-testid].

export const cameraActions = (view) => [
  ["h", "left", "camera left", () => view.pan(1, 0)],
  ["j", "down", "camera down", () => view.pan(0, -1)],
  ["k", "up", "camera up", () => view.pan(0, 1)],
  ["l", "right", "camera right", () => view.pan(-1, 0)],
  ["z", "closer", "camera closer", () => view.zoom(1.25)],
  ["Z", "farther", "camera farther", () => view.zoom(0.8)],
  ["a", "all", "all there is", () => view.showAll()],
];

export const playActions = (view) => [
  ["[", "previous", "previous mark", () => view.mark(-1)],
  ["Shift+ArrowLeft", "−60", "a minute back", () => view.skip(-60000)],
  ["ArrowLeft", "−5", "5 seconds back", () => view.skip(-5000)],
  [",", "back", "one tick back", () => view.nudge(-1), "back"],
  [" ", "play", "play, pause", () => view.play(), "play"],
  [".", "on", "one tick on", () => view.nudge(1), "on"],
  ["ArrowRight", "+5", "5 seconds on", () => view.skip(5000)],
  ["Shift+ArrowRight", "+60", "a minute on", () => view.skip(60000)],
  ["]", "next", "next mark", () => view.mark(1)],
  ["-", "farther", "slower", () => view.faster(-1)],
  ["+", "closer", "faster", () => view.faster(1)],
];

export const eventActions = (view) => [
  ["N", "up", "previous event of those shown", () => view.event(-1), "event-previous"],
  ["n", "down", "next event of those shown", () => view.event(1), "event-next"],
];

/** fieldActions are those that have fields and links in place of buttons. */
const fieldActions = (view) => [
  ["0123456789", "", "tenths of the recording", (key) => view.goto(view.first + ((view.last - view.first) * key) / 10)],
  ["Home", "", "beginning", () => view.goto(view.first)],
  ["End", "", "end", () => view.goto(view.last)],
  ["f", "", "follow the next player", () => view.followNext()],
  ["F", "", "follow nobody", () => view.setFollow(null)],
  ["g", "", "jump to a time or tick", () => view.focus("jump")],
  ["d", "", "demo of the visible minute", () => view.demo?.()],
];

const signs = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", "Shift+ArrowLeft": "Shift ←", "Shift+ArrowRight": "Shift →", "0123456789": "0 to 9" };
const sign = (key) => signs[key] ?? key;

/** buttons are those of actions. */
export const buttons = (actions) => actions.map(([key, face, text, run, testid]) => button(face, text, sign(key), testid, run));

/** isField tells whether keys belong to the element that has the focus. */
function isField(target, key) {
  if (target.closest?.("input, select, textarea, [contenteditable]")) return true;
  const own = target.closest?.("button, a, summary");
  return !!own && (key === "Enter" || (key === " " && own.matches(":focus-visible")));
}

/** keys listens to them, and makes the list of them that opens under "?". */
export function keys(view) {
  const timed = view.timed ? [...playActions(view), ...eventActions(view), ...fieldActions(view)] : [];
  const camera = view.about.kind === "nethack" ? [] : cameraActions(view);
  const close = button("Close", "Close", "Esc", null, () => { box.open = false; });
  const help = () => {
    box.open = !box.open;
    if (box.open) close.focus();
  };
  const all = [...timed, ...(view.scene.actions ?? []), ...camera, ["/", "", "search", () => view.focus("event-search", "compare")], ["?", "", "all keys", help]];
  const list = el("dl", {}, ...all.flatMap(([key, , text]) => [el("dt", {}, sign(key)), el("dd", {}, text)]));
  const box = el("details", { "data-testid": "help", className: "help" }, el("summary", { title: "All keys (?)" }, "? Keys"), el("div", {}, close, list));
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === "Escape") {
      box.open = false;
      e.target.closest?.("input")?.blur();
    }
    const pressed = { "=": "+" }[e.key] ?? (e.shiftKey && e.key.startsWith("Arrow") ? "Shift+" + e.key : e.key);
    const hit = !isField(e.target, e.key) && all.find(([key]) => key === pressed || (/^\d$/.test(pressed) && key.includes(pressed)));
    if (!hit) return;
    e.preventDefault();
    hit[3](pressed);
  });
  return box;
}
