// What all views make elements and words with. Text becomes text, never markup.

// el returns an element with properties, attributes (names with a dash, role) and children.
export function el(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.includes("-") || name === "role" || name === "for") e.setAttribute(name, value);
    else e[name] = value;
  }
  e.append(...children);
  return e;
}

// bdi returns text of others, which may run from right to left, as far as a reader can take it.
export const bdi = (text) => el("bdi", { textContent: clean(text) });

// clean returns text without control characters, and not more of it than a line can have.
export function clean(text, most = 500) {
  text = String(text);
  if (text.length > most) text = text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "") + "…";
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
}

// size returns bytes in a unit of which there are fewer than 1000.
export function size(bytes) {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (bytes < 999.5) return `${unit === "B" || bytes >= 99.5 ? Math.round(bytes) : bytes.toFixed(1)} ${unit}`;
    bytes /= 1000;
  }
  return `${bytes.toFixed(1)} TB`;
}

// moment returns a time of RFC 3339 as date and time of day of this browser's zone, or of UTC.
export function moment(text, utc = false) {
  const d = new Date(text);
  if (Number.isNaN(d.getTime())) return clean(text, 40);
  const local = utc ? d : new Date(d.getTime() - d.getTimezoneOffset() * 60000);
  return local.toISOString().slice(0, 19).replace("T", " ");
}

// count returns a number with its digits in groups, plural one of so many things.
export const count = (n) => n.toLocaleString("en").replaceAll(",", "\u202f");
export const plural = (n, thing) => `${count(n)} ${thing}${n === 1 ? "" : "s"}`;

// later returns a function that has another one run once it was not called for so many milliseconds.
export function later(run, ms) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, ms);
  };
}

// icons are drawn with these paths in a square of 16.
const svg = "http://www.w3.org/2000/svg";

// icon returns a drawing for a button that has a name besides.
export function icon(path) {
  const s = document.createElementNS(svg, "svg"), p = document.createElementNS(svg, "path");
  s.setAttribute("viewBox", "0 0 16 16");
  s.setAttribute("aria-hidden", "true");
  p.setAttribute("d", path);
  s.append(p);
  return s;
}
