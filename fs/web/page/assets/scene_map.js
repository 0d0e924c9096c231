// A map: its layers as the tree draws them, the tile under the cursor, and what another map has else.
import { clean } from "./dom.js";
import { frame, grid } from "./draw.js";
import { getJSON, getRange, root } from "./fetch.js";
import { cellRange, hasTiles, indexes, layerName, shift, spots, unit, visible } from "./maps.js";
import { comparePanel, itemsPanel, layersPanel } from "./map_panels.js";
import { Pictures } from "./pictures.js";

// Of how many layers the tile under the cursor is asked for.
const mostCells = 64;

/** Cells tells what is at a tile: one range of the text grid of each layer that is shown. */
class Cells {
  constructor(view, changed) {
    Object.assign(this, { view, changed });
    this.tile = null; // {x, y, layers: [{index, cell}], now: {index: cell}}
  }

  get pending() { return !!this.control; }

  /** ask looks at a tile once the hand has rested; others() gives the grid of the same layer elsewhere. */
  ask(x, y, layers, other) {
    const key = `${x},${y},${layers.length}`;
    if (key === this.key) return;
    this.key = key;
    clearTimeout(this.timer);
    this.control?.abort();
    this.control = new AbortController();
    const { signal } = this.control;
    this.timer = setTimeout(() => this.#fetch(x, y, layers, other, signal), 80);
  }

  async #fetch(x, y, layers, other, signal) {
    const there = layers.filter((l) => cellRange(l, x, y)).slice(0, mostCells);
    const cell = (l, href) => getRange(href, ...cellRange(l, x, y), signal).then((text) => text.trim(), () => null);
    const cells = await Promise.all(there.map((l) => cell(l, this.view.source.file(l.path + ".txt"))));
    const now = {};
    await Promise.all(there.map(async (l) => {
      const o = other(l);
      if (o) now[l.index] = cellRange(o.layer, x, y) ? await cell(o.layer, o.file) : ".";
    }));
    if (signal.aborted) return;
    this.control = null;
    this.tile = { x, y, now, layers: there.map((l, i) => ({ index: l.index, cell: cells[i] })) };
    this.changed();
  }

  /** again asks anew for the same tile. */
  again() { this.key = null; }
}

/** Comparison is a map beside another one. */
class Comparison {
  constructor(path, diff, other) {
    Object.assign(this, { path, diff });
    this.by = new Map(diff.layers.filter((l) => l.a !== null).map((l) => [l.a, l]));
    this.other = other;
    this.at = -1;
  }

  static async load(view, path, signal) {
    const diff = await view.source.get("mapdiff", { with: path }, signal);
    const escaped = path.split("/").map(encodeURIComponent).join("/");
    const map = await getJSON(new URL(`${escaped}/map.json`, root), signal);
    return new Comparison(path, diff, (pair) => {
      const layer = pair?.differing && map.layers[pair.b];
      return layer && { layer, file: new URL(`${escaped}/${layer.path}.txt`, root) };
    });
  }

  /** differing is how many cells differ, by the index of the layer. */
  get differing() { return Object.fromEntries(this.diff.layers.filter((l) => l.a !== null && l.differing).map((l) => [l.a, l.differing])); }
}

