import test from "node:test";
import assert from "node:assert/strict";
import { cellRange, fate, hasPicture, indexes, pixels, shift, spots, verdict, visible } from "../assets/maps.js";

const layer = (more) => ({ index: 1, kind: "tiles", name: "", width: 48, height: 16, image: 0, path: "layers/x", ...more });

test("a cell is a range of its grid", () => {
  assert.deepEqual(cellRange(layer(), 0, 0), [0, 7]);
  assert.deepEqual(cellRange(layer(), 47, 15), [15 * 337 + 329, 15 * 337 + 336]);
  assert.deepEqual(cellRange(layer({ kind: "tele" }), 2, 1), [385 + 16, 385 + 24]);
  assert.deepEqual(cellRange(layer({ width: 65000, height: 65000 }), 64999, 64999), [64999 * 455001 + 454993, 64999 * 455001 + 455000]);
  for (const [x, y] of [[-1, 0], [0, -1], [48, 0], [0, 16]]) assert.equal(cellRange(layer(), x, y), null);
  for (const l of [layer({ kind: "quads" }), layer({ width: null }), layer({ width: -1 }), layer({ path: null })]) assert.equal(cellRange(l, 0, 0), null);
});

test("pictures", () => {
  assert.equal(pixels(layer(), 48, 16), 48 * 16 * 256);
  assert.equal(pixels(layer({ width: 10000, height: 10000 }), 10000, 10000), 1e8);
  assert.deepEqual([layer(), layer({ image: -1 }), layer({ kind: "game", image: -1 }), layer({ kind: "switch" }), layer({ kind: "quads" })].map(hasPicture), [true, false, true, false, false]);
});

test("hidden layers of a link", () => {
  assert.deepEqual(indexes("3,1,1,x,-2,1e3,,99999999999"), [1, 3]);
  assert.deepEqual(indexes(null), []);
});

test("parallax moves a group with the camera", () => {
  const camera = { x: 1000, y: 400 };
  assert.deepEqual(shift({ parallax: [100, 100], offset: [0, 0] }, camera), [0, 0]);
  assert.deepEqual(shift({ parallax: [0, 50], offset: [32, -8] }, camera), [968, 208]);
  assert.deepEqual(shift(undefined, camera), [0, 0]);
});

const diff = {
  layers: [
    { a: 0, b: 0, differing: 3, changed: true, runs: [[1, 1, 2], [5, 4, 1]], more: 0 },
    { a: 1, b: null, differing: 0, changed: true, runs: [], more: 0 },
    { a: null, b: 1, differing: 0, changed: true, runs: [], more: 0 },
    { a: 2, b: 2, differing: 1, changed: true, runs: [[0, 0, 1]], more: 0 },
    { a: 3, b: 3, differing: 0, changed: false, runs: [], more: 0 },
  ],
  images: [], settings: [{}], other: 2, errors: ["x"],
};

test("what differs", () => {
  assert.deepEqual(spots(diff, (i) => i !== 0).map((s) => s.slice(1)), [[0, 0, 1]]);
  assert.deepEqual(spots(diff, () => true).map((s) => s.slice(1)), [[1, 1, 2], [5, 4, 1], [0, 0, 1]]);
  assert.deepEqual(spots(null, () => true), []);
  assert.deepEqual(visible(diff.layers[0].runs, 2, 9), [[5, 4, 1]]);
  assert.deepEqual(visible(diff.layers[0].runs, 1, 1), [[1, 1, 2]]);
  assert.equal(verdict(diff), "Different: 4 tiles, 4 layers, 1 line of settings, 2 other things. 1 part cannot be read.");
  assert.equal(verdict({ layers: [], images: [], settings: [], other: 0, errors: [] }), "No difference.");
  assert.deepEqual(diff.layers.map(fate), ["3 tiles differ", "removed", "added", "1 tile differs", "the same"]);
});
