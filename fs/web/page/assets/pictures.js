// The pictures of the layers of a map. One that is too large to be held is made smaller while it is read.
import { getBlob } from "./fetch.js";
import { hasPicture, pixels } from "./maps.js";

// What the browser may hold of pictures, in pixels, and how many of them; of how many pixels one is
// held as it is, and how many one has that is not.
const mostPixels = 48e6, mostPictures = 256, mostOfOne = 16e6, coarsePixels = 4e6;

/** Pictures fetches those of the layers that are shown, as many as there is room for. */
export class Pictures {
  constructor(view, map, game, changed) {
    Object.assign(this, { view, map, game, changed });
    this.of = new Map(); // layer: {coarse}, with img or error when it is there
    this.left = mostPixels;
    this.coming = 0;
    this.out = 0; // layers that there is no room for
  }

  want(layers) {
    this.out = 0;
    for (const l of layers) {
      if (!hasPicture(l) || this.of.has(l)) continue;
      const whole = pixels(l, this.game?.width ?? l.width, this.game?.height ?? l.height), coarse = whole > mostOfOne;
      const room = coarse ? coarsePixels : whole;
      if (room > this.left || this.of.size >= mostPictures) this.out++;
      else if (this.coming < 4) this.#fetch(l, room, coarse);
    }
  }

  async #fetch(l, room, coarse) {
    const picture = { coarse };
    this.of.set(l, picture);
    this.left -= room;
    this.coming++;
    try {
      const png = await getBlob(this.view.source.file(l.path + ".png"));
      picture.img = await createImageBitmap(coarse ? new ImageData(...await shrink(png, coarsePixels)) : png);
    } catch (error) {
      picture.error = error;
      this.left += room;
    }
    this.coming--;
    this.changed();
  }
}

/**
 * shrink returns the pixels, width and height of a PNG of the tree made smaller, row by row. A pixel shows
 * one of its square that is not clear, if there is one.
 */
export async function shrink(png, most) {
  const chunks = {}, data = [];
  for (let at = 8, n; at < png.size; at += n + 12) {
    n = new DataView(await png.slice(at, at + 4).arrayBuffer()).getUint32(0);
    const kind = await png.slice(at + 4, at + 8).text(), body = png.slice(at + 8, at + 8 + n);
    if (kind === "IDAT") data.push(body);
    else chunks[kind] = new Uint8Array(await body.arrayBuffer());
  }
  const head = new DataView(chunks.IHDR.buffer), width = head.getUint32(0), height = head.getUint32(4), indexed = head.getUint8(9) === 3;
  const colors = new Uint8Array(1024).fill(255), table = new Uint32Array(colors.buffer);
  for (let i = 0; i < table.length; i++) {
    colors.set(chunks.PLTE?.subarray(3 * i, 3 * i + 3) ?? [], 4 * i);
    colors[4 * i + 3] = chunks.tRNS?.[i] ?? 255;
  }
  const side = Math.ceil(Math.sqrt(width * height / most)), wide = Math.ceil(width / side), high = Math.ceil(height / side);
  const out = new Uint32Array(wide * high), row = new Uint8Array(4 + width * (indexed ? 1 : 4)); // from 3 on: a filter and pixels
  const at = indexed ? row.subarray(4) : new Uint32Array(row.buffer, 4);
  const reader = new Blob(data).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  for (let y = 0, end = 3; ;) {
    const { done, value } = await reader.read();
    if (done) return [new Uint8ClampedArray(out.buffer), wide, high];
    for (let i = 0, n; i < value.length; i += n) {
      n = Math.min(value.length - i, row.length - end);
      row.set(value.subarray(i, i + n), end);
      if ((end += n) < row.length) continue;
      if (row[3]) throw new Error("a filter");
      for (let x = 0, to = wide * Math.floor(y / side); x < width; x++) {
        const color = indexed ? table[at[x]] : at[x];
        if (color >>> 24) out[to + Math.floor(x / side)] = color;
      }
      y++;
      end = 3;
    }
  }
}