/** scene shows a map. */
export async function scene(view) {
  const map = await getJSON(view.source.file("map.json"));
  const game = map.layers.findLast((l) => l.kind === "game" && hasTiles(l));
  const hidden = new Set(indexes(view.keys.h));
  let parallax = false, cursor = null, comparison = null, listed = null, panel;
  const shown = () => map.layers.filter((l) => !hidden.has(l.index));
  const changed = () => { panel?.update(); view.repaint(); };
  const pictures = new Pictures(view, map, game, changed), cells = new Cells(view, changed);
  let visibleLayers = shown();

  const act = {
    shows: (l) => !hidden.has(l.index),
    show(layers, on) {
      for (const l of layers) on ? hidden.delete(l.index) : hidden.add(l.index);
      visibleLayers = shown();
      listed = null;
      cells.again();
      view.link.set({ h: [...hidden].sort((a, b) => a - b).join(",") || null });
      changed();
    },
    parallax(on) { parallax = on; view.repaint(); },
    async compare(path) {
      comparison = null;
      view.link.set({ b: path || null });
      cells.again();
      changed();
      if (!path) return;
      view.loading = true;
      try {
        comparison = await Comparison.load(view, path);
        view.say(panel.verdict(comparison.diff));
      } catch (error) {
        panel.failed(error.message);
      }
      view.loading = false;
      cells.again();
      changed();
    },
    /** next goes to the next run of tiles that differ, or the one before. */
    next(way) {
      const all = spots(comparison?.diff, (index) => !hidden.has(index));
      if (!all.length) return view.say(comparison ? "No tile of the layers shown differs." : "There is no map to compare with.");
      comparison.at = (comparison.at + way + all.length + (comparison.at < 0 && way < 0 ? 1 : 0)) % all.length;
      const [l, x, y, n] = all[comparison.at];
      view.camera.look((x + n / 2) * unit, (y + 0.5) * unit, Math.min(view.camera.across, Math.max(40, n + 8)));
      cursor = [x, y];
      view.looked();
      view.say(`${comparison.at + 1} of ${all.length}: ${n} tiles from column ${x} of row ${y}, layer ${clean(layerName(map.layers[l.a]), 60)}`);
    },
  };
  const state = { map, pictures, cells, get comparison() { return comparison; } };
  const layers = layersPanel(view, state, act), compare = comparePanel(view, state, act);
  itemsPanel(view, map);
  panel = { ...compare, update() { layers.update(); compare.update(); } };
  if (view.keys.b) act.compare(view.keys.b);

  function drawLayer(ctx, camera, l, img) {
    const group = map.groups[l.group], clip = parallax && group?.clipping?.use && group.clipping;
    const [dx, dy] = parallax ? shift(group, camera) : [0, 0];
    const wide = l.width * unit, high = l.height * unit;
    const x0 = Math.max(0, camera.wx(0) - dx), x1 = Math.min(wide, camera.wx(camera.width) - dx);
    const y0 = Math.max(0, camera.wy(0) - dy), y1 = Math.min(high, camera.wy(camera.height) - dy);
    if (x0 >= x1 || y0 >= y1) return;
    ctx.save();
    if (clip) {
      ctx.beginPath();
      ctx.rect(camera.sx(clip.x), camera.sy(clip.y), clip.w * camera.scale, clip.h * camera.scale);
      ctx.clip();
    }
    const px = img.width / wide, py = img.height / high;
    ctx.imageSmoothingEnabled = camera.scale < px;
    ctx.globalAlpha = l.kind === "tiles" ? 1 : 0.55;
    ctx.drawImage(img, x0 * px, y0 * py, (x1 - x0) * px, (y1 - y0) * py,
      camera.sx(x0 + dx), camera.sy(y0 + dy), (x1 - x0) * camera.scale, (y1 - y0) * camera.scale);
    ctx.restore();
  }

  /** drawDiffering frames tiles that differ: light within dark, so that it is seen on anything. */
  function drawDiffering(ctx, camera) {
    const y0 = Math.floor(camera.wy(0) / unit), y1 = Math.ceil(camera.wy(camera.height) / unit), side = unit * camera.scale;
    for (const l of visibleLayers) {
      const runs = visible(comparison.by.get(l.index)?.runs ?? [], y0, y1);
      if (!runs.length) continue;
      ctx.beginPath();
      for (const [x, y, n] of runs) ctx.rect(camera.sx(x * unit), camera.sy(y * unit), Math.max(n * side, 3), Math.max(side, 3));
      for (const [width, color] of [[5, "#000"], [2, "#ff0"]]) {
        ctx.lineWidth = width;
        ctx.strokeStyle = color;
        ctx.stroke();
      }
    }
  }

  function drawCursor(ctx, camera, x, y) {
    const side = Math.max(4, unit * camera.scale);
    for (const [width, color] of [[3, view.colors.halo], [1.5, view.colors.ink]]) {
      ctx.setLineDash(cursor || width === 3 ? [] : [3, 3]);
      ctx.lineWidth = width;
      ctx.strokeStyle = color;
      ctx.strokeRect(camera.sx(x * unit) + 0.5, camera.sy(y * unit) + 0.5, side, side);
    }
    ctx.setLineDash([]);
  }

  return {
    legend: "Layers as the tree draws them; game, front and tele layers by colours. Yellow frames: tiles that differ from the other map.",
    actions: [["n", "", "next tiles that differ", () => act.next(1)], ["N", "", "tiles before that differ", () => act.next(-1)]],
    extent: () => [0, 0, (game ?? map.layers.find(hasTiles))?.width * unit || unit, (game ?? map.layers.find(hasTiles))?.height * unit || unit],
    entities: () => [],
    point(x, y) {
      cursor = x === null || x === undefined ? null : [Math.floor(x / unit), Math.floor(y / unit)];
      view.repaint();
    },
    draw(ctx, at, camera) {
      pictures.want(visibleLayers);
      if (camera.scale * unit > 12) grid(ctx, camera, view.colors, unit);
      for (const l of visibleLayers) {
        const img = pictures.of.get(l)?.img;
        if (img) drawLayer(ctx, camera, l, img);
      }
      if (game) frame(ctx, camera, [0, 0, game.width * unit, game.height * unit], view.colors.faint);
      if (comparison) drawDiffering(ctx, camera);
      const [x, y] = cursor ?? [Math.floor(camera.x / unit), Math.floor(camera.y / unit)];
      cells.ask(x, y, visibleLayers, (l) => comparison?.other(comparison.by.get(l.index)));
      drawCursor(ctx, camera, x, y);
      view.ready = !pictures.coming && !cells.pending && !view.loading;
    },
    facts: () => ({
      layers: listed ??= Object.freeze(map.layers.map((l) => Object.freeze({ index: l.index, name: l.name, shown: !hidden.has(l.index) }))),
      tile: cells.tile && { x: cells.tile.x, y: cells.tile.y, layers: cells.tile.layers },
      differing: comparison?.differing ?? null,
    }),
  };
}
