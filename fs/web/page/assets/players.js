// The players of the whole recording: search, and follow one.
import { timeText } from "./clock.js";
import { clean, el, later, plural } from "./dom.js";
import { latest } from "./fetch.js";
import { button } from "./parts.js";

/** players makes the list of them, asked for behind the first picture. */
export function players(view) {
  const field = el("input", { type: "search", placeholder: "name", "aria-label": "search players", oninput: () => soon() });
  const list = el("ul", { className: "rows" }), count = el("p", { className: "quiet", role: "status" });
  const more = button("More", "more players", null, null, () => load(next));
  let next = null;
  const load = latest(async (signal, after) => {
    const { rows, total, next: then } = await view.source.get("players", { q: field.value, after, limit: 50 }, signal);
    if (after === null) list.replaceChildren();
    list.append(...rows.map(row));
    count.textContent = plural(total, "player");
    next = then;
    more.hidden = next === null;
  }, (error) => { count.textContent = error.message; });
  const soon = later(() => load(null), 250);
  const row = (p) => {
    const span = view.about.tick_ms ? `${timeText(p.first * view.about.tick_ms)} to ${timeText(p.last * view.about.tick_ms)}` : "";
    const facts = [clean(p.clan, 40), span, p.finishes === 1 ? "1 finish" : p.finishes ? `${p.finishes} finishes` : ""];
    return el("li", {}, el("button", { type: "button", title: "follow", onclick: () => {
      view.setFollow(p.id);
      if (view.tick < p.first || view.tick > p.last) view.goto(p.first);
    } }, el("b", { dir: "auto" }, clean(p.name, 60) || "(no name)"), el("small", {}, facts.filter(Boolean).join(" · "))));
  };
  more.hidden = true;
  let asked = false;
  view.on("paint", (at) => {
    if (at && !asked) load(null);
    asked ||= !!at;
  });
  view.side("Players", "players", field, list, count, more);
}
