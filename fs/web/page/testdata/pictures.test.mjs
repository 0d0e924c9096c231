import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { share, shrink } from "../assets/pictures.js";

const chunk = (kind, body) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length);
  head.write(kind, 4, "latin1");
  return [head, body, Buffer.alloc(4)];
};

/** png is a picture of rows of pixels, whose rows have no filter unless one is given. */
function png(kind, width, rows, more = [], filter = 0) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(rows.length, 4);
  head.set([8, kind], 8);
  const data = deflateSync(Buffer.concat(rows.map((row) => Buffer.from([filter, ...row]))));
  return new Blob([Buffer.alloc(8), ...chunk("IHDR", head), ...more.flatMap(([kind, body]) => chunk(kind, Buffer.from(body))),
    ...chunk("IDAT", data.subarray(0, 9)), ...chunk("IDAT", data.subarray(9)), ...chunk("IEND", Buffer.alloc(0))]);
}

test("a picture of colours by number", async () => {
  const rows = [[0, 1, 0, 0, 2], [0, 0, 0, 0, 0], [0, 0, 0, 2, 1]];
  const picture = png(3, 5, rows, [["PLTE", [9, 9, 9, 10, 20, 30, 40, 50, 60]], ["tRNS", [0]]]);
  const [pixels, width, height] = await shrink(picture, 4);
  assert.deepEqual([width, height], [3, 2]);
  const none = [0, 0, 0, 0], one = [10, 20, 30, 255], two = [40, 50, 60, 255];
  assert.deepEqual([...pixels], [...one, ...none, ...two, ...none, ...two, ...one]);
  assert.deepEqual([...(await shrink(picture, 15))[0].subarray(0, 8)], [...none, ...one]);
});

test("a picture of four bytes a pixel", async () => {
  const [pixels, width, height] = await shrink(png(6, 2, [[1, 2, 3, 4, 0, 0, 0, 0], [9, 9, 9, 0, 5, 6, 7, 255]]), 1);
  assert.deepEqual([[...pixels], width, height], [[5, 6, 7, 255], 1, 1]);
  await assert.rejects(shrink(png(6, 1, [[1, 2, 3, 4]], [], 1), 1));
});

test("pictures share what room there is", () => {
  assert.equal(share([]), 48e6);
  assert.equal(share([10e6, 20e6]), 48e6);
  assert.equal(share([100e6, 8e6]), 40e6);
  assert.equal(share([30e6, 30e6, 4e6]), 22e6);
});
