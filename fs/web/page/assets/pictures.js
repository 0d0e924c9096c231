// The pictures of the layers of a map. One that is too large to be held is made smaller while it is read.
import { getBlob } from "./fetch.js";
import { hasPicture, pixels } from "./maps.js";

// What the browser may hold of pictures, in pixels, and how many of them; how many pixels one may have
// to be decoded at once.
const mostPixels = 48e6, mostPictures = 256, mostAtOnce = 16e6;

/** share is how many pixels each of some pictures may have, of which their sizes are known. */
export function share(sizes) {
  let left = mostPixels;
  for (const [i, size] of sizes.sort((a, b) => a - b).entries()) {
    const part = left / (sizes.length - i);
    if (size > part) return part;
    left -= size;
  }
  return mostPixels;
}

/** Pictures fetches those of the layers that are shown, the larger ones coarsely if there is no room for all. */
export class Pictures {
  constructor(view, map, game, changed) {
    Object.assign(this, { view, changed });
    this.size = (l) => pixels(l, game?.width ?? l.width, game?.height ?? l.height);
    this.share = Math.min(mostAtOnce, share(map.layers.filter(hasPicture).slice(0, mostPictures).map(this.size)));
    this.of = new Map(); // layer: {coarse}, with img or error when it is there
    this.coming = 0;
    this.out = 0; // layers that there is no room for
  }

  want(layers) {
    this.out = 0;
    for (const l of layers) {
      if (!hasPicture(l) || this.of.has(l)) continue;
      if (this.of.size >= mostPictures) this.out++;
      else if (this.coming < 4) this.#fetch(l);
    }
  }

  async #fetch(l) {
    const size = this.size(l), picture = { coarse: size > this.share };
    this.of.set(l, picture);
    this.coming++;
    try {
      const png = await getBlob(this.view.source.file(l.path + ".png"));
      if (size > mostAtOnce) picture.img = await createImageBitmap(new ImageData(...await shrink(png, this.share)));
      else picture.img = await createImageBitmap(png);
      if (picture.coarse && size <= mostAtOnce) picture.img = await smaller(picture.img, size / this.share);
    } catch (error) {
      picture.error = error;
    }
    this.coming--;
    this.changed();
  }
}

/** smaller returns a picture with at most one of so many pixels. */
async function smaller(img, times) {
  const part = Math.sqrt(times), size = { resizeWidth: Math.ceil(img.width / part), resizeHeight: Math.ceil(img.height / part) };
  const made = await createImageBitmap(img, { ...size, resizeQuality: "medium" });
  img.close();
  return made;
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
