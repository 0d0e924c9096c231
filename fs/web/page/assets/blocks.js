// The blocks of a recording that are at hand, and those on their way.

/** Blocks keeps the last blocks that were looked at, and asks for those that are wanted. */
export class Blocks {
  /** load(block, step, signal) fetches one; changed() is told when one came or failed. */
  constructor(size, load, changed, keep = 32) {
    Object.assign(this, { size, load, changed, keep });
    this.kept = new Map(); // key: {block} or {error}, the one looked at last at the end
    this.coming = new Map(); // key: AbortController
  }

  number(tick, step) { return Math.floor(tick / (step * this.size)); }
  key(tick, step) { return `${step}:${this.number(tick, step)}`; }

  /** look returns {block} or {error} for a tick, or nothing. */
  look(tick, step) {
    const key = this.key(tick, step), found = this.kept.get(key);
    if (found) {
      this.kept.delete(key);
      this.kept.set(key, found);
    }
    return found;
  }

  /** any returns the finest block at hand that has a frame at or before a tick. */
  any(tick) {
    let best;
    for (const { block } of this.kept.values()) {
      if (!block?.frames || tick < block.first || tick >= block.last + block.step) continue;
      if (!best || block.step < best.step) best = block;
    }
    return best;
  }

  /** want asks for the blocks of [tick, step] that are not at hand, and gives up all others. */
  want(list) {
    const keys = new Map(list.map(([tick, step]) => [this.key(tick, step), [this.number(tick, step), step]]));
    for (const [key, control] of this.coming) {
      if (keys.has(key)) continue;
      control.abort();
      this.coming.delete(key);
    }
    for (const [key, [block, step]] of keys) {
      if (!this.kept.has(key) && !this.coming.has(key)) this.#ask(key, block, step);
    }
  }

  async #ask(key, block, step) {
    const control = new AbortController();
    this.coming.set(key, control);
    let found;
    try {
      found = { block: await this.load(block, step, control.signal) };
    } catch (error) {
      if (control.signal.aborted) return;
      found = { error };
    }
    if (this.coming.get(key) !== control) return;
    this.coming.delete(key);
    this.kept.set(key, found);
    for (const old of this.kept.keys()) {
      if (this.kept.size <= this.keep) break;
      this.kept.delete(old);
    }
    this.changed(found);
  }

  /** forget drops what says something of the ticks from one on: they may be others now. */
  forget(from = -Infinity) {
    for (const [key, { block }] of this.kept) {
      if (!block?.frames || block.first + this.size * block.step > from) this.kept.delete(key);
    }
  }
}
