// What can be told of a map without drawing it or asking for more (docs/tree/datafile.md).
import { search } from "./clock.js";
import { plural } from "./dom.js";

/** unit is how many numbers of a position make a tile. */
export const unit = 32;

const named = new Set(["tiles", "game", "front", "tele", "speedup", "switch", "tune"]);
const seven = new Set(["tiles", "game", "front"]);

/** hasTiles tells whether a layer of map.json has a text grid. */
export const hasTiles = (l) => named.has(l.kind) && l.width > 0 && l.height > 0 && typeof l.path === "string";

/** hasPicture tells whether a layer has a picture, if nothing of it is damaged. */
export const hasPicture = (l) => hasTiles(l) && (l.kind === "tiles" ? l.image >= 0 : ["game", "front", "tele"].includes(l.kind));

/** pixels is how large the picture of a layer is, at the scale of preview.png. */
export function pixels(l, width, height) {
  const s = [16, 8, 4, 2].find((s) => width * height * s * s <= 4e6) ?? 1;
  return l.width * l.height * s * s;
}

/** layerName is what people call a layer. */
export const layerName = (l) => `${String(l.index).padStart(2, "0")} ${l.kind}${l.name ? " " + l.name : ""}`;

/** indexes reads a list of numbers with commas, each once and in order. */
export function indexes(text) {
  const all = String(text ?? "").split(",").filter((s) => /^\d{1,9}$/.test(s)).map(Number);
  return [...new Set(all)].sort((a, b) => a - b);
}

/** cellRange is [from, to] of the bytes of a cell in the text grid of a layer, to exclusive; null outside. */
export function cellRange(l, x, y) {
  if (!hasTiles(l) || x < 0 || y < 0 || x >= l.width || y >= l.height) return null;
  const cell = seven.has(l.kind) ? 7 : 8;
  const from = y * (l.width * cell + 1) + x * cell;
  return [from, from + cell];
}

/** shift is how far a group is moved on the screen of a camera, in the numbers of positions. */
export function shift(group, camera) {
  const [px, py] = group?.parallax ?? [100, 100], [ox, oy] = group?.offset ?? [0, 0];
  return [camera.x * (1 - px / 100) - ox, camera.y * (1 - py / 100) - oy];
}

/** spots are the runs of the layers of a comparison that are shown, as one list: [layer, x, y, n]. */
export function spots(diff, shown) {
  const all = [];
  for (const l of diff?.layers ?? []) {
    if (l.a !== null && shown(l.a)) for (const [x, y, n] of l.runs) all.push([l, x, y, n]);
  }
  return all;
}

/** visible are those runs of a layer, in order of rows, that are in rows y0 to y1. */
export function visible(runs, y0, y1) {
  const from = (y) => search(runs.length, (i) => runs[i][1] >= y);
  return runs.slice(from(y0), from(y1 + 1));
}

/** verdict says in a sentence how two maps differ. */
export function verdict(diff) {
  const parts = [];
  const tiles = diff.layers.reduce((n, l) => n + l.differing, 0), layers = diff.layers.filter((l) => l.changed).length;
  if (tiles) parts.push(plural(tiles, "tile"));
  if (layers) parts.push(plural(layers, "layer"));
  if (diff.images.length) parts.push(plural(diff.images.length, "image"));
  if (diff.settings.length) parts.push(plural(diff.settings.length, "line") + " of settings");
  if (diff.other) parts.push(plural(diff.other, "other thing"));
  const unread = diff.errors.length ? ` ${plural(diff.errors.length, "part")} cannot be read.` : "";
  return (parts.length ? `Different: ${parts.join(", ")}.` : "No difference.") + unread;
}

/** fate is what happened to a layer of a comparison, in words. */
export function fate(l) {
  if (l.a === null) return "added";
  if (l.b === null) return "removed";
  if (l.differing) return plural(l.differing, "tile") + " differ" + (l.differing === 1 ? "s" : "");
  return l.changed ? "changed" : "the same";
}
