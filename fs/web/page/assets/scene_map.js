// A map: its layers as the tree draws them, the tile under the cursor, and what another map has else.
import { clean } from "./dom.js";
import { box, frame, grid, stroke } from "./draw.js";
import { getJSON, getRange, latest, pause, root } from "./fetch.js";
import { cellRange, hasTiles, indexes, layerName, shift, spots, unit, verdict, visible } from "./maps.js";
import { comparePanel, itemsPanel, layersPanel } from "./map_panels.js";
import { Pictures } from "./pictures.js";

// Of how many layers the tile under the cursor is asked for.
const mostCells = 64;

/** compareWith promises how another map differs. */
async function compareWith(view, path) {
  const diff = await view.source.get("mapdiff", { with: path });
  const base = new URL(path.split("/").map(encodeURIComponent).join("/") + "/", root), map = await getJSON(new URL("map.json", base));
  const by = new Map(diff.layers.filter((l) => l.a !== null).map((l) => [l.a, l]));
  return {
    diff, by, at: -1, differing: Object.fromEntries([...by].filter(([, l]) => l.differing).map(([a, l]) => [a, l.differing])),
    /** other is the layer of that map that is paired with one of this map, if they differ. */
    other(index) {
      const pair = by.get(index), layer = pair?.differing && map.layers[pair.b];
      return layer && { ...layer, href: new URL(`${layer.path}.txt`, base) };
    },
  };
}

