// What stands beside a map: its layers, what another map has else, images, sounds, settings.
import { clean, el } from "./dom.js";
import { getBlob } from "./fetch.js";
import { button } from "./parts.js";
import { fate, layerName, verdict } from "./maps.js";

/** rows is a list that begins with some, and shows more when asked. */
function rows(items, make, step = 100) {
  const list = el("ul", { className: "rows plain" }), more = el("button", { type: "button", onclick: () => add() });
  let n = 0;
  const add = () => {
    list.append(...items.slice(n, n + step).map(make));
    n = Math.min(n + step, items.length);
    more.hidden = n >= items.length;
    more.textContent = `${items.length - n} more`;
  };
  add();
  return [list, more];
}

const quiet = (...text) => el("p", { className: "quiet" }, ...text);

/** layersPanel lists layers, each with a box; update() tells what became of them. */
export function layersPanel(view, state, act) {
  const { map, pictures, cells } = state, boxes = new Map();
  const row = (l) => {
    const box = el("input", { type: "checkbox", checked: act.shows(l), onchange: () => act.show([l], box.checked) });
    const said = el("small", {});
    boxes.set(l, { box, said });
    const li = el("li", { "data-testid": "layer", "data-index": l.index }, el("label", {}, box, el("bdi", {}, clean(layerName(l), 60)), said));
    tell(l);
    return li;
  };
  const tell = (l) => {
    const { box, said } = boxes.get(l), pair = state.comparison?.by.get(l.index), picture = pictures.of.get(l);
    box.checked = act.shows(l);
    const cell = cells.tile?.layers.find((c) => c.index === l.index), now = cells.tile?.now[l.index];
    said.textContent = [
      picture?.error && "cannot be drawn", picture?.coarse && "drawn coarsely", pair && fate(pair),
      cell && `tile ${cell.cell ?? "cannot be read"}${now !== undefined && now !== cell.cell ? ` → ${now ?? "?"}` : ""}`,
    ].filter(Boolean).join(" · ");
  };
  const parallax = el("input", { type: "checkbox", onchange: () => act.parallax(parallax.checked) });
  const note = quiet(), tile = el("p", { "data-testid": "tile", className: "number" });
  view.side("Layers", "layers",
    el("div", { className: "filters" }, button("All", "show all layers", null, null, () => act.show(map.layers, true)),
      button("None", "hide all layers", null, null, () => act.show(map.layers, false)), el("label", {}, parallax, "parallax")),
    tile, note, ...rows(map.layers, row));
  return {
    update() {
      for (const l of boxes.keys()) tell(l);
      note.textContent = pictures.out ? `${pictures.out === 1 ? "1 layer is" : pictures.out + " layers are"} not drawn: there is no room for larger or more pictures.` : "";
      const { tile: t } = cells;
      const cell = (c) => `${clean(layerName(map.layers[c.index]), 40)}: ${c.cell ?? "cannot be read"}`;
      tile.textContent = t ? [`Column ${t.x}, row ${t.y}`, ...t.layers.filter((c) => c.cell !== ".").slice(0, 8).map(cell)].join("; ") : "";
    },
  };
}

