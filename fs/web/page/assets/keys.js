// The keys of the viewer (docs/tree/page.md section 2), and the page that lists them.
import { faster } from "./clock.js";
import { el } from "./dom.js";
import { button } from "./parts.js";

/** common are the keys of all recordings; those that need time are left out of maps. */
const common = (view) => [
  { keys: [" "], sign: "Space", text: "play, pause", timed: true, run: () => view.play() },
  { keys: [".", ","], text: "one tick on, back", timed: true, run: (k) => view.nudge(k === "." ? 1 : -1) },
  { keys: ["ArrowRight", "ArrowLeft"], sign: "→ ←", text: "5 seconds on, back; with Shift 60", timed: true,
    run: (k, e) => view.skip((k === "ArrowRight" ? 1 : -1) * (e.shiftKey ? 60000 : 5000)) },
  { keys: ["]", "["], text: "next, previous mark", timed: true, run: (k) => view.mark(k === "]" ? 1 : -1) },
  { keys: ["n", "N"], text: "next, previous event of those shown", timed: true, run: (k) => view.event(k === "n" ? 1 : -1) },
  { keys: [..."0123456789"], sign: "0 to 9", text: "tenths of the recording", timed: true,
    run: (k) => view.goto(view.first + ((view.last - view.first) * Number(k)) / 10) },
  { keys: ["Home", "End"], text: "beginning, end", timed: true, run: (k) => view.goto(k === "Home" ? view.first : view.last) },
  { keys: ["+", "=", "-"], sign: "+ −", text: "faster, slower", timed: true,
    run: (k) => view.setSpeed(faster(view.speed, k === "-" ? -1 : 1)) },
  { keys: ["f", "F"], text: "follow the next player, nobody", timed: true, run: (k) => (k === "f" ? view.nextPlayer() : view.setFollow(null)) },
  { keys: ["g"], text: "jump to a time or tick", timed: true, run: () => view.focus("jump") },
  { keys: ["/"], text: "search", run: () => view.focus("event-search") || view.focus("compare") },
  { keys: ["d"], text: "demo of the visible minute", timed: true, run: () => view.demo?.() },
  { keys: ["h", "j", "k", "l"], sign: "h j k l", text: "camera left, down, up, right",
    run: (k) => view.nudgeCamera(...{ h: [1, 0], j: [0, -1], k: [0, 1], l: [-1, 0] }[k]) },
  { keys: ["z", "Z"], text: "closer, farther", run: (k) => view.zoom(k === "z" ? 1.25 : 0.8) },
  { keys: ["a"], text: "all there is", run: () => view.showAll() },
  { keys: ["?"], text: "all keys", run: () => view.help() },
];

/** isField tells whether keys belong to the element that has the focus. */
function isField(target, key) {
  if (target.closest?.("input, select, textarea, [contenteditable]")) return true;
  const own = target.closest?.("button, a, summary");
  return !!own && (key === "Enter" || (key === " " && own.matches(":focus-visible")));
}

/** keys listens to them, and makes the list of them that opens under "?". */
export function keys(view) {
  const all = [...common(view).filter((k) => view.timed || !k.timed), ...(view.scene.keys ?? []).map((k) => ({ ...k, keys: [k.key], own: k.run }))];
  const list = el("dl");
  for (const k of all) list.append(el("dt", {}, k.sign ?? k.keys.join(" ")), el("dd", {}, k.text));
  const close = button("Close", "Close", "Esc", null, () => { box.open = false; });
  const box = el("details", { "data-testid": "help", className: "help" },
    el("summary", { title: "All keys (?)" }, "? Keys"), el("div", {}, list, close));
  view.help = () => {
    box.open = !box.open;
    if (box.open) close.focus();
  };
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === "Escape") {
      box.open = false;
      e.target.closest?.("input")?.blur();
    }
    if (isField(e.target, e.key)) return;
    const hit = all.find((k) => k.keys.includes(e.key));
    if (!hit) return;
    e.preventDefault();
    if (hit.own) hit.own(e.key, e);
    else hit.run(e.key, e);
  });
  return box;
}
