// What happened: a list that moves along, filtered over the whole recording if one wants.
import { search } from "./clock.js";
import { place } from "./controls.js";
import { clean, el, later } from "./dom.js";
import { buttons, eventActions } from "./keys.js";
import { button, option } from "./parts.js";

const shown = 120; // rows in the page

/** events makes the list of a view, and what jumps between its rows. */
export function events(view) {
  const kind = el("select", { "data-testid": "event-kind", "aria-label": "kind of events", onchange: () => filter() }, option("", "all kinds"));
  const words = el("input", { "data-testid": "event-search", type: "search", placeholder: "search (/)", "aria-label": "search events", oninput: () => soon() });
  const only = el("input", { type: "checkbox", onchange: () => filter() });
  const status = el("p", { className: "quiet", role: "status" }), stop = button("Stop", "stop searching", null, null, () => list.stop());
  const list = new List(view, (rows) => {
    for (const k of rows.map((r) => r.kind)) if (![...kind.options].some((o) => o.value === k)) kind.append(option(k, clean(k, 40)));
  }, () => {
    stop.hidden = !list.busy || !list.filtered;
    status.textContent = list.text();
    view.repaint();
  });
  const filter = () => list.filter({ kind: kind.value, q: words.value.trim(), id: only.checked ? view.follow : null });
  const soon = later(filter, 300);
  list.found((view.scene.kinds ?? []).map((k) => ({ kind: k })));
  view.listed = () => list.listed;
  view.on("paint", () => list.moved());
  view.on("rest", () => list.fill());
  view.on("block", () => list.absorb());
  view.on("grow", () => list.grown());
  view.on("follow", () => { if (only.checked) filter(); });
  view.event = (way) => list.step(way);
  view.side("Events", "events", el("div", { className: "filters" }, kind, words, ...buttons(eventActions(view)), el("label", {}, only, " of who is followed")), list.box,
    el("p", {}, status, stop));
  list.clear(view.tick);
}

const item = (view, r) => el("li", {}, el("button", {
  type: "button", "data-testid": "event", "data-t": r.t, "data-kind": clean(r.kind, 40), onclick: () => view.goto(r.t),
}, el("time", {}, place(view, r.t)), el("span", { dir: "auto" }, clean(r.text))));

/** List is a run of events without gaps from tick low to tick high. Each has its element once it was shown. */
class List {
  /** found is told of new rows, rendered that something changed. */
  constructor(view, found, rendered) {
    Object.assign(this, { view, found, rendered, listed: [], rows: [], query: {} });
    this.box = el("ol", { className: "rows events" });
  }

  /** render shows the rows around the one that happened last, and keeps that one in the middle. */
  render() {
    const { box } = this, now = this.last(), begin = Math.max(0, now - shown / 2), rows = this.rows.slice(begin, begin + shown);
    for (const r of rows) r.item ??= item(this.view, r);
    box.replaceChildren(...rows.map((r) => r.item));
    this.listed = Object.freeze(rows.map(({ t, kind, text }) => Object.freeze({ t, kind, text })));
    this.current?.removeAttribute("aria-current");
    this.current = this.rows[now]?.item.firstChild;
    this.current?.setAttribute("aria-current", "true");
    if (this.current && !box.matches(":hover, :focus-within")) box.scrollTop = this.current.offsetTop - box.offsetTop - box.clientHeight / 2;
    this.rendered();
  }

  get filtered() { return !!(this.query.kind || this.query.q || this.query.id != null); }

  /** clear knows nothing any more but that tick is where to begin. */
  clear(tick) {
    Object.assign(this, { rows: [], low: tick + 1, high: tick, error: null, index: -2 });
    this.stop();
  }

  filter(query) {
    this.query = query;
    this.clear(Math.floor(this.view.tick));
    this.fill();
  }

  /** last is the index of the last event that has happened. */
  last() {
    return search(this.rows.length, (i) => this.rows[i].t > this.view.tick) - 1;
  }

