// The viewer of one recording: what is played, and what a scene may do with it.
//
// A scene shows the recordings of a kind. Its module scene_KIND.js exports scene(view), which returns
// (or promises) an object:
//
//   draw(ctx, at, camera)  paints the canvas, which is cleared and in CSS pixels. at is a state of
//                          columns.js; maps have no time and get null
//   entities(at, camera)   rows of window.recfs.entities; placed() makes them
//   size        frames a block has, 250 without
//   axes        which of x, y, z run to the right and down, as placed() has them; ["x", "y"] without
//   bounds      [x0, y0, x1, y1] to be seen first, in place of those of about
//   extent(at)  the same where about has no bounds
//   facts(at, camera)      further keys of window.recfs: hooks, score, screen …
//   rest(at)    it came to rest at a tick, or another one
//   point(x, y) the cursor is at a place, in the numbers of frames; point(null): nowhere
//   kinds       kinds of events there are to choose from
//   actions     of its own, see keys.js
//   legend      one sentence on what is drawn
import { Blocks } from "./blocks.js";
import { Camera } from "./camera.js";
import { advance, faster, moment, msOf, stepAt, tickOf } from "./clock.js";
import { decode, stateAt, tile } from "./columns.js";
import { parse, Writer } from "./fragment.js";

/** placed are entities with their place on the canvas, as window.recfs has them. */
export const placed = (entities, camera, [right, down] = ["x", "y"]) => entities.map((e) => {
  const sx = camera.sx(e[right]), sy = camera.sy(e[down]);
  return { ...e, sx, sy, on: e[right] !== null && camera.sees(e[right], e[down]) };
});

/** View is a recording that is looked at. Parts of the page listen to what it does. */
export class View {
  /** source: {path, get(name, query, signal), file(name)}: where data and files of it come from. */
  constructor(about, source) {
    Object.assign(this, { about, source, first: about.first, last: about.last });
    this.camera = new Camera(tile(about.unit));
    this.link = new Writer();
    this.keys = parse(location.hash);
    this.speed = 1;
    this.playing = false;
    this.follow = null;
    this.tick = about.first ?? null;
    this.at = null; // what is painted
    this.error = null;
    this.listeners = [];
    this.moved = 0; // when it was asked to be elsewhere
    this.wide = true; // nobody chose what is seen
    this.waits = false; // it played until there was no more
  }

  /** begin takes the scene that shows it. */
  begin(scene) {
    this.scene = scene;
    this.blocks = new Blocks(scene.size ?? 250, async (block, step, signal) =>
      decode(await this.source.get("frames", { block, step }, signal)), (found) => {
      this.tell("block", found);
      this.repaint();
    });
  }

  /** timed tells whether there is anything to play. */
  get timed() { return this.tick !== null; }

  /** step is how far apart frames are: all of them at rest. */
  get step() { return this.playing && this.about.kind !== "nethack" ? stepAt(this.speed) : 1; }

  /** on calls run(value) when something happens: paint, rest, play, speed, follow, block, say, grow. */
  on(name, run) { this.listeners.push([name, run]); }
  tell(name, value) { for (const [n, run] of this.listeners) if (n === name) run(value); }

  /** say has a sentence read out politely; fail shows one, null takes it away. */
  say(text) { this.tell("say", text); }
  fail(text, again) {
    this.error = text;
    this.tell("fail", [text, again]);
    this.repaint();
  }

  repaint() {
    this.frame ||= requestAnimationFrame((now) => {
      this.frame = 0;
      this.tell("frame", now);
    });
  }

  /** ms is the time of a tick since tick 0, null where that is not known (yet). */
  ms(tick = this.tick) {
    if (this.about.tick_ms) return tick * this.about.tick_ms;
    const b = this.blocks.any(tick);
    return b?.ms ? msOf(b, tick) : null;
  }

  /** goto looks at another tick; soon: the hand still moves, so nothing is asked yet. */
  goto(tick, soon = false) {
    if (!this.timed) return;
    this.tick = Math.max(this.first, Math.min(Math.round(tick), this.last));
    this.moved = soon ? performance.now() : 0;
    this.waits = false;
    this.written();
    this.repaint();
  }

  /** skip goes some milliseconds on or back. */
  async skip(ms) {
    const now = this.ms();
    if (now !== null) this.goto(await this.tickAt(now + ms));
  }

  /** nudge goes some ticks on or back, and rests. */
  nudge(by) {
    this.play(false);
    this.goto(this.tick + by);
  }

  /** mark goes to the next mark (1) or the one before (-1). */
  mark(way) {
    const { marks } = this.about, now = Math.floor(this.tick);
    const mark = way > 0 ? marks.find((m) => m.t > now) : marks.findLast((m) => m.t < now);
    if (mark) this.goto(mark.t);
    this.say(mark?.text ?? `no ${way > 0 ? "further" : "earlier"} mark`);
  }

  /** tickAt finds the tick at a time since tick 0. Where frames tell the times, it asks for some. */
  async tickAt(ms) {
    if (this.about.tick_ms) return Math.floor(ms / this.about.tick_ms);
    let low = this.first, high = this.last;
    for (let b; low < high;) {
      const mid = (low + high) >> 1;
      b = await this.block(mid);
      if (!b?.ms || b.frames === 0) break;
      if (ms < b.ms[0] && b.first > this.first) high = b.first - 1;
      else if (ms > b.ms[b.frames - 1] && b.last < this.last) low = b.last + 1;
      else return Math.floor(tickOf(b, ms) + 1e-6);
    }
    return low;
  }

