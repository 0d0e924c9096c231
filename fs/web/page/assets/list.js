// The list of all recordings: its state is the query of the page.
import { Failure, dataURL, fetched, getData, latest, persist } from "./fetch.js";
import { clean, el, later } from "./dom.js";
import { rowOf, summary } from "./rows.js";

const $ = (id) => document.getElementById(id);
const search = $("search").elements.q, fields = $("fields"), rows = $("rows");
const names = ["player", "map", "format", "since", "until", "at", "longer", "shorter", "damaged", "sort"];
const still = matchMedia("(prefers-reduced-motion: reduce)");

let answer = { total: 0, matches: 0, rows: [], next: null, prev: null };
let after = ""; // where the page begins
let ready = false, error = null, painted = 0, again = 0, looks = 0;

// publish tells tests and programs what is seen.
function publish() {
  requestAnimationFrame(() => {
    painted++;
    window.recfs = Object.freeze({
      version: 1, view: "list", path: "", ready, error, playing: false,
      rows: Object.freeze(answer.rows.map((r) => r.path)), total: answer.total, matches: answer.matches,
      motion: still.matches ? "reduced" : "full", painted, fetched: Object.freeze({ ...fetched }),
    });
  });
}

// state returns what the fields ask for, without what says nothing.
function state() {
  const query = new URLSearchParams();
  const add = (name, value) => value && query.append(name, value);
  add("q", search.value.trim());
  for (const name of names) {
    const field = fields.elements[name];
    if (name === "sort") add(name, field.value === "-start" ? "" : field.value);
    else add(name, field.type === "checkbox" ? (field.checked ? field.value : "") : field.value.trim());
  }
  for (const player of more.getAll("player")) add("player", player);
  add("after", after);
  return query;
}

// What the address has that no field shows: the second player and those behind.
let more = new URLSearchParams();

// restore fills the fields from the address.
function restore() {
  const query = new URLSearchParams(location.search);
  search.value = query.get("q") ?? "";
  for (const name of names) {
    const field = fields.elements[name], value = query.get(name) ?? "";
    if (field.type === "checkbox") field.checked = value === "1";
    else {
      if (field.options) offer(field, value);
      field.value = name === "sort" ? value || "-start" : value;
    }
  }
  more = new URLSearchParams(query.getAll("player").slice(1).map((p) => ["player", p]));
  after = query.get("after") ?? "";
  if (names.some((name) => name !== "sort" && query.has(name))) $("filters").open = true;
}

// offer adds a value to those of a select.
function offer(select, value) {
  if (value && ![...select.options].some((o) => o.value === value)) select.add(el("option", { value, textContent: clean(value, 60) }));
}

// go shows what the fields ask for, and writes it into the address: as a new step of history or not.
function go(step) {
  const query = state().toString();
  if (query !== location.search.slice(1)) history[step ? "pushState" : "replaceState"](null, "", query ? "?" + query : location.pathname);
  return load();
}

const load = latest(async (signal, quiet = false) => {
  clearTimeout(again);
  if (!quiet) {
    ready = false;
    publish();
    rows.setAttribute("aria-busy", "true");
  }
  answer = await persist(() => getData(new URL("?" + state(), dataURL("list")), signal), tell, signal);
  tell(null);
  show();
  looks = answer.walking ? Math.min(looks + 1, 5) : 0;
  if (answer.walking) again = setTimeout(() => load(true), 200 * looks);
}, (e) => {
  tell({ sentence: e instanceof Failure ? e.message : "This page failed: reload it." });
  answer = { ...answer, rows: [], next: null, prev: null };
  show();
});

// tell shows a sentence with a button, or takes it away.
function tell(failure) {
  error = failure && failure.sentence;
  const notice = $("notice");
  notice.hidden = !failure;
  if (!failure) return;
  const again = el("button", { type: "button", textContent: "Try again", onclick: failure.retry ?? (() => load()) });
  notice.replaceChildren(el("span", { textContent: clean(failure.sentence) }), again);
  publish();
}

// show shows the answer. What had the focus keeps it if it is still there.
function show() {
  const focused = rows.contains(document.activeElement) ? document.activeElement.closest("li").dataset.path : null;
  rows.replaceChildren(...answer.rows.map(rowOf));
  rows.removeAttribute("aria-busy");
  if (focused !== null) [...rows.children].find((li) => li.dataset.path === focused)?.firstChild.focus();
  for (const format of answer.formats ?? []) offer(fields.elements.format, format);
  $("total").textContent = error ? "" : summary(answer);
  $("nothing").hidden = answer.rows.length > 0 || error !== null;
  $("nothing").textContent = answer.walking ? "Nothing was found yet." : answer.total === 0 ? "There are no recordings here." : "No recording fits.";
  $("prev").disabled = answer.prev === null;
  $("next").disabled = answer.next === null;
  ready = !answer.walking;
  publish();
}

// turn goes to another page, and chooses its first row if the keyboard asked for it.
async function turn(to, choose) {
  if (to === null) return;
  after = to;
  scrollTo(0, 0);
  await go(true);
  if (choose) rows.firstElementChild?.firstChild.focus();
}

// move chooses the row that is so many rows below the chosen one.
function move(by) {
  const all = [...rows.children], at = all.indexOf(document.activeElement.closest?.("li"));
  const to = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by));
  all[to]?.firstChild.focus();
  all[to]?.scrollIntoView({ block: "nearest" });
}

const keys = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  PageDown: () => turn(answer.next, true),
  PageUp: () => turn(answer.prev, true),
  Home: () => move(-Infinity),
  End: () => move(Infinity),
  "/": () => addEventListener("keyup", () => search.focus(), { once: true }), // the field does not get it
};

document.addEventListener("keydown", (e) => {
  const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.ctrlKey || e.altKey || e.metaKey || (inField && !(e.target === search && e.key === "ArrowDown"))) return;
  if (!keys[e.key]) return;
  e.preventDefault();
  keys[e.key]();
});

const ask = (step) => {
  after = "";
  go(step);
};
const typed = later(() => ask(false), 150);
for (const form of [$("search"), fields]) {
  form.addEventListener("input", (e) => (e.target.matches("select, [type=checkbox]") ? ask(true) : typed()));
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    ask(true);
  });
}
fields.addEventListener("reset", () => {
  search.value = "";
  more = new URLSearchParams();
  setTimeout(() => ask(true)); // when the fields are empty
});
$("next").addEventListener("click", () => turn(answer.next));
$("prev").addEventListener("click", () => turn(answer.prev));
addEventListener("popstate", () => {
  restore();
  load();
});
document.addEventListener("visibilitychange", () => document.hidden || load(true));

$("filters").open = matchMedia("(min-width: 48rem)").matches;
restore();
load();