  /** moved follows the tick. */
  moved() {
    const { view } = this, tick = Math.floor(view.tick);
    if (tick < this.low - 1 || tick > this.high + 1) {
      if (this.filtered) return this.paint();
      this.clear(tick);
    }
    if (view.playing && tick > this.high - 50) this.absorb();
    this.paint();
  }

  paint() {
    const now = this.last();
    if (now === this.index) return;
    const { view } = this;
    if (view.playing && view.speed <= 2 && now > this.index && this.index > -2) {
      const n = now - this.index;
      view.say(this.rows[now].text + (n > 1 ? ` and ${n - 1} more` : ""));
    }
    this.index = now;
    this.render();
  }

  add(rows, way) {
    this.found(rows);
    this.rows = way > 0 ? this.rows.concat(rows) : rows.reverse().concat(this.rows);
    this.index = -2;
  }

  /** absorb takes the events of blocks that came for their frames. */
  absorb() {
    if (this.filtered) return;
    for (let b; (b = this.view.blocks.any(this.high + 1)) && b.more === 0;) {
      const rows = b.events.filter((e) => e.t > this.high);
      this.high = b.first + b.frames * b.step - 1;
      if (rows.length) this.add(rows, 1);
    }
    this.paint();
  }

  stop() {
    this.control?.abort();
    this.control = null;
    this.busy = false;
    this.render();
  }

  /** fill asks on both sides: one piece, or for those that are searched for the whole recording. */
  async fill() {
    if (this.busy) return;
    const control = this.control = new AbortController();
    this.busy = true;
    try {
      for (const way of [-1, 1]) {
        do {
          const near = way > 0 ? this.rows.length - 1 - this.last() : this.last() + 1;
          if (near >= (this.filtered ? 500 : 20)) break;
        } while (await this.piece(way, control) && this.filtered);
      }
    } catch (error) {
      if (error.name !== "AbortError") this.error = error.message;
    }
    if (this.control === control) {
      this.busy = false;
      this.render();
    }
  }

  /** piece asks for the next on one side, and tells whether there may be more. */
  async piece(way, control) {
    const { view } = this, from = way > 0 ? this.high + 1 : this.low - 1;
    if (from < view.first || from > view.last) return false;
    this.render();
    const { rows, next } = await view.source.get("events",
      { from, dir: way, limit: this.filtered ? 100 : 40, kind: this.query.kind, q: this.query.q, id: this.query.id }, control.signal);
    if (control.signal.aborted) return false;
    const whole = next === null || next === from ? rows : rows.filter((r) => (way > 0 ? r.t < next : r.t > next));
    if (way > 0) this.high = next === null ? view.last : Math.max(next - 1, from);
    else this.low = next === null ? view.first : Math.min(next + 1, from);
    this.add(whole, way);
    this.paint();
    return next !== null;
  }

  /** step goes to the next event shown, or the one before. */
  async step(way) {
    const { view } = this, tick = Math.floor(view.tick);
    const find = () => (way > 0 ? this.rows.find((r) => r.t > tick) : this.rows.findLast((r) => r.t < tick));
    let to = find();
    for (const control = new AbortController(); !to && await this.piece(way, control).catch(() => false);) to = find();
    to ??= find();
    if (!to) return view.say(way > 0 ? "no further event" : "no earlier event");
    view.goto(to.t);
    view.say(to.text);
  }

  /** grown asks again for what is new at the end. */
  grown() {
    if (this.high >= this.view.last) return;
    this.high = Math.min(this.high, this.rows.at(-1)?.t ?? this.high);
    if (!this.view.playing) this.fill();
  }

  text() {
    if (this.error) return this.error;
    const { view } = this;
    const all = this.low <= view.first && this.high >= view.last;
    if (!this.filtered) return this.rows.length ? "" : this.busy ? "asking …" : "no events here";
    const found = `${this.rows.length} found`;
    return all ? `${found} in all` : `${found}, ${this.busy ? "searching" : "searched"} ${place(view, this.low)} to ${place(view, this.high)}`;
  }
}
