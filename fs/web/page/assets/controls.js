// The buttons and fields below the canvas.
import { dayText, speeds, timeText, timeWords } from "./clock.js";
import { clean, el } from "./dom.js";
import { buttons, cameraActions, playActions } from "./keys.js";
import { button, option, sign } from "./parts.js";

/** cameraButtons are those that move the camera. */
export const cameraButtons = (view) => el("div", { className: "camera", role: "group", "aria-label": "camera" }, ...buttons(cameraActions(view)));

/** transport is what plays: its buttons, speed, time, jump, follow. */
export function transport(view) {
  const all = buttons(playActions(view)), play = all.find((b) => b.dataset.testid === "play");
  const speed = el("select", { "data-testid": "speed", "aria-label": "speed", onchange: () => view.setSpeed(Number(speed.value)) },
    ...speeds.map((s) => option(s, `${s}×`)));
  speed.value = view.speed;
  const name = (on) => {
    const text = on ? "pause" : "play";
    play.replaceChildren(sign(text));
    play.title = `${text} (Space)`;
    play.setAttribute("aria-label", text);
  };
  name(false);
  view.on("play", name);
  view.on("speed", (s) => { speed.value = s; });
  all.splice(-1, 0, speed);
  return el("div", { className: "controls", role: "group", "aria-label": "playing" }, ...all, clock(view), jump(view), follow(view));
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

/** follow is the list of who is there. */
function follow(view) {
  const choose = () => view.setFollow(view.there.find((e) => String(e.id) === list.value)?.id ?? null);
  const list = el("select", { "data-testid": "follow", "aria-label": "follow (f)", title: "follow (f, F)", onchange: choose });
  let shown = "";
  const fill = () => {
    const { there, follow: id } = view, key = JSON.stringify([id, there.map((e) => [e.id, e.name])]);
    if (key === shown) return;
    shown = key;
    list.replaceChildren(option("", "follow nobody"), ...there.slice(0, 1100).map((e) => option(e.id, clean(e.name, 40) || `${e.kind} ${e.id}`)));
    if (id !== null && !there.some((e) => view.follows(e))) list.append(option(id, `${clean(id, 40)} (not here)`));
    list.value = id ?? "";
  };
  view.on("paint", fill);
  view.on("follow", fill);
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
  const box = el("div", { className: "share" }, link);
  if (view.about.kind !== "tee" || !view.timed) return box;
  const demo = el("a", { "data-testid": "demo", download: "", title: "this minute for the DDNet client (d)" }, "Demo");
  const point = () => {
    const half = 30000 / view.about.tick_ms, t = Math.floor(view.tick);
    demo.href = view.source.file(`demos/${Math.max(view.first, t - half)}-${Math.min(view.last, t + half)}.demo`);
  };
  point();
  view.on("rest", point);
  demo.addEventListener("pointerdown", point);
  view.demo = () => {
    point();
    demo.click();
  };
  box.append(demo);
  return box;
}
