// Heights as colours, with numbers beside them: nobody has to tell colours apart.
import { label } from "./draw.js";

/** Heights maps numbers of a growing range to a scale from dark to light (viridis, in five steps). */
export class Heights {
  constructor() { this.low = Infinity; this.high = -Infinity; }

  /** take widens the range. */
  take(h) {
    if (h < this.low) this.low = h;
    if (h > this.high) this.high = h;
  }

  get known() { return this.low <= this.high; }

  /** part is where a height lies in the range, 0 to 1. */
  part(h) { return this.high > this.low ? Math.max(0, Math.min((h - this.low) / (this.high - this.low), 1)) : 0.5; }

  color(h) { return mixed(this.part(h)); }

  /** draw paints the scale with its numbers, which text makes of heights, at the lower left. */
  draw(ctx, camera, colors, text) {
    if (!this.known) return;
    const wide = 16, high = Math.min(140, camera.height / 3), x = 12, y = camera.height - high - 22;
    const ramp = ctx.createLinearGradient(0, y + high, 0, y);
    for (let i = 0; i < steps.length; i++) ramp.addColorStop(i / (steps.length - 1), mixed(i / (steps.length - 1)));
    ctx.fillStyle = ramp;
    ctx.fillRect(x, y, wide, high);
    ctx.strokeStyle = colors.ink;
    ctx.lineWidth = 1;
    ctx.strokeRect(x, y, wide, high);
    for (const [h, at] of [[this.high, y + 4], [(this.low + this.high) / 2, y + high / 2], [this.low, y + high - 4]]) {
      label(ctx, text(h), x + wide + 5, at, colors, "left");
      if (this.high === this.low) break;
    }
    label(ctx, "height", x, y - 12, colors, "left");
  }
}

const steps = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function mixed(part) {
  const at = part * (steps.length - 1), i = Math.min(Math.floor(at), steps.length - 2);
  return `rgb(${steps[i].map((c, k) => Math.round(c + (steps[i + 1][k] - c) * (at - i))).join(" ")})`;
}
