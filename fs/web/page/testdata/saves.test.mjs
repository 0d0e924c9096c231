import test from "node:test";
import assert from "node:assert/strict";
import { changes, heroText, itemText } from "../assets/saves.js";

test("scalars that changed, of five groups", () => {
  const before = { turn: 1, game: { debug: false }, hero: { hp: 16, name: "A" }, attributes: { str: 3 }, conducts: { food: 0 }, location: { x: 1 }, map: ["a"] };
  const now = { turn: 2, game: { debug: false }, hero: { hp: 13, name: "A", occupation: "digging" }, attributes: { str: 3 }, conducts: { food: 1 }, location: null, map: ["b"] };
  assert.deepEqual(changes(before, now), [
    { path: "hero.hp", from: 16, to: 13 }, { path: "hero.occupation", from: null, to: "digging" },
    { path: "conducts.food", from: 0, to: 1 }, { path: "location.x", from: 1, to: null },
  ]);
  assert.deepEqual(changes(null, now), []);
  assert.deepEqual(changes(now, now), []);
});

test("things and heroes as text", () => {
  assert.equal(itemText({ letter: "a", quantity: 1, object: "long sword", buc: "blessed", buc_known: true, enchantment: 1, worn: "weapon" }), "a - 1 blessed +1 long sword (worn: weapon)");
  assert.equal(itemText({ letter: "b", quantity: 2, object: "dart", enchantment: -1, flags: ["dropped"], name: "x" }), "b - 2 −1 dart (named x, dropped)");
  assert.deepEqual(heroText({ hero: null }), ["This save cannot be read."]);
});
