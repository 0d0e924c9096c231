import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, places, runs, stateAt, sums } from "../assets/columns.js";

const track = (id, at, x, more) => ({
  id, name: "n" + id, team: "0", kind: "tee", at, n: x.length, x, y: x.map(() => 0), a: null, s: null, ...more,
});
const block = (b, step, tracks, more) => ({
  v: 1, block: b, step, first: b * 4 * step, frames: 4, tracks, events: [], events_more: 0, ...more,
});
const xs = (s) => s.entities.map((e) => e.x);

test("columns are differences and runs", () => {
  assert.deepEqual([...sums([5, -2, 0, 2147483647])], [5, 3, 3, 2147483650]);
  assert.equal(sums(null), null);
  assert.deepEqual(runs([2, 1, 1, "b"], 9), [1, 1, "b"]);
  assert.deepEqual(runs([1e9, 1], 3), [1, 1, 1]);
  assert.equal(runs(undefined, 3), null);
});

test("a state is that of its tick", () => {
  const b = decode(block(1, 2, [track(7, 1, [100, 10, 10], { a: [250, 12, 0], s: [1, 3, 2, 1] })]));
  assert.equal(b.last, 14);
  assert.deepEqual(stateAt(b, 8).entities, []);
  assert.deepEqual(stateAt(b, 10).entities[0], { id: 7, name: "n7", team: "0", kind: "tee", x: 100, y: 0, z: null, a: 250, s: 3 });
  const between = stateAt(b, 11).entities[0];
  assert.equal(between.x, 105);
  assert.equal(between.a, 0, "the aim takes the short way");
  assert.equal(stateAt(b, 99).entities[0].x, 120, "behind the end the last frame stays");
});

test("lines go on in the next block and into the track that follows", () => {
  const b = decode(block(0, 1, [track("e", 0, [0, 8]), track("e", 2, [16, 8])]));
  const next = decode(block(1, 1, [track("e", 0, [32, 0, 0, 0])]));
  assert.deepEqual(xs(stateAt(b, 1.5)), [12]);
  assert.deepEqual(xs(stateAt(b, 3.5, next)), [28]);
  assert.deepEqual(xs(stateAt(b, 3.5)), [24]);
  assert.deepEqual(xs(stateAt(b, 3.5, decode(block(2, 1, [])))), [24], "another block is not the next");
});

test("no line across a teleport", () => {
  const b = decode(block(0, 1, [track(1, 0, [0, 160, 161, 0])]));
  assert.deepEqual(xs(stateAt(b, 0.5)), [80]);
  assert.deepEqual(xs(stateAt(b, 1.5)), [160]);
  assert.deepEqual(xs(stateAt(b, 1.5, null, "m")), [240.5], "five metres are 500");
});

test("what is not known stays null", () => {
  const b = decode(block(0, 1, [{ ...track(1, 0, [1, 1]), x: null, y: null }]));
  const e = stateAt(b, 0.5).entities[0];
  assert.deepEqual([e.x, e.y, e.a, e.s], [null, null, null, null]);
  assert.deepEqual(places(b, 1, 0, 9), []);
});

test("the game and the screens", () => {
  const b = decode(block(0, 1, [], {
    game: { clock: [9, 8, 7, 6], blue: [4, 2], orange: [1, 0, 3, 1], status: [4, "playing"] },
    ticks: [0, 1, 2, 3], turns: [1, 1, 1, 2], screens: [["a", "b"], [null, "c"], null, ["d", null]],
  }));
  assert.deepEqual(stateAt(b, 2).game, { clock: 7, blue: 2, orange: 1, status: "playing" });
  assert.deepEqual([0, 1, 2, 3].map((t) => stateAt(b, t).screen), [["a", "b"], ["a", "c"], null, ["d", "c"]]);
});

test("places are those between two ticks", () => {
  const b = decode(block(0, 2, [track(-1, 0, [5, 1, 1, 1], { z: [1, 1, 1, 1] })]));
  assert.deepEqual(places(b, -1, 2, 5), [[6, 0, 2], [7, 0, 3]]);
});

test("a crowd at the ends of 32 bits is shown, and hostile counts end", () => {
  const ends = [-(2 ** 31), 2 ** 32 - 1, -(2 ** 32) + 1, 0];
  const b = decode(block(8589934, 1, Array.from({ length: 1024 }, (_, i) => track(i, 0, ends, { name: "<b>".repeat(20000), s: [1e15, 1] }))));
  const s = stateAt(b, b.first + 1.5);
  assert.equal(s.entities.length, 1024);
  assert.ok(s.entities.every((e) => e.x === 2147483647 && e.s === 1), "no line from end to end");
  assert.equal(b.tracks[0].s.length, 4);
  assert.deepEqual(stateAt(decode({ ...block(0, 1, []), frames: 1 }), 2147483647).entities, []);
});
