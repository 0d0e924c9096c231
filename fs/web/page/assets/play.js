// The viewer: asks what the recording is, and puts the page together.
import { cameraButtons, share, transport } from "./controls.js";
import { clean, el } from "./dom.js";
import { events } from "./events.js";
import { dataURL, fetched, getData, getJSON, persist, root } from "./fetch.js";
import { keys } from "./keys.js";
import { players } from "./players.js";
import { stage } from "./stage.js";
import { problems, timeline } from "./timeline.js";
import { View } from "./view.js";
import { watch } from "./watch.js";

const path = location.pathname.slice(new URL(".view/play/", root).pathname.length);
const main = document.querySelector("main");
const head = el("header", {}, el("a", { href: new URL(".view/", root).href }, "All recordings"),
  el("h1", {}, el("bdi", {}, clean(main.dataset.path, 120))), el("a", { href: new URL(`${path}/`, root).href }, "Files"));
const sentence = el("p"), retry = el("button", { type: "button" }, "Try again");
const notice = el("div", { className: "notice", "data-testid": "error", role: "alert", hidden: true }, sentence, retry);

/** fail shows a sentence with a button that runs again; null takes it away. */
function fail(text, again = () => location.reload()) {
  notice.hidden = !text;
  sentence.textContent = clean(text ?? "");
  retry.onclick = again;
}

/** source is where data and files of the recording come from; both are asked for until they come. */
const source = {
  path,
  url: (href) => new URL(href, new URL(`.view/1/about/${path}`, root)).href,
  file: (name) => new URL(`${path}/${name}`, root).href,
  get: (name, query, signal) => source.ask(() => getData(dataURL(name, path, query), signal), signal),
  json: (name) => source.ask(() => getJSON(source.file(name))),
  down: false,
  async ask(make, signal) {
    const answer = await persist(make, (f) => source.trouble(f), signal);
    if (source.down) source.trouble(null); // the request that failed may have been given up
    return answer;
  },
  trouble(f) {
    source.down = !!f;
    source.fail(f?.sentence ?? null, f?.retry);
  },
  fail,
};

/** announcer reads sentences out, one in two seconds and the last one always. */
function announcer(view) {
  const live = el("p", { "data-testid": "announce", "aria-live": "polite", className: "hidden-text" });
  let last = 0, timer = 0;
  view.on("say", (text) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      last = performance.now();
      live.textContent = clean(text, 200);
    }, Math.max(0, last + 2000 - performance.now()));
  });
  view.on("play", (on) => view.say(on ? `plays at speed ${view.speed}` : "paused"));
  return live;
}

/** state takes over what the link says. */
async function state(view) {
  const { t, p, s, f, c } = view.keys;
  if ([0.25, 0.5, 1, 2, 4, 8, 16].includes(Number(s))) view.setSpeed(Number(s));
  if (f) view.setFollow(f);
  if (c && view.camera.read(c)) view.wide = view.near = false;
  if (t) await view.jump(t);
  if (p === "1") view.play(true);
}

/** layout puts the parts into the page. */
function layout(view) {
  const side = el("aside", { "data-testid": "side", "aria-label": "details" });
  view.side = (title, testid, ...children) => {
    const body = el("section", { "data-testid": testid, "aria-label": title }, el("h2", {}, title), ...children);
    side.append(body);
    return body;
  };
  view.focus = (...testids) => { // at the end of the key, so that the field does not get it
    const field = main.querySelector(testids.map((id) => `[data-testid="${id}"]`).join());
    addEventListener("keyup", () => {
      field?.focus();
      field?.select?.();
    }, { once: true });
  };
  const work = el("div", { className: "work" }, stage(view), cameraButtons(view));
  main.replaceChildren(head, notice, el("div", { className: "view" }, work, side), announcer(view));
  return work;
}

/** report says outside of the page that nothing can be seen. */
function report(text) {
  if (!notice.isConnected) main.replaceChildren(head, notice);
  fail(text);
  window.recfs = Object.freeze({ version: 1, view: null, path: main.dataset.path, ready: false, error: text, fetched: { ...fetched } });
}

async function begin() {
  if (main.dataset.error) return report(main.dataset.error);
  main.replaceChildren(head, notice);
  const about = await source.get("about");
  if (!about.kind) return report(about.error ?? "Recordings of this kind are not played here.");
  const view = new View(about, source);
  source.fail = (text, again) => view.fail(text, again);
  const work = layout(view);
  view.on("fail", ([text, again]) => fail(text, again));
  const module = await import(`./scene_${about.kind}.js`).catch(() => { throw new Error("The server does not answer."); });
  view.begin(await module.scene(view));
  view.canvas.setAttribute("aria-label", `${about.kind}: ${view.scene.legend ?? ""}`);
  if (view.timed) {
    work.append(timeline(view), problems(view), transport(view));
    events(view);
    if (about.kind !== "nethack") players(view);
  } else work.append(problems(view));
  if (view.scene.legend) work.append(el("p", { className: "legend dim" }, view.scene.legend));
  head.append(share(view), keys(view));
  watch(view);
  if (!view.timed && about.kind !== "map") view.fail(about.error ?? "There is nothing to play yet: the recording has no ticks.");
  await state(view);
  view.repaint();
}

begin().catch((error) => report(error.message));