/** comparePanel asks for another map, and lists what it has else. */
export function comparePanel(view, state, act) {
  const field = el("input", { type: "search", "data-testid": "compare", placeholder: "path of another map", "aria-label": "path of a map to compare with", value: view.keys.b ?? "" });
  const said = el("p", {}), lists = el("div", { className: "lists" });
  const moves = el("div", { className: "filters", hidden: true }, button("‹", "tiles before that differ", "N", null, () => act.next(-1)),
    button("›", "next tiles that differ", "n", null, () => act.next(1)));
  view.side("Compare", "comparison",
    el("form", { className: "filters", onsubmit: (e) => { e.preventDefault(); act.compare(field.value.trim()); } }, field, el("button", {}, "Compare")),
    el("div", { "data-testid": "differing", className: "lists" }, said, moves, lists));
  let seen = null;
  return {
    verdict,
    failed(text) { seen = undefined; said.textContent = clean(text); },
    update() {
      const { comparison } = state;
      if (comparison === seen || (seen === undefined && !comparison)) return;
      seen = comparison;
      lists.replaceChildren();
      moves.hidden = !comparison;
      said.textContent = comparison ? verdict(comparison.diff) : "";
      if (!comparison) return;
      const { diff } = comparison, line = (text) => el("li", {}, el("bdi", {}, clean(text, 200)));
      const all = [
        ...diff.layers.filter((l) => l.changed).map((l) => `layer ${layerName({ ...l, index: l.a ?? l.b })}: ${fate(l)}${l.more ? `, ${l.more} runs of them not marked` : ""}`),
        ...diff.images.map((i) => `image ${i.name}: ${i.what}`),
        ...diff.settings.map((s) => `${s.what}: ${s.was === undefined ? "" : s.was + " → "}${s.line}`),
        ...diff.errors.map((e) => `cannot be read: ${e}`),
      ];
      lists.append(...rows(all, line));
    },
  };
}

/** itemsPanel lists what else a map holds. */
export function itemsPanel(view, map) {
  const file = (name) => view.source.file(name.split("/").map(encodeURIComponent).join("/")), info = map.info ?? {};
  const facts = [["author", info.author], ["version", info.map_version], ["credits", info.credits], ["license", info.license]].filter(([, text]) => text);
  const part = (title, one, items, make) => (items?.length ? [el("details", {}, el("summary", {}, items.length === 1 ? `1 ${one}` : `${items.length} ${title}`), ...rows(items, make))] : []);
  const image = (i) => el("li", {}, i.path ? el("a", { href: file(i.path) },
    el("img", { src: file(i.path), alt: "", loading: "lazy", width: 32, height: 32 }), el("bdi", {}, clean(i.name, 60))) : el("bdi", {}, clean(i.name ?? `image ${i.index}`, 60)),
  el("small", {}, ` ${i.width ?? "?"} × ${i.height ?? "?"}${i.path ? "" : ", not in the map"}`));
  view.side("Map", "items",
    ...facts.map(([key, text]) => el("p", {}, `${key}: `, el("bdi", {}, clean(text, 300)))),
    ...part("images", "image", map.images, image),
    ...part("sounds", "sound", map.sounds, (s) => sound(s, s.path && file(s.path))),
    ...part("settings", "setting", info.settings, (text) => el("li", {}, el("bdi", {}, clean(text, 200)))),
    ...part("groups", "group", map.groups, (g) => el("li", {}, el("bdi", {}, clean(`${g.index} ${g.name ?? ""}`, 60)),
      el("small", {}, ` parallax ${g.parallax?.join(", ")}; offset ${g.offset?.join(", ")}`))),
    el("p", {}, el("a", { href: file("items/") }, "Items as they are stored")));
}

let audio;

/** sound is one with a button that plays and stops it. */
function sound(s, href) {
  const said = el("small", { role: "status" });
  let playing = null;
  const toggle = async () => {
    if (playing) return playing.stop();
    try {
      audio ??= new AudioContext();
      const data = await audio.decodeAudioData(await (await getBlob(href)).arrayBuffer());
      playing = new AudioBufferSourceNode(audio, { buffer: data });
      playing.connect(audio.destination);
      playing.onended = () => { playing = null; said.textContent = ""; };
      playing.start();
      said.textContent = ` plays, ${data.duration.toFixed(1)} s`;
    } catch {
      said.textContent = " cannot be played by this browser";
    }
  };
  const name = el("bdi", {}, clean(s.name ?? `sound ${s.index}`, 60));
  if (!href) return el("li", {}, name, el("small", {}, ", not in the map"));
  return el("li", {}, button("▶", `play or stop ${clean(s.name ?? s.index, 60)}`, null, "sound", toggle), " ", el("a", { href }, name), said);
}
