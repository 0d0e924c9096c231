import assert from "node:assert/strict";
import { test } from "node:test";
import { advance, dayText, faster, moment, msOf, speeds, stepAt, tickOf, timeText, timeWords } from "../assets/clock.js";

test("the same bytes a second at all speeds", () => {
  assert.deepEqual(speeds.map(stepAt), [1, 1, 2, 4, 8, 16, 32]);
  assert.equal(faster(16, 1), 16);
  assert.equal(faster(0.25, -1), 0.25);
  assert.equal(faster(1, 1), 2);
});

test("times as text and as words", () => {
  assert.equal(timeText(65430), "1:05");
  assert.equal(timeText(65430, true), "1:05.43");
  assert.equal(timeText(3600000), "1:00:00");
  assert.equal(timeText(-1000), "−0:01");
  assert.equal(timeWords(3661000), "1 hour 1 minute 1 second");
  assert.equal(timeWords(0), "0 seconds");
  assert.equal(dayText("2026-11-21T00:49:38Z", 2400), "2026-11-21 00:49:40 UTC");
  assert.equal(dayText(null, 0), "");
});

test("what people write", () => {
  const start = "2026-11-21T23:59:30Z";
  assert.deepEqual(moment(" 6001 "), { tick: 6001 });
  assert.deepEqual(moment("1:02:03.5"), { ms: 3723500 });
  assert.deepEqual(moment("90:00"), { ms: 5400000 });
  assert.deepEqual(moment("@2026-11-22T00:00:30Z", start), { ms: 60000 });
  assert.deepEqual(moment("@00:00:30", start), { ms: 60000 }, "the first one behind the start");
  assert.deepEqual(moment("@23:59:30", start), { ms: 0 });
  for (const text of ["", "x", "1e999", "NaN", "@", "@noon", "1:2", "1:02:03:04", "9".repeat(99), "<b>"]) {
    assert.equal(moment(text, start), null, text);
  }
  assert.equal(moment("@12:00:00", null), null, "a recording without times has none");
});

test("playing", () => {
  assert.equal(advance(100, 40, 2, 1000, 20), 104);
  assert.equal(advance(999, 1000, 16, 1000, 20), 1000, "it ends at the end");
  const b = { first: 10, step: 1, frames: 3, last: 12, ms: [0, 100, 400] };
  const next = { first: 13, step: 1, frames: 2, last: 14, ms: [500, 600] };
  assert.equal(msOf(b, 11.5), 250);
  assert.equal(tickOf(b, 250), 11.5);
  assert.equal(advance(10, 250, 1, 99, null, b), 11.5);
  assert.equal(advance(11, 350, 1, 99, null, b), 12, "it waits for the next block");
  assert.equal(advance(11, 350, 1, 99, null, b, next), 12.5);
  const still = { first: 0, step: 1, frames: 3, last: 2, ms: [5, 5, 5] };
  assert.equal(tickOf(still, 5), 0);
  assert.equal(advance(0, 16, 1, 2, null, still), 2, "frames of one moment pass at once");
  const odd = { first: 0, step: 2, frames: 3, last: 4, ms: [0, 66, 133] };
  assert.equal(advance(4, 16, 1, 5, null, odd), 5, "the last tick has no frame of its own");
  assert.equal(advance(4, 16, 1, 6, null, odd), 4);
  const rest = { first: 0, step: 1, frames: 4, last: 3, ms: [0, 9e8, 8e8, 8e8 + 500] };
  assert.equal(advance(0, 1000, 1, 3, null, rest), 0.5, "a game that rested for days waits 2 s");
  assert.equal(advance(0, 2250, 1, 3, null, rest), 2.5, "a clock that was set back does not stop it");
});
