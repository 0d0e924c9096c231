import assert from "node:assert/strict";
import { test } from "node:test";
import { cast } from "../assets/ground.js";

test("a hook goes as far as the first solid tile", () => {
  const solid = new Uint8Array(10 * 4);
  solid[2 * 10 + 5] = 1;
  const map = { solid, width: 10, height: 4 };
  assert.deepEqual(cast(map, 16, 80, 1, 0, 380), { x: 160, y: 80, hit: true });
  assert.deepEqual(cast(map, 16, 16, 1, 0, 380), { x: 396, y: 16, hit: false });
  assert.deepEqual(cast(map, 16, 80, 1, 0, 100), { x: 116, y: 80, hit: false });
  assert.deepEqual(cast(map, 170, 80, 0, 1, 380), { x: 170, y: 80, hit: true }, "who is inside stays");
  const r = Math.SQRT1_2, to = cast(map, 96, 16, r, r, 380);
  assert.ok(to.hit && Math.abs(to.x - 160) < 1e-9 && Math.abs(to.y - 80) < 1e-9);
  assert.equal(cast({ solid: null }, 0, 0, 0, 1, 380).hit, false);
});
