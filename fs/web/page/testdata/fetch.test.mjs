import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure, dataURL, failureOf, fetched, getData, getJSON, parse, persist, root, waitOf } from "../assets/fetch.js";
import { timeText } from "../assets/clock.js";
import { clean, moment, size } from "../assets/dom.js";

test("waits double to half a minute", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 40].map(waitOf), [1000, 2000, 4000, 8000, 16000, 30000, 30000]);
});

test("URLs begin at the root of the tree", () => {
  assert.equal(dataURL("about", "a%20b/c", { q: "x&y", none: "", nothing: null }).href, root.href + ".view/1/about/a%20b/c?q=x%26y");
  assert.equal(dataURL("list").href, root.href + ".view/1/list");
});

test("an answer is whole and of this version", () => {
  assert.deepEqual(parse('{"v":1,"rows":[]}'), { v: 1, rows: [] });
  assert.throws(() => parse('{"v":1,"ro'), (e) => e instanceof Failure && e.again);
  for (const other of ['{"v":2}', "null", "[]", '"x"']) assert.throws(() => parse(other), (e) => e instanceof Failure && !e.again);
});

test("failures are one sentence", () => {
  for (const [status, again] of [[400, false], [401, false], [404, false], [500, false], [503, true], [504, true], [502, true], [418, false]]) {
    const f = failureOf(status, "damaged: a thing\n".repeat(1000));
    assert.equal(f.again, again, String(status));
    assert.match(f.message, /^[^\n]{5,400}$/);
  }
});

test("it asks until there is an answer", async () => {
  const told = [];
  let left = 2;
  globalThis.fetch = async () => {
    if (left-- > 0) throw new TypeError("network");
    return new Response('{"v":1,"x":"é"}');
  };
  const before = { ...fetched };
  const value = await persist(() => getData(dataURL("list")), (f) => {
    told.push(f?.wait ?? null);
    f?.retry();
  });
  assert.equal(value.x, "é");
  assert.deepEqual(told, [1000, 2000, null]);
  assert.deepEqual([fetched.requests - before.requests, fetched.bytes - before.bytes], [3, 16]);
});

test("a server in trouble is asked again, and one of another version is not", async () => {
  const answers = [
    () => Promise.reject(new TypeError("refused")), () => new Response("busy\n", { status: 503 }), () => new Response('{"v":1,"ro'),
    () => new Response(new ReadableStream({ start: (c) => c.error(new TypeError("cut")) })), () => new Response('{"v":1,"rows":[]}'),
  ];
  const told = [];
  globalThis.fetch = async () => answers.shift()();
  await persist(() => getData(dataURL("list")), (f) => {
    told.push(f && [f.wait, f.sentence]);
    f?.retry();
  });
  assert.deepEqual(told, [
    [1000, "The server does not answer."], [2000, "The server is busy, or what it shows has just changed."],
    [4000, "The server sent half an answer."], [8000, "The server stopped in the middle of an answer."], null,
  ]);
  globalThis.fetch = async () => new Response('{"v":2}');
  await assert.rejects(persist(() => getData(dataURL("list")), () => assert.fail("it asks again")), /another version/);
  globalThis.fetch = async () => new Response('{"tick":');
  await assert.rejects(getJSON(dataURL("list")), (e) => e instanceof Failure && e.again);
});

test("who ended the question hears no failure", async () => {
  const ended = new AbortController();
  globalThis.fetch = async () => {
    throw new TypeError("network");
  };
  const asked = persist(() => getData(dataURL("list"), ended.signal), () => ended.abort(), ended.signal);
  await assert.rejects(asked, { name: "AbortError" });
});

test("numbers are words", () => {
  assert.deepEqual([0, 59999, 60000, 3599000, 3600000, 360000000].map((ms) => timeText(ms)), ["0:00", "0:59", "1:00", "59:59", "1:00:00", "100:00:00"]);
  assert.deepEqual([0, 999, 1000, 99400, 1e6, 2.5e9, 9e14].map(size), ["0 B", "999 B", "1.0 kB", "99.4 kB", "1.0 MB", "2.5 GB", "900.0 TB"]);
  assert.equal(moment("2026-11-21T18:05:06.123Z", true), "2026-11-21 18:05:06");
  assert.equal(clean("a\u0000b\u202ec\nd"), "a\ufffdb\ufffdc\ufffdd");
  assert.equal(clean("😀".repeat(400)).length, 499);
});
