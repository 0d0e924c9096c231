// What scenes draw with: paths, labels, a grid, trails.

/** path begins one of straight lines from place to place. */
export function path(ctx, ...places) {
  ctx.beginPath();
  for (const [x, y] of places) ctx.lineTo(x, y);
}

/** circle begins one around a place. */
export function circle(ctx, x, y, r) {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 2 * Math.PI);
}

/** stroke draws the path with a colour, a width and dashes; fill fills it. */
export function stroke(ctx, color, width, dashes = []) {
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.setLineDash(dashes);
  ctx.stroke();
  ctx.setLineDash([]);
}

export function fill(ctx, color) {
  ctx.fillStyle = color;
  ctx.fill();
}

/** box begins a path around a rectangle. */
export function box(ctx, x, y, width, height) {
  ctx.beginPath();
  ctx.rect(x, y, width, height);
}

/** trail draws the way through places; style(i) is [color, width] of the i-th part of it. */
export function trail(ctx, places, style) {
  ctx.lineCap = "round";
  for (let i = 1; i < places.length; i++) {
    path(ctx, places[i - 1], places[i]);
    stroke(ctx, ...style(i));
  }
}

/** label writes a text with a halo, so that it can be read on anything. */
export function label(ctx, text, x, y, colors, align = "center") {
  ctx.font = "12px system-ui, sans-serif";
  ctx.textAlign = align;
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  ctx.lineWidth = 4;
  ctx.strokeStyle = colors.halo;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = colors.ink;
  ctx.fillText(text, x, y);
}

/** grid draws lines every so many numbers, as many as can be told apart. */
export function grid(ctx, camera, colors, per) {
  let step = per;
  while (step * camera.scale < 24) step *= step === per ? 5 : 2;
  ctx.beginPath();
  for (let x = Math.ceil(camera.wx(0) / step) * step; x < camera.wx(camera.width); x += step) {
    const sx = Math.round(camera.sx(x)) + 0.5;
    ctx.moveTo(sx, 0);
    ctx.lineTo(sx, camera.height);
  }
  for (let y = Math.ceil(camera.wy(0) / step) * step; y < camera.wy(camera.height); y += step) {
    const sy = Math.round(camera.sy(y)) + 0.5;
    ctx.moveTo(0, sy);
    ctx.lineTo(camera.width, sy);
  }
  stroke(ctx, colors.grid, 1);
}

/** frame draws the edge of [x0, y0, x1, y1]. */
export function frame(ctx, camera, [x0, y0, x1, y1], color) {
  box(ctx, camera.sx(x0), camera.sy(y0), (x1 - x0) * camera.scale, (y1 - y0) * camera.scale);
  stroke(ctx, color, 1);
}

/** around is [x0, y0, x1, y1] of places [x, y], null without any. */
export function around(places) {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of places) [x0, y0, x1, y1] = [Math.min(x0, x), Math.min(y0, y), Math.max(x1, x), Math.max(y1, y)];
  return x0 <= x1 ? [x0, y0, x1, y1] : null;
}
