// The state of the viewer in the link: #t=6001&f=3&s=4 (docs/tree/page.md section 1).

const plain = (text) => {
  try { return decodeURIComponent(text.replace(/\+/g, " ")); } catch { return text; }
};

/** parse reads the keys of a fragment; the last of a name leads. */
export function parse(hash) {
  const keys = Object.create(null);
  for (const part of hash.replace(/^#/, "").split("&")) {
    const cut = part.indexOf("=");
    if (cut > 0) keys[plain(part.slice(0, cut))] = plain(part.slice(cut + 1));
  }
  return keys;
}

const coded = (text) => encodeURIComponent(text).replace(/%(2C|3A|40|2F)/g, decodeURIComponent);

/** change sets keys, takes away those that are null, and leaves the others as they are written. */
export function change(hash, keys) {
  const left = { ...keys };
  const parts = [];
  for (const part of hash.replace(/^#/, "").split("&")) {
    const name = plain(part.split("=", 1)[0]);
    if (part === "" || (name in keys && left[name] == null)) continue;
    parts.push(name in keys ? `${name}=${coded(String(left[name]))}` : part);
    if (name in keys) left[name] = null;
  }
  for (const name in left) if (left[name] != null) parts.push(`${name}=${coded(String(left[name]))}`);
  return parts.length ? "#" + parts.join("&") : "";
}

/** Writer puts keys into the link, at most four times a second and the last ones always. */
export class Writer {
  constructor(win = window) {
    this.window = win;
    this.keys = {};
    this.timer = 0;
  }

  set(keys) {
    Object.assign(this.keys, keys);
    this.timer ||= this.window.setTimeout(() => this.flush(), 250);
  }

  flush() {
    const { location, history } = this.window;
    this.window.clearTimeout(this.timer);
    this.timer = 0;
    const hash = change(location.hash, this.keys);
    this.keys = {};
    if (hash !== location.hash) history.replaceState(history.state, "", location.pathname + location.search + hash);
  }
}
