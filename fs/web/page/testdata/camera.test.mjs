import assert from "node:assert/strict";
import { test } from "node:test";
import { Camera } from "../assets/camera.js";

const camera = () => {
  const c = new Camera(32);
  c.size(640, 320);
  c.look(1000, 500, 20);
  return c;
};

test("pixels and places", () => {
  const c = camera();
  assert.equal(c.scale, 1);
  assert.equal(c.sx(1000), 320);
  assert.equal(c.wy(c.sy(77)), 77);
  assert.ok(c.sees(1320, 500) && !c.sees(1321, 500) && c.sees(1321, 500, 1));
});

test("pan, zoom, size, fit", () => {
  const c = camera();
  c.pan(10, -5);
  assert.deepEqual([c.x, c.y], [990, 505]);
  const x = c.wx(100), y = c.wy(50);
  c.zoom(2, 100, 50);
  assert.deepEqual([c.wx(100), c.wy(50), c.across], [x, y, 10]);
  c.size(320, 320);
  assert.equal(c.across, 10, "what is seen across stays");
  c.fit([0, 0, 3200, 6400]);
  assert.deepEqual([c.x, c.y, c.across], [1600, 3200, 204]);
  c.fit([-(2 ** 31), -(2 ** 31), 2 ** 31, 2 ** 31]);
  assert.ok(c.sees(-(2 ** 31), 2 ** 31));
});

test("the camera of a link", () => {
  const c = camera();
  assert.ok(c.read("96,-32,40"));
  assert.equal(c.text(), "96,-32,40");
  for (const text of ["", "1,2", "1,2,0", "1,2,-3", "a,b,c", "1,,3", "1,2,Infinity", "NaN,0,4"]) {
    assert.equal(c.read(text), false, text);
  }
  assert.equal(c.text(), "96,-32,40");
  c.read("1e300,-1e300,1e300");
  assert.ok(Number.isFinite(c.sx(0)) && c.scale > 0);
});
