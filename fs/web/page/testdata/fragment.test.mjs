import assert from "node:assert/strict";
import { test } from "node:test";
import { change, parse, Writer } from "../assets/fragment.js";

test("keys are read", () => {
  assert.deepEqual({ ...parse("#t=6001&f=entity%2F2&t=7&x&=y") }, { t: "7", f: "entity/2" });
  assert.deepEqual({ ...parse("#t=%E0%A4") }, { t: "%E0%A4" });
  assert.equal(parse("#__proto__=1").t, undefined);
});

test("keys that nobody knows stay as they are", () => {
  assert.equal(change("#z=%41&t=1&q", { t: 2, s: 4, f: null }), "#z=%41&t=2&q&s=4");
  assert.equal(change("#t=1", { t: null }), "");
  assert.equal(change("", { c: "1,-2,3", f: "a/b&c" }), "#c=1,-2,3&f=a/b%26c");
});

test("at most four writes a second, the last ones always", () => {
  const waiting = [], written = [];
  const win = {
    location: { pathname: "/p", search: "?a", hash: "" },
    history: { state: null, replaceState: (_, __, url) => written.push(url) },
    setTimeout: (f, ms) => { assert.equal(ms, 250); return waiting.push(f); },
    clearTimeout: () => {},
  };
  const w = new Writer(win);
  for (let t = 0; t < 100; t++) w.set({ t });
  assert.equal(waiting.length, 1);
  waiting.pop()();
  assert.deepEqual(written, ["/p?a#t=99"]);
});
