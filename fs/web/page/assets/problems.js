// What is damaged: why, and from when to when something is lost.
import { clean, el, plural } from "./dom.js";
import { line, rows } from "./parts.js";

/** problems lists them, of which the index tells once there is a picture. */
export function problems(view) {
  const title = el("summary"), box = el("details", { className: "holes", hidden: true }, title);
  let seen = 0;
  view.on("paint", async () => {
    if (!view.ready || (view.about.problems ?? 0) === seen) return;
    seen = view.about.problems;
    try {
      const index = await view.source.json("index.json");
      if (view.timed) view.holes = holesOf(index, view.first, view.last);
      title.textContent = plural(index.problems.length, "problem");
      box.replaceChildren(title, ...rows(index.problems.map((p) => `${p.code} at byte ${p.offset}: ${p.message}`), line));
      view.tell("holes");
    } catch (error) {
      title.textContent = error.message;
    }
    box.hidden = false;
  });
  return box;
}

/** holesOf are the stretches {from, to, text} of which an index says that something is lost. */
export function holesOf(index, first, last) {
  const chunks = index.chunks ?? [], out = [];
  for (const p of index.problems ?? []) {
    if (p.code === "anomaly") continue;
    const i = p.chunk === undefined ? chunks.length - 1 : chunks.findIndex((c) => c.chunk === p.chunk);
    const before = chunks.slice(0, Math.max(i, 0)).reverse().find((c) => c.last_tick !== null);
    const after = chunks.slice(i + 1).find((c) => c.first_tick !== null);
    const known = p.chunk !== undefined && chunks[i]?.first_tick != null;
    out.push({
      from: known ? chunks[i].first_tick : p.chunk === undefined ? last : before?.last_tick ?? first,
      to: known ? chunks[i].last_tick : after?.first_tick ?? last, text: clean(p.message, 120),
    });
  }
  return out;
}
