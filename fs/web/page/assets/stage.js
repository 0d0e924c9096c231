// The canvas: its size, what is painted when, fingers and mice, and window.recfs.
import { el } from "./dom.js";
import { colors, dark, still } from "./parts.js";
import { fetched } from "./fetch.js";

/** stage makes the canvas of a view, and paints as long as something moves. */
export function stage(view) {
  const canvas = el("canvas", { "data-testid": "canvas", role: "img" });
  const ctx = canvas.getContext("2d", { alpha: false });
  view.canvas = canvas;
  view.stage = el("div", { className: "stage" }, canvas);
  const size = () => {
    const { width, height } = canvas.getBoundingClientRect(), dpr = devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * dpr));
    canvas.height = Math.max(1, Math.round(height * dpr));
    view.camera.size(width, height);
    view.repaint();
  };
  new ResizeObserver(size).observe(canvas);
  for (const query of [dark, still]) query.addEventListener("change", () => view.repaint());
  view.on("frame", (now) => paint(view, ctx, now));
  pointers(view);
  return view.stage;
}

/** watched puts the camera on who is followed, or on all there is as long as nobody moved it. */
function watched(view, at) {
  const { camera } = view;
  if (view.wide && view.follow === null && (at || !view.timed) && !view.fitted && camera.width > 1) {
    view.fitted = true;
    view.all();
  }
  const who = at?.entities.find((e) => view.follows(e));
  if (!who || who.x === null) return;
  camera.look(...view.plane(who), view.near ? Math.max(16, Math.min(camera.width / 22, 40)) : camera.across);
  view.near = false;
}

/** paint draws a frame, and asks for the next while it plays. */
function paint(view, ctx, now) {
  const { scene, camera, canvas, about } = view;
  if (!scene || document.hidden) return;
  if (view.playing) view.move(now);
  if (view.timed) view.want();
  const at = view.timed ? view.state() : null;
  if (at || view.found) view.at = at; // else what was seen stays until the next comes
  lost(view);
  watched(view, at);
  const dpr = canvas.width / camera.width;
  view.colors = colors();
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  ctx.fillStyle = view.colors.paper;
  ctx.fillRect(0, 0, camera.width, camera.height);
  if (view.at || about.kind === "map") scene.draw(ctx, view.at, camera);
  view.painted = (view.painted ?? 0) + 1;
  view.tell("paint", at);
  publish(view, at);
  if (view.playing) view.repaint();
  else if (view.ready && view.rested !== at?.tick) {
    view.rested = at?.tick;
    scene.rest?.(at);
    view.tell("rest", at);
  }
}

/** lost says why there is nothing to see at a tick. */
function lost(view) {
  const error = view.found?.error ?? null;
  if (error === (view.said ?? null)) return;
  view.said = error;
  view.fail(error?.message ?? null, () => {
    view.blocks.forget();
    view.fail(null);
  });
}

/** publish makes window.recfs of what is painted (docs/tree/page.md section 4). */
function publish(view, at) {
  const { camera, scene, about } = view;
  window.recfs = Object.freeze({
    version: 1, view: about.kind, path: about.path, ready: view.timed ? !!view.ready : view.ready !== false,
    error: view.error, tick: view.timed ? view.tick : null, playing: view.playing, speed: view.speed,
    follow: view.follow, first: view.first, last: view.last,
    camera: Object.freeze({ x: camera.x, y: camera.y, scale: camera.scale }),
    entities: at || about.kind === "map" ? scene.entities(at, camera) : [], events: view.listed?.() ?? [],
    motion: still.matches ? "reduced" : "full", painted: view.painted, fetched: Object.freeze({ ...fetched }),
    ...scene.facts?.(at, camera),
  });
}

/** pointers moves the camera: dragging, the wheel, two fingers; a tap follows who is there. */
function pointers(view) {
  const { canvas, camera } = view, down = new Map();
  let far = 0;
  const at = (e) => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  const middle = () => {
    const [a, b] = [...down.values()];
    return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, Math.hypot(a[0] - b[0], a[1] - b[1])];
  };
  canvas.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    canvas.setPointerCapture(e.pointerId);
    if (down.size === 0) far = 0;
    if (down.size < 2) down.set(e.pointerId, at(e));
  });
  canvas.addEventListener("pointermove", (e) => {
    const to = at(e), from = down.get(e.pointerId);
    view.scene?.point?.(camera.wx(to[0]), camera.wy(to[1]));
    if (!from) return;
    const before = down.size === 2 && middle();
    down.set(e.pointerId, to);
    far += Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (far < 4) return;
    if (before) {
      const now = middle();
      camera.pan(now[0] - before[0], now[1] - before[1]);
      camera.zoom(now[2] / Math.max(before[2], 1), now[0], now[1]);
    } else camera.pan(to[0] - from[0], to[1] - from[1]);
    view.looked(true);
  });
  const up = (e) => {
    if (down.delete(e.pointerId) && far < 4 && e.type === "pointerup") tapped(view, ...at(e));
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => view.scene?.point?.(null));
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    camera.zoom(Math.exp(-Math.max(-200, Math.min(e.deltaY * (e.deltaMode ? 30 : 1), 200)) / 300), ...at(e));
    view.looked();
  }, { passive: false });
}

/** tapped follows the entity next to a pixel. */
function tapped(view, sx, sy) {
  const { camera } = view;
  let best = null, near = Math.max(24, 20 * camera.scale);
  for (const e of view.at?.entities ?? []) {
    const [x, y] = view.plane(e), d = x === null ? Infinity : Math.hypot(camera.sx(x) - sx, camera.sy(y) - sy);
    if (d < near) [best, near] = [e, d];
  }
  if (best) view.setFollow(best.id);
}
