// The buttons and fields below the canvas, and what the view does for them.
import { dayText, faster, speeds, timeText, timeWords } from "./clock.js";
import { clean, el } from "./dom.js";
import { button, option, sign } from "./parts.js";

/** camera adds the moves of the camera, and returns the buttons for them. */
export function cameraButtons(view) {
  const { camera } = view;
  view.zoom = (by) => { camera.zoom(by); view.looked(); };
  view.nudgeCamera = (x, y) => { camera.pan((x * camera.width) / 8, (y * camera.height) / 8); view.looked(true); };
  view.showAll = () => { view.setFollow(null); view.all(); };
  const move = (face, text, key, x, y) => button(face, `camera ${text}`, key, null, () => view.nudgeCamera(x, y));
  return el("div", { className: "camera", role: "group", "aria-label": "camera" },
    move("left", "left", "h", 1, 0), move("down", "down", "j", 0, -1), move("up", "up", "k", 0, 1), move("right", "right", "l", -1, 0),
    button("closer", "closer", "z", null, () => view.zoom(1.25)), button("farther", "farther", "Z", null, () => view.zoom(0.8)),
    button("all", "all there is", "a", null, () => view.showAll()));
}

/** transport is what plays: its buttons, speed, time, jump, follow. */
export function transport(view) {
  const play = button("play", "play", "Space", "play", () => view.play());
  const speed = el("select", { "data-testid": "speed", "aria-label": "speed", onchange: () => view.setSpeed(Number(speed.value)) },
    ...speeds.map((s) => option(s, `${s}×`)));
  speed.value = view.speed;
  view.on("play", (on) => {
    play.replaceChildren(sign(on ? "pause" : "play"));
    play.title = on ? "pause (Space)" : "play (Space)";
    play.setAttribute("aria-label", on ? "pause" : "play");
  });
  view.on("speed", (s) => { speed.value = s; });
  view.nudge = (by) => {
    view.play(false);
    view.goto(view.tick + by);
  };
  const skip = (face, text, key, ms) => button(face, text, key, null, () => view.skip(ms));
  const mark = (face, text, key, way) => button(face, text, key, null, () => view.mark(way));
  return el("div", { className: "controls", role: "group", "aria-label": "playing" },
    mark("previous", "previous mark", "[", -1), skip("−60", "a minute back", "Shift ←", -60000), skip("−5", "5 seconds back", "←", -5000),
    button("back", "one tick back", ",", "back", () => view.nudge(-1)), play,
    button("on", "one tick on", ".", "on", () => view.nudge(1)), skip("+5", "5 seconds on", "→", 5000),
    skip("+60", "a minute on", "Shift →", 60000), mark("next", "next mark", "]", 1),
    button("farther", "slower", "-", null, () => view.setSpeed(faster(view.speed, -1))), speed,
    button("closer", "faster", "+", null, () => view.setSpeed(faster(view.speed, 1))),
    clock(view), jump(view), follow(view));
}

/** place is the time of a tick as text: since tick 0, or the tick where that is not known. */
export function place(view, tick, words = false) {
  const ms = view.ms(tick), whole = Math.floor(tick);
  if (ms === null) return `tick ${whole}`;
  return words ? timeWords(ms) : timeText(ms, true);
}

function clock(view) {
  const time = el("output", { "data-testid": "time", className: "time" });
  let shown = "";
  view.on("paint", () => {
    const ms = view.ms(), day = ms === null ? "" : dayText(view.about.start, ms);
    const text = `${place(view, view.tick)} · tick ${Math.floor(view.tick)}${day && " · " + day}`;
    if (text !== shown) time.textContent = shown = text;
  });
  return time;
}

function jump(view) {
  const field = el("input", { "data-testid": "jump", size: 9, placeholder: "1:23 or tick", "aria-label": "jump to a time or tick (g)",
    title: "a tick, M:SS, H:MM:SS, @HH:MM:SS or @ and a time (g)" });
  return el("form", { className: "jump", onsubmit: async (e) => {
    e.preventDefault();
    const known = await view.jump(field.value);
    field.setAttribute("aria-invalid", String(!known));
    if (!known) view.say("This is neither a time nor a tick.");
  } }, field, el("button", { title: "jump (Enter)" }, "Go"));
}

/** follow is the list of who is there, and the way to the next of them. */
function follow(view) {
  const list = el("select", { "data-testid": "follow", "aria-label": "follow (f)", title: "follow (f, F)" });
  let shown = "";
  const choose = () => view.setFollow((view.at?.entities ?? []).find((e) => String(e.id) === list.value)?.id ?? null);
  list.addEventListener("change", choose);
  const fill = () => {
    const there = (view.at?.entities ?? []).filter((e) => e.x !== null);
    const key = JSON.stringify([view.follow, there.map((e) => [e.id, e.name])]);
    if (key === shown) return;
    shown = key;
    list.replaceChildren(option("", "follow nobody"), ...there.slice(0, 1100).map((e) => option(e.id, clean(e.name, 40) || `${e.kind} ${e.id}`)));
    if (view.follow !== null && !there.some((e) => String(e.id) === String(view.follow))) {
      list.append(option(view.follow, `${clean(view.follow, 40)} (not here)`));
    }
    list.value = view.follow ?? "";
  };
  view.on("paint", fill);
  view.on("follow", fill);
  view.nextPlayer = () => {
    const there = (view.at?.entities ?? []).filter((e) => e.x !== null);
    const i = there.findIndex((e) => String(e.id) === String(view.follow));
    if (there.length) view.setFollow(there[(i + 1) % there.length].id);
  };
  return list;
}

/** share is the link to what is seen, and the demo of the visible minute. */
export function share(view) {
  const link = button("Copy link", "copy the link to this moment", null, "link", async () => {
    view.link.set({ t: view.timed ? Math.floor(view.tick) : null, c: view.wide ? null : view.camera.text() });
    view.link.flush();
    try {
      await navigator.clipboard.writeText(location.href);
      view.say("The link is copied.");
    } catch {
      view.say("The link is in the address bar.");
    }
  });
  const parts = [link];
  if (view.about.kind === "tee" && view.timed) {
    const demo = el("a", { "data-testid": "demo", download: "", title: "this minute for the DDNet client (d)" }, "Demo");
    const name = () => {
      const half = 30000 / view.about.tick_ms, t = Math.floor(view.tick);
      return `demos/${Math.max(view.first, t - half)}-${Math.min(view.last, t + half)}.demo`;
    };
    view.on("rest", () => { demo.href = view.source.file(name()); });
    demo.addEventListener("pointerdown", () => { demo.href = view.source.file(name()); });
    demo.href = view.source.file(name());
    view.demo = () => { demo.href = view.source.file(name()); demo.click(); };
    parts.push(demo);
  }
  return el("div", { className: "share" }, ...parts);
}
