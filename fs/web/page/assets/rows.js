// The rows of the list: what is known of a recording, in words.
import { timeText } from "./clock.js";
import { bdi, clean, count, el, moment, plural, size } from "./dom.js";
import { root } from "./fetch.js";

// escapePath returns the path of a row as a URL has it, byte for byte.
export function escapePath(row) {
  if (row.path_hex) return row.path_hex.replace(/../g, (hex) => (hex === "2f" ? "/" : "%" + hex));
  return row.path.split("/").map(encodeURIComponent).join("/");
}

// damage says in words what is wrong with a recording; "" where nothing is known to be.
export function damage(row) {
  if (row.error) return `does not open: ${row.error}`;
  return row.problems > 0 ? plural(row.problems, "problem") : "";
}

// standing says how far a recording is known and came.
export function standing(row) {
  if (row.error) return "";
  if (!row.indexed) return "no index yet";
  if (row.finished === false) return "not finished";
  return row.complete === false && !row.problems ? "incomplete" : "";
}

// crowd returns the players as text: names, and how many more there are.
export function crowd(row) {
  if (!row.players) return "";
  const left = (row.players_total ?? row.players.length) - row.players.length;
  return row.players.map((name) => clean(name, 60)).join(", ") + (left > 0 ? ` +${count(left)}` : "");
}

// summary says how many recordings there are, and what could not be told.
export function summary(answer) {
  const all = plural(answer.total, "recording");
  const parts = [answer.matches === answer.total ? all : `${count(answer.matches)} of ${all}`];
  if (answer.unknown > 0) parts.push(`${count(answer.unknown)} cannot be judged without an index`);
  if (answer.unlisted > 0) parts.push(`${count(answer.unlisted)} archives were not looked into`);
  if (answer.walking) parts.push("still looking");
  return parts.join("; ");
}

// cell returns a part of a row, which a screen reader names; without content there is nothing to name.
function cell(name, label, content) {
  if (content === "") return el("span", { className: `${name} none` });
  return el("span", { className: name }, el("span", { className: "hidden-text", textContent: label && ` ${label} ` }), content);
}

// state returns in words what is wrong with a recording and how far it is known.
function state(row) {
  const wrong = damage(row), rest = standing(row);
  if (!wrong) return rest;
  const all = new DocumentFragment();
  all.append(el("strong", { textContent: clean(wrong), title: clean(wrong, 2000) }), rest && ", " + rest);
  return all;
}

// rowOf returns a row of the list.
export function rowOf(row) {
  const slash = row.path.lastIndexOf("/");
  const title = el("span", { className: "name cut", title: clean(row.path, 2000) }, bdi(row.path.slice(slash + 1) || "recording"));
  if (slash > 0) title.append(" ", el("span", { className: "dim" }, bdi(row.path.slice(0, slash + 1))));
  const link = el("a", { href: new URL(`.view/play/${escapePath(row)}`, root).href }, title,
    cell("format", "format", clean(row.format ?? "", 30)),
    cell("map cut", "map", row.map ? bdi(row.map) : ""),
    cell("players cut", "players", row.players?.length ? bdi(crowd(row)) : ""),
    cell("start number", "from", row.start ? el("time", { dateTime: row.start, textContent: moment(row.start), title: clean(row.start, 60) }) : ""),
    cell("length number", "long", row.duration_ms === null ? "" : timeText(row.duration_ms)),
    cell("size number", "", row.size === null ? "" : size(row.size)),
    cell("state cut", "", state(row)));
  return el("li", { "data-testid": "row", "data-path": row.path }, link);
}
