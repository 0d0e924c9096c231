// Teehistorian: tees on their map, drawn by strokes of our own.
import { clean } from "./dom.js";
import { around, circle, fill, label, path, stroke } from "./draw.js";
import { dark } from "./parts.js";
import { ground, cast } from "./ground.js";
import { placed } from "./view.js";

const reach = 380; // how far a hook flies
const radius = 14;

/** paint is what a tee is filled with: a colour for each team, in team 0 its own one if it has any. */
const paint = (e, light) => {
  const team = Number(e.team), own = !team && e.color;
  const hue = { red: 5, blue: 220 }[e.team] ?? ((team || Number(e.id) * 7 + 3) * 137.508) % 360;
  return own || `hsl(${hue} 62% ${light}%)`;
};
const teamText = (e) => (e.team && e.team !== "0" ? ` · ${isNaN(e.team) ? "" : "team "}${clean(e.team, 12)}` : "");

/** scene shows a teehistorian. */
export function scene(view) {
  const map = ground(view);
  view.on("rest", () => map.picture());
  const hooks = (at) => at.entities.filter((e) => e.s & 1 && e.a !== null && e.x !== null).map((e) => {
    const angle = (e.a / 128) * Math.PI;
    return { id: e.id, ...cast(map, e.x, e.y, Math.cos(angle), Math.sin(angle), reach) };
  });
  return {
    legend: "A dashed line is where a held hook would go: along the aim, 380 units or to the first solid tile. The recording does not say whether it held. "
      + "Colours are teams; in team 0 everybody has an own one. A ring: who is followed. ⚑: finished. … : writes.",
    kinds: ["join", "leave", "name", "chat", "command", "vote", "kill", "emote", "team", "finish", "save", "load", "login", "other"],
    extent: () => map.bounds ?? around(view.there.map((e) => [e.x, e.y])),
    entities: (at, camera) => placed(at.entities, camera),
    facts: (at) => ({ hooks: at ? hooks(at) : [] }),
    draw(ctx, at, camera) {
      map.draw(ctx, camera, view.colors);
      const there = at.entities.filter((e) => e.x !== null && camera.sees(e.x, e.y, 420 * camera.scale + 60));
      const by = new Map(there.map((e) => [e.id, e]));
      for (const h of hooks(at)) if (by.has(h.id)) hook(ctx, camera, view.colors, by.get(h.id), h);
      for (const e of there) tee(ctx, camera, e, view.follows(e), view.colors);
      names(ctx, camera, there, view);
      bubbles(ctx, camera, view, at, by);
    },
  };
}

function hook(ctx, camera, c, e, to) {
  const [x, y] = [camera.sx(to.x), camera.sy(to.y)];
  path(ctx, [camera.sx(e.x), camera.sy(e.y)], [x, y]);
  stroke(ctx, c.ink, Math.max(1.25, 2 * camera.scale), [5, 4]);
  if (!to.hit) return;
  circle(ctx, x, y, Math.max(2, 4 * camera.scale));
  fill(ctx, c.ink);
}

/** size is the radius of a tee on the canvas. */
const size = (camera) => Math.max(4, radius * camera.scale);

/** tee is a round body on two feet, whose eyes and hand go where it aims. */
function tee(ctx, camera, e, followed, c) {
  const x = camera.sx(e.x), y = camera.sy(e.y), r = size(camera), body = paint(e, dark.matches ? 62 : 54), edge = Math.max(1, r / 8);
  const angle = e.a === null ? 0 : (e.a / 128) * Math.PI, dx = Math.cos(angle), dy = Math.sin(angle);
  const oval = (ox, oy, rx, ry, color, line) => {
    ctx.beginPath();
    ctx.ellipse(x + ox * r, y + oy * r, rx * r, ry * r, 0, 0, 7);
    fill(ctx, color);
    stroke(ctx, c.ink, line);
  };
  if (r > 6) {
    for (const side of [-0.5, 0.5]) oval(side, 0.86, 0.44, 0.26, body, edge);
    ctx.lineCap = "round";
    path(ctx, [x + dx * r, y + dy * r], [x + dx * r * 1.75, y + dy * r * 1.75]);
    if (e.a !== null) stroke(ctx, c.ink, 2 * edge);
  }
  oval(0, 0, 1, 1, body, edge);
  for (const side of r > 6 ? [-0.24, 0.24] : []) {
    oval(dx * 0.38 + side, dy * 0.32 - 0.12, 0.18, 0.26, "#fff", Math.max(0.75, r / 14));
    ctx.fillStyle = "#111";
    ctx.fillRect(x + (dx * 0.46 + side) * r - r / 14, y + (dy * 0.4 - 0.12) * r - r / 10, r / 7, r / 5);
  }
  if (!followed) return;
  circle(ctx, x, y, r + 6);
  stroke(ctx, c.accent, 2);
}

/** names are above heads; in a crowd seen from afar, only that of who is followed. */
function names(ctx, camera, there, view) {
  const all = there.length <= 24 || camera.scale > 0.3;
  for (const e of there) {
    if (!all && !view.follows(e)) continue;
    label(ctx, clean(e.name, 24) + teamText(e) + (e.s & 8 ? " · menu" : ""), camera.sx(e.x), camera.sy(e.y) - size(camera) - 8, view.colors);
  }
}

/** bubbles are what was said in the last seconds, finishes, and dots of who writes. */
function bubbles(ctx, camera, view, at, by) {
  const { block: b } = at, from = at.tick - 200 * Math.max(1, view.playing ? view.speed : 1);
  const before = view.blocks.look(b.first - b.step, b.step)?.block?.events ?? [];
  const said = new Map();
  for (const e of before.concat(b.events)) {
    if (e.t <= at.tick && e.t > from && by.has(e.id) && (e.say || e.kind === "finish")) said.set(e.id, e);
  }
  for (const e of by.values()) {
    const event = said.get(e.id), text = event ? spoken(event) : e.s & 4 ? "…" : "";
    if (text) bubble(ctx, text, camera.sx(e.x), camera.sy(e.y) - size(camera) - 26, view.colors);
  }
}

/** spoken is an event as a bubble has it: without the name that stands below. */
const spoken = (e) => clean(e.say ?? "⚑ " + e.text.replace(/^.*? (?=finished in )/, ""), 60);

function bubble(ctx, text, x, y, c) {
  ctx.font = "12px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const wide = ctx.measureText(text).width + 14;
  ctx.beginPath();
  ctx.roundRect(x - wide / 2, y - 11, wide, 21, 7);
  fill(ctx, c.halo);
  stroke(ctx, c.faint, 1);
  ctx.fillStyle = c.ink;
  ctx.fillText(text, x, y);
}
