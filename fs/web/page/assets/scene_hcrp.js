// Minecraft runs from above: x to the right, z down, height as colour and number.
import { places } from "./columns.js";
import { clean, el, plural } from "./dom.js";
import { around, box, circle, fill, grid, label, path, stroke, trail } from "./draw.js";
import { getJSON, latest } from "./fetch.js";
import { placed } from "./view.js";

const block = 32;
const flags = [[1, "sprinting"], [2, "sneaking"], [4, "using"]];

/** height is one as Minecraft has it. */
const height = (y) => "y " + (Math.round(y / block * 10) / 10);

/** Heights maps numbers of a growing range to a scale from dark to light (viridis, in five steps). */
class Heights {
  constructor() { this.low = Infinity; this.high = -Infinity; }

  /** take widens the range. */
  take(h) {
    if (h < this.low) this.low = h;
    if (h > this.high) this.high = h;
  }

  get known() { return this.low <= this.high; }

  /** part is where a height lies in the range, 0 to 1. */
  part(h) { return this.high > this.low ? Math.max(0, Math.min((h - this.low) / (this.high - this.low), 1)) : 0.5; }

  color(h) { return mixed(this.part(h)); }

  /** draw paints the scale with its numbers, which text makes of heights, at the lower left. */
  draw(ctx, camera, colors, text) {
    if (!this.known) return;
    const wide = 16, high = Math.min(140, camera.height / 3), x = 12, y = camera.height - high - 22;
    const ramp = ctx.createLinearGradient(0, y + high, 0, y);
    for (let i = 0; i < steps.length; i++) ramp.addColorStop(i / (steps.length - 1), mixed(i / (steps.length - 1)));
    box(ctx, x, y, wide, high);
    fill(ctx, ramp);
    stroke(ctx, colors.ink, 1);
    for (const [h, at] of [[this.high, y + 4], [(this.low + this.high) / 2, y + high / 2], [this.low, y + high - 4]]) {
      label(ctx, text(h), x + wide + 5, at, colors, "left");
      if (this.high === this.low) break;
    }
    label(ctx, "height", x, y - 12, colors, "left");
  }
}

const steps = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function mixed(part) {
  const at = part * (steps.length - 1), i = Math.min(Math.floor(at), steps.length - 2);
  return `rgb(${steps[i].map((c, k) => Math.round(c + (steps[i + 1][k] - c) * (at - i))).join(" ")})`;
}

/** topmost keeps the highest block of each column: [{x, y, z, state}] in blocks; state 0 is air. */
export function topmost(blocks) {
  const top = new Map();
  for (const { at, state } of blocks) {
    const key = at.x + "," + at.z, seen = top.get(key);
    if (!seen || (state !== 0) > (seen.state !== 0) || ((state !== 0) === (seen.state !== 0) && at.y > seen.y)) {
      top.set(key, { ...at, state });
    }
  }
  return [...top.values()];
}

/** doing says what an entity does. */
const doing = (s) => flags.filter(([bit]) => s & bit).map(([, word]) => word).join(", ");

