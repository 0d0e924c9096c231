import assert from "node:assert/strict";
import { test } from "node:test";
import { Blocks } from "../assets/blocks.js";
import { isAnother } from "../assets/watch.js";

const turn = () => new Promise((done) => setImmediate(done));

/** desk is a Blocks whose requests are answered by hand: asked holds {block, step, signal, done, fail}. */
function desk(keep) {
  const asked = [], told = [];
  const blocks = new Blocks(250, (block, step, signal) => new Promise((done, fail) => {
    signal.addEventListener("abort", () => fail(new Error("aborted")));
    asked.push({ block, step, signal, done: () => done({ block, step, first: block * 250 * step, last: (block + 1) * 250 * step - step, frames: 250 }), fail });
  }), (found) => told.push(found), keep);
  return { blocks, asked, told };
}

test("what is wanted is asked for once, all else is given up", async () => {
  const { blocks, asked, told } = desk();
  blocks.want([[6001, 2], [6501, 2]]);
  blocks.want([[6002, 2], [6502, 2]]);
  assert.deepEqual(asked.map((a) => [a.block, a.step]), [[12, 2], [13, 2]]);
  asked[0].done();
  await turn();
  assert.equal(blocks.look(6499, 2).block.block, 12);
  assert.equal(blocks.look(6499, 1), undefined);
  blocks.want([[0, 1]]);
  assert.ok(asked[1].signal.aborted && !asked[2].signal.aborted);
  await turn();
  assert.equal(told.length, 1, "what was given up is no failure");
  asked[2].fail(new Error("damaged"));
  await turn();
  assert.equal(blocks.look(3, 1).error.message, "damaged");
});

test("the blocks looked at last are kept", async () => {
  const { blocks, asked } = desk(2);
  for (const tick of [0, 250, 500]) {
    blocks.want([[tick, 1]]);
    asked.at(-1).done();
    await turn();
    blocks.look(0, 1);
  }
  assert.ok(blocks.look(0, 1) && !blocks.look(250, 1) && blocks.look(500, 1));
});

test("any is the finest that has the tick", async () => {
  const { blocks, asked } = desk();
  blocks.want([[0, 32], [250, 1]]);
  asked.forEach((a) => a.done());
  await turn();
  assert.equal(blocks.any(300).step, 1);
  assert.equal(blocks.any(500).step, 32);
  assert.equal(blocks.any(8000), undefined);
  blocks.forget(7999);
  assert.equal(blocks.any(500), undefined, "a block whose end may be another now is dropped");
  assert.equal(blocks.any(300).step, 1);
});

test("a recording that goes on is no other one", () => {
  const was = { kind: "tee", start: "a", first: 5, last: 9, finished: false };
  assert.equal(isAnother(was, { ...was, last: 12, finished: true }), false);
  assert.equal(isAnother({ ...was, first: null, last: null }, was), false);
  for (const is of [{ last: 8 }, { first: 6 }, { start: "b" }, { kind: "hcrp" }]) assert.ok(isAnother(was, { ...was, ...is }));
  assert.ok(isAnother({ ...was, finished: true }, was));
});