/** scene shows a map. */
export async function scene(view) {
  const map = await getJSON(view.source.file("map.json"));
  const game = map.layers.findLast((l) => l.kind === "game" && hasTiles(l)), whole = game ?? map.layers.find(hasTiles) ?? { width: 1, height: 1 };
  const hidden = new Set(indexes(view.keys.h)), shown = () => map.layers.filter((l) => !hidden.has(l.index));
  let cursor = null, listed = null, visibleLayers = shown(), asked = "", news = 0;
  const changed = () => {
    for (const p of panels) p();
    view.repaint();
  };
  const renew = () => {
    news++;
    changed();
  };

  const state = {
    map, pictures: new Pictures(view, map, game, () => changed()), comparison: null, failure: null,
    tile: null, // {key, x, y, layers: [{index, cell, other}]}
    parallax: false,
    shows: (l) => !hidden.has(l.index),
    show(layers, on) {
      for (const l of layers) on ? hidden.delete(l.index) : hidden.add(l.index);
      visibleLayers = shown();
      listed = null;
      view.link.set({ h: [...hidden].sort((a, b) => a - b).join(",") || null });
      renew();
    },
    compare: latest(async (signal, path) => {
      state.comparison = state.failure = null;
      view.link.set({ b: path || null });
      view.loading = !!path;
      renew();
      if (!path) return;
      const found = await compareWith(view, path);
      signal.throwIfAborted();
      state.comparison = found;
      view.say(verdict(found.diff));
      view.loading = false;
      renew();
    }, (error) => {
      state.failure = error.message;
      view.loading = false;
      renew();
    }),
    /** next goes to the next run of tiles that differ, or the one before. */
    next(way) {
      const { comparison } = state, all = spots(comparison?.diff, (index) => !hidden.has(index));
      if (!all.length) return view.say(comparison ? "No tile of the layers shown differs." : "There is no map to compare with.");
      comparison.at = (comparison.at + way + all.length + (comparison.at < 0 && way < 0 ? 1 : 0)) % all.length;
      const [l, x, y, n] = all[comparison.at];
      view.camera.look((x + n / 2) * unit, (y + 0.5) * unit, Math.min(view.camera.across, Math.max(40, n + 8)));
      cursor = [x, y];
      view.looked();
      view.say(`${comparison.at + 1} of ${all.length}: ${n} tiles from column ${x} of row ${y}, layer ${clean(layerName(map.layers[l.a]), 60)}`);
    },
  };
  const panels = [layersPanel(view, state), comparePanel(view, state)];
  itemsPanel(view, map);
  if (view.keys.b) state.compare(view.keys.b);

  /** tell asks what is at a tile once the hand has rested: one range of the text grid of each layer that is shown. */
  const tell = latest(async (signal, key, x, y) => {
    await pause(80, signal);
    const cell = async (l, href) => {
      const range = cellRange(l, x, y);
      return range ? getRange(href, ...range, signal).then((text) => text.trim(), () => null) : ".";
    };
    const layers = await Promise.all(visibleLayers.filter((l) => cellRange(l, x, y)).slice(0, mostCells).map(async (l) => {
      const other = state.comparison?.other(l.index), theirs = other && cell(other, other.href);
      return { index: l.index, cell: await cell(l, view.source.file(l.path + ".txt")), other: await theirs };
    }));
    signal.throwIfAborted();
    state.tile = { key, x, y, layers };
    changed();
  });

  function drawLayer(ctx, camera, l, img) {
    const group = map.groups[l.group], clip = state.parallax && group?.clipping?.use && group.clipping;
    const [dx, dy] = state.parallax ? shift(group, camera) : [0, 0];
    const wide = l.width * unit, high = l.height * unit;
    const x0 = Math.max(0, camera.wx(0) - dx), x1 = Math.min(wide, camera.wx(camera.width) - dx);
    const y0 = Math.max(0, camera.wy(0) - dy), y1 = Math.min(high, camera.wy(camera.height) - dy);
    if (x0 >= x1 || y0 >= y1) return;
    ctx.save();
    if (clip) {
      box(ctx, camera.sx(clip.x), camera.sy(clip.y), clip.w * camera.scale, clip.h * camera.scale);
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
    ctx.beginPath();
    for (const l of visibleLayers) {
      for (const [x, y, n] of visible(state.comparison.by.get(l.index)?.runs ?? [], y0, y1)) {
        ctx.rect(camera.sx(x * unit), camera.sy(y * unit), Math.max(n * side, 3), Math.max(side, 3));
      }
    }
    stroke(ctx, "#000", 5);
    stroke(ctx, "#ff0", 2);
  }

  function drawCursor(ctx, camera, x, y) {
    const side = Math.max(4, unit * camera.scale);
    box(ctx, camera.sx(x * unit) + 0.5, camera.sy(y * unit) + 0.5, side, side);
    stroke(ctx, view.colors.halo, 3);
    stroke(ctx, view.colors.ink, 1.5, cursor ? [] : [3, 3]);
  }

  return {
    legend: "Layers as the tree draws them; game, front and tele layers by colours. Yellow frames: tiles that differ from the other map.",
    actions: [["n", "", "next tiles that differ", () => state.next(1)], ["N", "", "tiles before that differ", () => state.next(-1)]],
    extent: () => [0, 0, whole.width * unit, whole.height * unit],
    entities: () => [],
    point(x, y) {
      cursor = x === null || x === undefined ? null : [Math.floor(x / unit), Math.floor(y / unit)];
      view.repaint();
    },
    draw(ctx, at, camera) {
      const { pictures, comparison } = state;
      pictures.want(visibleLayers);
      if (camera.scale * unit > 12) grid(ctx, camera, view.colors, unit);
      for (const l of visibleLayers) {
        const img = pictures.of.get(l)?.img;
        if (img) drawLayer(ctx, camera, l, img);
      }
      if (game) frame(ctx, camera, [0, 0, game.width * unit, game.height * unit], view.colors.faint);
      if (comparison) drawDiffering(ctx, camera);
      const [x, y] = cursor ?? [Math.floor(camera.x / unit), Math.floor(camera.y / unit)];
      const key = `${x},${y},${news}`;
      if (key !== asked) tell(asked = key, x, y);
      drawCursor(ctx, camera, x, y);
      view.ready = !pictures.coming && state.tile?.key === key && !view.loading;
    },
    facts: () => ({
      layers: listed ??= Object.freeze(map.layers.map((l) => Object.freeze({ index: l.index, name: l.name, shown: !hidden.has(l.index) }))),
      tile: state.tile && { x: state.tile.x, y: state.tile.y, layers: state.tile.layers.map(({ index, cell }) => ({ index, cell })) },
      differing: state.comparison?.differing ?? null,
    }),
  };
}
