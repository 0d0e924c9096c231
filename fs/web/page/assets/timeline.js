// The timeline: who was there and how much happened, marks, holes, and the place that is shown.
import { place } from "./controls.js";
import { clean, el, plural } from "./dom.js";
import { box, path, stroke } from "./draw.js";
import { colors, dark, line, rows } from "./parts.js";

/** timeline makes the slider of a view, and what jumps between marks. */
export function timeline(view) {
  const canvas = el("canvas"), knob = el("div", { className: "knob" });
  const slider = el("div", { "data-testid": "timeline", className: "timeline", role: "slider", tabIndex: 0, "aria-label": "time" }, canvas, knob);
  const span = () => Math.max(view.last - view.first, 1);
  const at = (e) => {
    const box = slider.getBoundingClientRect();
    return view.first + (Math.max(0, Math.min(e.clientX - box.left, box.width)) / box.width) * span();
  };
  const draw = () => {
    const { width, height } = slider.getBoundingClientRect(), dpr = devicePixelRatio || 1;
    canvas.width = Math.max(1, width * dpr);
    canvas.height = Math.max(1, height * dpr);
    const ctx = canvas.getContext("2d");
    ctx.scale(dpr, dpr);
    paint(ctx, view, width, height, (t) => ((t - view.first) / span()) * width);
  };
  new ResizeObserver(draw).observe(slider);
  dark.addEventListener("change", draw);
  for (const news of ["grow", "holes"]) view.on(news, draw);
  view.on("paint", knobMover(view, slider, knob, span));
  scrubber(view, slider, at);
  return slider;
}

/** knobMover puts the knob where it is, and says the time once a second while it moves. */
function knobMover(view, slider, knob, span) {
  let said = 0, told = null;
  return () => {
    const { tick } = view, now = performance.now();
    knob.style.left = `${((tick - view.first) / span()) * 100}%`;
    if (tick === told || (view.playing && now < said + 1000)) return;
    said = now;
    told = tick;
    const values = { min: view.first, max: view.last, now: Math.floor(tick), text: place(view, tick, true) };
    for (const [name, value] of Object.entries(values)) slider.setAttribute(`aria-value${name}`, value);
  };
}

/** scrubber moves to where the hand is, and tells what is under it. */
function scrubber(view, slider, at) {
  let held = false;
  slider.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    slider.setPointerCapture(e.pointerId);
    held = true;
    view.goto(at(e));
  });
  slider.addEventListener("pointermove", (e) => {
    const tick = at(e), near = (view.last - view.first) / 200;
    if (held) view.goto(tick, true);
    const mark = view.about.marks.find((m) => Math.abs(m.t - tick) <= near);
    const hole = view.holes?.find((h) => tick >= h.from && tick <= h.to);
    slider.title = [place(view, tick), mark && clean(mark.text, 80), hole?.text].filter(Boolean).join(" · ");
  });
  for (const end of ["pointerup", "pointercancel"]) {
    slider.addEventListener(end, () => {
      held = false;
      view.moved = 0;
      view.repaint();
    });
  }
}

/** paint draws lanes, holes and marks. */
function paint(ctx, view, width, height, x) {
  const c = colors();
  const [players, activity] = ["players", "activity"].map((name) => view.about.lanes?.find((l) => l.name === name)?.values ?? []);
  const bars = (values, bottom, high) => {
    const most = Math.max(1e-9, ...values);
    values.forEach((v, i) => {
      const h = (Math.max(0, v) / most) * high, left = (i / values.length) * width;
      ctx.fillRect(left, bottom - h, width / values.length + 0.5, h);
    });
  };
  ctx.fillStyle = c.ground;
  bars(activity, height - 8, height - 14);
  ctx.fillStyle = c.accent;
  bars(players, height, 7);
  for (const h of view.holes ?? []) hatch(ctx, c, x(h.from), Math.max(x(h.to), x(h.from) + 3), height);
  ctx.fillStyle = c.warn;
  let free = -Infinity; // where there is room for the next flag
  for (const m of view.about.marks) {
    const left = x(m.t);
    ctx.globalAlpha = 0.4;
    ctx.fillRect(left - 0.5, 0, 1, height - 8);
    ctx.globalAlpha = 1;
    if (left < free) continue;
    free = left + 7;
    path(ctx, [left, 0], [left + 6, 3], [left, 6]);
    ctx.fill();
  }
}

function hatch(ctx, c, from, to, height) {
  ctx.save();
  box(ctx, from, 0, to - from, height);
  ctx.clip();
  ctx.beginPath();
  for (let left = from - height; left < to; left += 5) {
    ctx.moveTo(left, height);
    ctx.lineTo(left + height, 0);
  }
  stroke(ctx, c.ink, 1);
  ctx.restore();
}

/** problems lists them, of which the index tells once there is a picture. */
export function problems(view) {
  const title = el("summary"), box = el("details", { className: "holes", hidden: true }, title);
  let seen = 0;
  view.on("paint", async () => {
    if (!view.ready || (view.about.problems ?? 0) === seen) return;
    seen = view.about.problems;
    try {
      const index = await view.source.json("index.json");
      if (view.timed) view.holes = holesOf(index, view.first, view.last);
      title.textContent = plural(index.problems.length, "problem");
      box.replaceChildren(title, ...rows(index.problems.map((p) => `${p.code} at byte ${p.offset}: ${p.message}`), line));
      view.tell("holes");
    } catch (error) {
      title.textContent = error.message;
    }
    box.hidden = false;
  });
  return box;
}

/** holesOf are the stretches {from, to, text} of which an index says that something is lost. */
export function holesOf(index, first, last) {
  const chunks = index.chunks ?? [], out = [];
  for (const p of index.problems ?? []) {
    if (["anomaly", "clock_mismatch", "bad_line"].includes(p.code)) continue; // all is there
    const i = p.chunk === undefined ? chunks.length - 1 : chunks.findIndex((c) => c.chunk === p.chunk);
    const before = chunks.slice(0, Math.max(i, 0)).reverse().find((c) => c.last_tick !== null);
    const after = chunks.slice(i + 1).find((c) => c.first_tick !== null);
    const known = p.chunk !== undefined && chunks[i]?.first_tick != null;
    out.push({
      from: known ? chunks[i].first_tick : p.chunk === undefined ? last : before?.last_tick ?? first,
      to: known ? chunks[i].last_tick : after?.first_tick ?? last, text: clean(p.message, 120),
    });
  }
  return out;
}
