// Parts that the pieces of the viewer share.
import { clean, el, icon } from "./dom.js";

/** signs are the drawings of buttons, in a square of 16. */
const signs = {
  play: "M4 2v12l10-6z", pause: "M3 2h4v12H3zM9 2h4v12H9z", on: "M2 3v10l7-5zM11 3h3v10h-3z", back: "M14 3v10L7 8zM2 3h3v10H2z",
  next: "M2 14V2h8l-2 3 2 3H4v6zM11 5l4 3-4 3z", previous: "M14 14V2H6l2 3-2 3h6v6zM5 5L1 8l4 3z",
  left: "M10 2v12L3 8z", right: "M6 2v12l7-6z", up: "M2 10h12L8 3z", down: "M2 6h12l-6 7z",
  closer: "M7 2h2v5h5v2H9v5H7V9H2V7h5z", farther: "M2 7h12v2H2z", all: "M2 2h5v2H4v3H2zM9 2h5v5h-2V4H9zM2 9h2v3h3v2H2zM12 9h2v5H9v-2h3z",
};

/** sign is what a button shows: a drawing, or the text itself. */
export const sign = (name) => (signs[name] ? icon(signs[name]) : name);

/** button is one with a face, that says in words what it does, and by which key. */
export const button = (face, text, key, testid, run) => el("button", {
  type: "button", title: key ? `${text} (${key})` : text, "aria-label": text, "data-testid": testid, onclick: run,
}, sign(face));

/** rows is a list that begins with some, and shows more when asked. */
export function rows(items, make, step = 100) {
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

/** line is a row of such a list that has a text. */
export const line = (text) => el("li", {}, el("bdi", {}, clean(text, 200)));

export const option = (value, text) => el("option", { value }, text);

const media = (query) => matchMedia(`(prefers-${query})`);
export const dark = media("color-scheme: dark");
export const still = media("reduced-motion: reduce");

/** colors are those of the canvas, by day and by night: the ones of page.css. */
export const colors = () => (dark.matches
  ? { paper: "#14171a", ground: "#3d4751", grid: "#23282d", ink: "#e6e9ec", halo: "#14171ae0", faint: "#a3adb7", accent: "#4cc3d9", warn: "#f0a04b" }
  : { paper: "#f7f8f9", ground: "#c2c9d0", grid: "#e3e7ea", ink: "#1a1f24", halo: "#ffffffe6", faint: "#57606a", accent: "#0b6a7d", warn: "#a85500" });
