// Parts that the pieces of the viewer share.
import { el } from "./dom.js";

/** button is one with a sign, that says in words what it does, and by which key. */
export const button = (sign, text, key, testid, run) => el("button", {
  type: "button", title: key ? `${text} (${key})` : text, "aria-label": text, "data-testid": testid, onclick: run,
}, sign);

export const option = (value, text) => el("option", { value }, text);

const media = (query) => matchMedia(`(prefers-${query})`);
export const dark = media("color-scheme: dark");
export const still = media("reduced-motion: reduce");

/** colors are those of the canvas, by day and by night: the ones of page.css. */
export const colors = () => (dark.matches
  ? { paper: "#14171a", ground: "#3d4751", grid: "#23282d", ink: "#e6e9ec", halo: "#14171ae0", faint: "#a3adb7", accent: "#4cc3d9", warn: "#f0a04b" }
  : { paper: "#f7f8f9", ground: "#c2c9d0", grid: "#e3e7ea", ink: "#1a1f24", halo: "#ffffffe6", faint: "#57606a", accent: "#0b6a7d", warn: "#a85500" });