  /** block promises that of a tick, as fine as it gets. */
  async block(tick) {
    const found = this.blocks.look(tick, 1);
    if (found) return found.block;
    return decode(await this.source.get("frames", { block: this.blocks.number(tick, 1), step: 1 }));
  }

  /** jump goes where people write they want to be, and tells whether that means anything. */
  async jump(text) {
    const to = moment(text, this.about.start);
    if (to && this.timed) this.goto(to.tick ?? await this.tickAt(to.ms));
    return to !== null;
  }

  play(on = !this.playing) {
    if (!this.timed || on === this.playing) return;
    if (on && this.tick >= this.last) this.tick = this.first;
    this.playing = on;
    this.waits = !on && this.tick >= this.last;
    if (!on) this.tick = Math.max(this.first, Math.min(Math.round(this.tick), this.last));
    this.before = null;
    this.written();
    this.tell("play", on);
    this.repaint();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.link.set({ s: speed === 1 ? null : speed });
    this.tell("speed", speed);
    this.repaint();
  }

  /** faster makes the speed a step faster (1) or slower (-1). */
  faster(by) { this.setSpeed(faster(this.speed, by)); }

  /** there are the entities of which it is known where they are. */
  get there() { return (this.at?.entities ?? []).filter((e) => e.x !== null); }

  /** follows tells whether an entity is the one that is followed. */
  follows(e) { return this.follow !== null && String(e.id) === String(this.follow); }

  followNext() {
    const { there } = this, i = there.findIndex((e) => this.follows(e));
    if (there.length) this.setFollow(there[(i + 1) % there.length].id);
  }

  setFollow(id) {
    if (this.follow === null && id !== null && this.wide) this.near = true;
    this.follow = id;
    this.link.set({ f: id });
    this.tell("follow", id);
    this.repaint();
  }

  /** look is told that somebody moved the camera: by a drag nobody is followed any more. */
  looked(dragged = false) {
    this.wide = this.near = false;
    if (dragged && this.follow !== null) this.setFollow(null);
    this.link.set({ c: this.camera.text() });
    this.repaint();
  }

  /** pan moves the camera by eighths of what is seen, zoom by a factor. */
  pan(x, y) {
    this.camera.pan((x * this.camera.width) / 8, (y * this.camera.height) / 8);
    this.looked(true);
  }

  zoom(by) {
    this.camera.zoom(by);
    this.looked();
  }

  /** plane is where an entity is on the plane that the camera sees. */
  plane(e) { return (this.scene.axes ?? ["x", "y"]).map((axis) => e[axis]); }

  showAll() {
    this.setFollow(null);
    this.all();
  }

  /** all shows all there is. */
  all() {
    const b = this.scene.bounds ?? this.about.bounds ?? this.scene.extent?.(this.at);
    if (b && b.every(Number.isFinite)) this.camera.fit(b);
    this.wide = true;
    this.link.set({ c: null });
    this.repaint();
  }

  written() {
    if (!this.playing && this.timed) this.link.set({ t: this.tick, p: null });
  }

  /** want asks for the blocks that the next frames need. */
  want() {
    const wait = this.moved + 80 - performance.now();
    if (document.hidden) return this.blocks.want([]);
    if (this.moved && wait > 0) {
      this.blocks.want([]);
      setTimeout(() => this.repaint(), wait);
      return;
    }
    this.moved = 0;
    const { step } = this, wide = step * this.blocks.size, list = [];
    for (let k = 0; k <= (this.playing ? 2 : 0); k++) {
      const tick = Math.floor(this.tick) + k * wide;
      if (this.blocks.number(tick, step) * wide <= this.last) list.push([tick, step]);
    }
    this.blocks.want(list);
  }

  /** state is what there is at the tick: coarser than wanted until its block comes, null before any. */
  state() {
    const { tick, step } = this;
    const found = this.found = this.blocks.look(Math.floor(tick), step);
    const fine = found?.block?.frames ? found.block : null;
    const b = fine ?? this.blocks.any(tick);
    this.ready = !!found && (this.playing || !this.moved);
    if (!b) return null;
    return stateAt(b, tick, this.blocks.look((b.block + 1) * b.step * this.blocks.size, b.step)?.block, this.about.unit);
  }

  /** move brings the time of a frame on, if there is something to go on with. */
  move(now) {
    const dt = this.before == null ? 0 : Math.min(now - this.before, 1000);
    this.before = now;
    const { tick, speed, last, about } = this;
    const found = this.blocks.look(Math.floor(tick), this.step), b = found?.block ?? this.blocks.any(tick);
    if (!b && !found) return; // it is on its way
    if (about.tick_ms) this.tick = advance(tick, dt, speed, last, about.tick_ms);
    else if (b?.ms) this.tick = advance(tick, dt, speed, last, null, b, this.blocks.look(b.last + b.step, b.step)?.block);
    else this.tick = Math.min((this.blocks.number(tick, this.step) + 1) * this.step * this.blocks.size, last);
    if (this.tick >= last) this.play(false);
  }
}
