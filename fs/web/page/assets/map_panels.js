// What stands beside a map: its layers, what another map has else, images, sounds, settings.
import { clean, el, plural } from "./dom.js";
import { getBlob } from "./fetch.js";
import { button, line, rows } from "./parts.js";
import { fate, layerName, verdict } from "./maps.js";

/** layersPanel lists layers, each with a box, and returns what tells what became of them. */
export function layersPanel(view, state) {
  const { map, pictures } = state, boxes = new Map();
  const row = (l) => {
    const box = el("input", { type: "checkbox", onchange: () => state.show([l], box.checked) }), said = el("small");
    boxes.set(l, { box, said });
    tell(l);
    return el("li", { "data-testid": "layer", "data-index": l.index }, el("label", {}, box, el("bdi", {}, clean(layerName(l), 60)), said));
  };
  const read = (cell) => cell ?? "cannot be read";
  const tell = (l) => {
    const { box, said } = boxes.get(l), pair = state.comparison?.by.get(l.index), picture = pictures.of.get(l);
    box.checked = state.shows(l);
    const at = state.tile?.layers.find((c) => c.index === l.index), other = at?.other !== undefined && at.other !== at.cell;
    said.textContent = [
      picture?.error && "cannot be drawn", picture?.coarse && "drawn coarsely", pair && fate(pair),
      at && (other || at.cell !== ".") && `tile ${read(at.cell)}${other ? ` → ${read(at.other)}` : ""}`,
    ].filter(Boolean).join(" · ");
  };
  const parallax = el("input", { type: "checkbox", onchange: () => { state.parallax = parallax.checked; view.repaint(); } });
  const note = el("p", { className: "quiet" }), tile = el("p", { "data-testid": "tile", className: "number" });
  const all = (face, text, on) => button(face, text, null, null, () => state.show(map.layers, on));
  view.side("Layers", "layers",
    el("div", { className: "filters" }, all("All", "show all layers", true), all("None", "hide all layers", false), el("label", {}, parallax, "parallax")),
    tile, note, ...rows(map.layers, row));
  return () => {
    for (const l of boxes.keys()) tell(l);
    note.textContent = pictures.out ? `Not drawn: ${plural(pictures.out, "layer")}, for there is no room for more pictures.` : "";
    const { tile: t } = state, cell = (c) => `${clean(layerName(map.layers[c.index]), 40)}: ${read(c.cell)}`;
    tile.textContent = t ? [`Column ${t.x}, row ${t.y}`, ...t.layers.filter((c) => c.cell !== ".").slice(0, 8).map(cell)].join("; ") : "";
  };
}

/** comparePanel asks for another map, and returns what lists how that differs. */
export function comparePanel(view, state) {
  const field = el("input", { type: "search", "data-testid": "compare", placeholder: "path of another map", "aria-label": "path of a map to compare with", value: view.keys.b ?? "" });
  const said = el("p"), lists = el("div", { className: "lists" });
  const moves = el("div", { className: "filters", hidden: true }, button("‹", "tiles before that differ", "N", null, () => state.next(-1)),
    button("›", "next tiles that differ", "n", null, () => state.next(1)));
  view.side("Compare", "comparison",
    el("form", { className: "filters", onsubmit: (e) => { e.preventDefault(); state.compare(field.value.trim()); } }, field, el("button", {}, "Compare")),
    el("div", { "data-testid": "differing", className: "lists" }, said, moves, lists));
  let seen = null;
  return () => {
    const diff = state.comparison?.diff;
    said.textContent = diff ? verdict(diff) : clean(state.failure ?? "");
    moves.hidden = !diff;
    if (diff === seen) return;
    seen = diff;
    lists.replaceChildren(...(diff ? rows([
      ...diff.layers.filter((l) => l.changed).map((l) => `layer ${layerName({ ...l, index: l.a ?? l.b })}: ${fate(l)}${l.more ? `, ${l.more} runs of them not marked` : ""}`),
      ...diff.images.map((i) => `image ${i.name}: ${i.what}`),
      ...diff.settings.map((s) => `${s.what}: ${s.was === undefined ? "" : s.was + " → "}${s.line}`),
      ...diff.errors.map((e) => `cannot be read: ${e}`),
    ], line) : []));
  };
}

/** itemsPanel lists what else a map holds. */
export function itemsPanel(view, map) {
  const file = (name) => name && view.source.file(name.split("/").map(encodeURIComponent).join("/")), info = map.info ?? {};
  const facts = [["author", info.author], ["version", info.map_version], ["credits", info.credits], ["license", info.license]].filter(([, text]) => text);
  const part = (one, items, make) => (items?.length ? [el("details", {}, el("summary", {}, plural(items.length, one)), ...rows(items, make))] : []);
  const also = (li, text) => {
    li.append(el("small", {}, text));
    return li;
  };
  const image = (i) => {
    const li = line(i.name ?? `image ${i.index}`), href = file(i.path);
    if (href) li.replaceChildren(el("a", { href }, el("img", { src: href, alt: "", loading: "lazy", width: 32, height: 32 }), ...li.childNodes));
    return also(li, ` ${i.width ?? "?"} × ${i.height ?? "?"}${href ? "" : ", not in the map"}`);
  };
  view.side("Map", "items",
    ...facts.map(([key, text]) => el("p", {}, `${key}: `, el("bdi", {}, clean(text, 300)))),
    ...part("image", map.images, image),
    ...part("sound", map.sounds, (s) => sound(s, file(s.path))),
    ...part("setting", info.settings, line),
    ...part("group", map.groups, (g) => also(line(`${g.index} ${g.name ?? ""}`), ` parallax ${g.parallax?.join(", ")}; offset ${g.offset?.join(", ")}`)),
    el("p", {}, el("a", { href: file("items/") }, "Items as they are stored")));
}

let audio;

/** sound is one with a button that plays and stops it. */
function sound(s, href) {
  const title = clean(s.name ?? `sound ${s.index}`, 60), name = el("bdi", {}, title), said = el("small", { role: "status" });
  if (!href) return el("li", {}, name, el("small", {}, ", not in the map"));
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
  return el("li", {}, button("▶", `play or stop ${title}`, null, "sound", toggle), " ", el("a", { href }, name), said);
}
