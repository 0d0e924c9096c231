// What part of the world the canvas shows: the middle in the numbers of frames, and CSS pixels per one.

/** Camera turns numbers of frames into CSS pixels of the canvas and back. */
export class Camera {
  /** per: how many numbers make a tile, block or metre. */
  constructor(per) {
    this.per = per;
    this.x = this.y = 0;
    this.scale = 1;
    this.width = this.height = 1;
  }

  /** across is how many tiles, blocks or metres are seen. */
  get across() { return this.width / (this.scale * this.per); }

  /** size follows the canvas; what is seen across stays. */
  size(width, height) {
    if (width < 1 || height < 1) return;
    const across = this.across;
    this.width = width;
    this.height = height;
    this.look(this.x, this.y, across);
  }

  sx(x) { return (x - this.x) * this.scale + this.width / 2; }
  sy(y) { return (y - this.y) * this.scale + this.height / 2; }
  wx(sx) { return (sx - this.width / 2) / this.scale + this.x; }
  wy(sy) { return (sy - this.height / 2) / this.scale + this.y; }

  /** sees tells whether a place is on the canvas, with a margin in CSS pixels. */
  sees(x, y, margin = 0) {
    const sx = this.sx(x), sy = this.sy(y);
    return sx >= -margin && sy >= -margin && sx <= this.width + margin && sy <= this.height + margin;
  }

  /** look at a place; across in tiles is kept between 2 and all that 32 bits can say. */
  look(x, y, across) {
    const far = 2 ** 33;
    const wide = Math.max(2, Math.min(across, far / this.per));
    this.x = Math.max(-far, Math.min(x, far));
    this.y = Math.max(-far, Math.min(y, far));
    this.scale = this.width / (wide * this.per);
  }

  /** pan by CSS pixels. */
  pan(dx, dy) { this.look(this.x - dx / this.scale, this.y - dy / this.scale, this.across); }

  /** zoom by a factor around a pixel, which keeps showing what it shows. */
  zoom(by, sx = this.width / 2, sy = this.height / 2) {
    const x = this.wx(sx), y = this.wy(sy);
    this.look(this.x, this.y, this.across / by);
    this.x += x - this.wx(sx);
    this.y += y - this.wy(sy);
  }

  /** fit shows [x0, y0, x1, y1] with two tiles around. */
  fit([x0, y0, x1, y1]) {
    const wide = (x1 - x0) / this.per + 4, high = (y1 - y0) / this.per + 4;
    this.look((x0 + x1) / 2, (y0 + y1) / 2, Math.max(wide, (high * this.width) / this.height, 12));
  }

  /** text is the camera in a link: x,y,across. */
  text() { return `${Math.round(this.x)},${Math.round(this.y)},${+this.across.toPrecision(4)}`; }

  /** read takes the camera of a link, and tells whether it was one. */
  read(text) {
    const n = String(text).split(",").map((s) => (s.trim() === "" ? NaN : Number(s)));
    if (n.length !== 3 || !n.every(Number.isFinite) || n[2] <= 0) return false;
    this.look(n[0], n[1], n[2]);
    return true;
  }
}