export function scene(view) {
  const heights = new Heights();
  let blocks = [];
  const note = el("p", { className: "quiet" });
  view.side("Blocks", "blocks", note);

  const take = (found, text) => {
    blocks = found;
    note.textContent = text;
    for (const b of blocks) heights.take(b.y * block);
    view.repaint();
  };
  const askBlocks = async (signal, tick) => {
    const found = topmost((await getJSON(view.source.file(`states/${tick}.json`), signal)).blocks);
    take(found, found.length ? `${plural(found.length, "column")} of blocks changed until tick ${tick}.` : `No block changed until tick ${tick}.`);
  };
  const rest = latest(askBlocks, (error) => take([], error.message));

  function drawBlocks(ctx, camera) {
    const side = block * camera.scale, inset = side > 6 ? 1 : 0;
    for (const b of blocks) {
      const sx = camera.sx(b.x * block), sy = camera.sy(b.z * block);
      if (sx < -side || sy < -side || sx > camera.width || sy > camera.height) continue;
      if (b.state === 0) { // dug away
        box(ctx, sx + 1.5, sy + 1.5, side - 3, side - 3);
        stroke(ctx, view.colors.faint, 1, [2, 2]);
        continue;
      }
      ctx.fillStyle = heights.color(b.y * block);
      ctx.fillRect(sx, sy, Math.max(side - inset, 1), Math.max(side - inset, 1));
      if (side > 40) label(ctx, `${b.state} · y ${b.y}`, sx + side / 2, sy + side / 2, view.colors);
    }
  }

  function drawEntity(ctx, e, camera, named) {
    const sx = camera.sx(e.x), sy = camera.sy(e.z), r = Math.max(6, Math.min(14, block * camera.scale * 0.4));
    const line = e.kind === "player" ? 2.5 : 1.25;
    if (e.kind === "player") circle(ctx, sx, sy, r);
    else path(ctx, [sx, sy - r], [sx + r, sy], [sx, sy + r], [sx - r, sy], [sx, sy - r]);
    fill(ctx, e.y === null ? view.colors.faint : heights.color(e.y));
    stroke(ctx, view.colors.ink, line);
    if (e.a !== null) { // yaw 0 looks to +z, 64 to -x
      const turn = e.a / 256 * 2 * Math.PI;
      path(ctx, [sx, sy], [sx - Math.sin(turn) * r * 2, sy + Math.cos(turn) * r * 2]);
      stroke(ctx, view.colors.ink, line);
    }
    if (!named) return;
    label(ctx, clean(e.name || `entity ${e.id}`, 32), sx, sy - r - 10, view.colors);
    const does = doing(e.s ?? 0);
    label(ctx, (e.y === null ? "height unknown" : height(e.y)) + (does ? `, ${does}` : ""), sx, sy + r + 11, view.colors);
  }

  function drawTrail(ctx, at, camera) {
    const way = places(at.block, at.entities.find((e) => e.kind === "player")?.id, at.tick - 200, at.tick);
    trail(ctx, way.map(([x, , z]) => [camera.sx(x), camera.sy(z)]), (i) => [heights.color(way[i][1]), 3]);
  }

  /** banner names the markers of the last two seconds. */
  function banner(ctx, at, camera) {
    const now = at.block.events.filter((e) => e.kind === "marker" && e.t <= at.tick && e.t > at.tick - 40);
    now.slice(-3).forEach((e, i) => label(ctx, "◆ " + clean(e.text, 80), camera.width / 2, 18 + 18 * i, view.colors));
  }

  return {
    axes: ["x", "z"],
    kinds: ["marker"],
    legend: "From above: x to the right, z down; colour and number are the height. Circle: the player, diamond: another entity, the line: where it looks, squares: blocks that changed, dashed: dug away.",
    draw(ctx, at, camera) {
      for (const e of at.entities) if (e.y !== null) heights.take(e.y);
      grid(ctx, camera, view.colors, block);
      drawBlocks(ctx, camera);
      drawTrail(ctx, at, camera);
      const seen = at.entities.filter((e) => e.x !== null && camera.sees(e.x, e.z, 40));
      for (const e of seen) drawEntity(ctx, e, camera, seen.length <= 40 || e.kind === "player");
      banner(ctx, at, camera);
      heights.draw(ctx, camera, view.colors, height);
    },
    entities: (at, camera) => placed(at?.entities ?? [], camera, ["x", "z"]),
    extent: (at) => around([
      ...(at?.block.tracks ?? []).filter((t) => t.x).flatMap((t) => [...t.x].map((x, i) => [x, t.z[i]])),
      ...blocks.map((b) => [b.x * block, b.z * block]),
    ]),
    rest: (at) => at && rest(at.tick),
  };
}
