// The map under a recording: which tiles are solid first, its picture later, a grid without any.
import { frame, grid } from "./draw.js";

const solids = new Set([0x8a6d4f, 0x4d525c]); // of collision.png: hookable, unhookable
const air = 0xf2f2ee;
const most = 16e6; // tiles that are looked at one by one

const image = (url) => new Promise((done, failed) => {
  const i = new Image();
  i.onload = () => done(i);
  i.onerror = () => failed(new Error("no picture"));
  i.src = url;
});

/** read makes of collision.png what is solid, and a picture in which air lets the paper through. */
function read(picture, width, height) {
  const solid = new Uint8Array(width * height), sheet = new OffscreenCanvas(width, height), out = sheet.getContext("2d");
  const strip = new OffscreenCanvas(width, 64).getContext("2d", { willReadFrequently: true });
  for (let top = 0; top < height; top += 64) {
    const high = Math.min(64, height - top);
    strip.drawImage(picture, 0, top, width, high, 0, 0, width, high);
    const data = strip.getImageData(0, 0, width, high), p = data.data;
    for (let i = 0; i < width * high; i++) {
      const color = (p[4 * i] << 16) | (p[4 * i + 1] << 8) | p[4 * i + 2];
      if (solids.has(color)) solid[top * width + i] = 1;
      if (color === air) p[4 * i + 3] = 0;
    }
    out.putImageData(data, 0, top);
  }
  return { solid, sheet };
}

/** ground is the map of a view: draw(ctx, camera, colors), picture() once there is time for it. */
export function ground(view) {
  const { map, bounds } = view.about, g = { width: 0, height: 0, solid: null, bounds: null, picture() {} };
  let sheet = null, fine = null;
  if (map) {
    Object.assign(g, { width: map.width, height: map.height, bounds: [0, 0, map.width * 32, map.height * 32] });
    image(view.source.url(map.solid)).then((i) => {
      ({ solid: g.solid, sheet } = i.width * i.height <= most ? read(i, i.width, i.height) : { solid: null, sheet: i });
      view.repaint();
    }, () => {});
    g.picture = () => {
      g.picture = () => {};
      if (map.picture) image(view.source.url(map.picture)).then((i) => { fine = i; view.repaint(); }, () => {});
    };
  }
  g.draw = (ctx, camera, c) => {
    if (!sheet) {
      grid(ctx, camera, c, 32);
      if (bounds ?? g.bounds) frame(ctx, camera, bounds ?? g.bounds, c.ground);
    }
    ctx.imageSmoothingEnabled = !!fine;
    const picture = fine ?? sheet;
    if (picture) ctx.drawImage(picture, camera.sx(0), camera.sy(0), g.width * 32 * camera.scale, g.height * 32 * camera.scale);
  };
  return g;
}

/** cast goes from a place in a direction (of length 1) to where it enters a solid tile, or its reach. */
export function cast(map, x, y, dx, dy, reach) {
  const { solid, width, height } = map, far = { x: x + dx * reach, y: y + dy * reach, hit: false };
  if (!solid) return far;
  const inside = (n, size) => Math.max(0, Math.min(n, size - 1));
  let i = Math.floor(x / 32), j = Math.floor(y / 32), t = 0;
  const si = Math.sign(dx), sj = Math.sign(dy);
  while (t <= reach) {
    if (solid[inside(j, height) * width + inside(i, width)]) return { x: x + dx * t, y: y + dy * t, hit: true };
    const tx = si ? ((i + (si > 0)) * 32 - x) / dx : Infinity, ty = sj ? ((j + (sj > 0)) * 32 - y) / dy : Infinity;
    t = Math.min(tx, ty);
    if (tx <= ty) i += si;
    else j += sj;
  }
  return far;
}
