// Time of a recording: ticks, milliseconds, what people write, and how fast it plays.

export const speeds = [0.25, 0.5, 1, 2, 4, 8, 16];

/** stepAt is how many ticks apart frames are asked for at a speed: the same bytes a second for all. */
export const stepAt = (speed) => Math.max(1, Math.min(64, 2 * speed));

/** faster is the speed one step up (1) or down (-1). */
export function faster(speed, by) {
  const i = speeds.indexOf(speed) + by;
  return speeds[Math.max(0, Math.min(i, speeds.length - 1))];
}

const two = (n) => String(n).padStart(2, "0");

/** timeText is H:MM:SS, or M:SS below an hour, with hundredths if asked for. */
export function timeText(ms, hundredths = false) {
  const s = Math.floor(Math.abs(ms) / 1000), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  const tail = hundredths ? "." + two(Math.floor((Math.abs(ms) % 1000) / 10)) : "";
  return (ms < 0 ? "−" : "") + (h ? `${h}:${two(m)}` : m) + ":" + two(s % 60) + tail;
}

const count = (n, word) => (n ? `${n} ${word}${n === 1 ? "" : "s"} ` : "");

/** timeWords is a time as it is said: 1 hour 2 minutes 3 seconds. */
export function timeWords(ms) {
  const s = Math.floor(Math.max(0, ms) / 1000);
  const text = count(Math.floor(s / 3600), "hour") + count(Math.floor(s / 60) % 60, "minute") + count(s % 60, "second");
  return text.trim() || "0 seconds";
}

/** dayText is the time of day (UTC) at ms since start, '' where the recording has none. */
export function dayText(start, ms) {
  const at = new Date(Date.parse(start) + ms);
  return isNaN(at) ? "" : at.toISOString().replace("T", " ").replace(/\.\d+Z/, " UTC");
}

/** dayMS is the time since start of a moment as in @TIME: a time, or the first such time of day. */
function dayMS(text, start) {
  const begin = Date.parse(start);
  if (isNaN(begin)) return null;
  const clock = /^(\d\d):(\d\d):(\d\d(?:\.\d+)?)Z?$/.exec(text);
  if (!clock) {
    const at = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : text + "Z") : NaN;
    return isNaN(at) ? null : at - begin;
  }
  const of = (Number(clock[1]) * 60 + Number(clock[2])) * 60000 + Math.round(Number(clock[3]) * 1000);
  return (((of - (begin % 86400000)) % 86400000) + 86400000) % 86400000;
}

/** moment reads what people write: {tick}, {ms} since tick 0, or null if it is neither. */
export function moment(text, start) {
  text = String(text).trim();
  if (/^-?\d{1,12}$/.test(text)) return { tick: Number(text) };
  if (text[0] === "@") {
    const ms = dayMS(text.slice(1), start);
    return ms === null ? null : { ms };
  }
  const m = /^(?:(\d{1,6}):)?(\d{1,6}):(\d\d(?:\.\d{1,3})?)$/.exec(text);
  return m && { ms: Math.round((Number(m[1] ?? 0) * 3600 + Number(m[2]) * 60 + Number(m[3])) * 1000) };
}

/** msOf is the time of a tick since tick 0, which blocks of recordings without tick_ms tell. */
export function msOf(b, tick) {
  const f = (tick - b.first) / b.step, i = Math.max(0, Math.min(Math.floor(f), b.frames - 1));
  const next = b.ms[Math.min(i + 1, b.frames - 1)];
  return b.ms[i] + (next - b.ms[i]) * Math.max(0, Math.min(f - i, 1));
}

/** search returns the first i of 0 to n of which ok(i) is true, as it is of all behind; n: of none. */
export function search(n, ok) {
  let low = 0;
  while (low < n) {
    const mid = (low + n) >> 1;
    if (ok(mid)) n = mid;
    else low = mid + 1;
  }
  return low;
}

/** tickOf is the tick at a time of a block: the way back from msOf. */
export function tickOf(b, ms) {
  if (ms <= b.ms[0]) return b.first;
  const low = search(b.frames, (i) => b.ms[i] > ms) - 1;
  const wide = low + 1 < b.frames ? b.ms[low + 1] - b.ms[low] : 0;
  return b.first + (low + (wide > 0 ? (ms - b.ms[low]) / wide : 0)) * b.step;
}

/** longest is how many milliseconds a frame stays, whatever its recording says: games rest for days. */
const longest = 2000;

/** pace is when each frame of blocks is shown, in milliseconds from the first on. */
function pace(ms) {
  const out = [0];
  for (let i = 1; i < ms.length; i++) out.push(out[i - 1] + Math.max(0, Math.min(ms[i] - ms[i - 1], longest)));
  return out;
}

/**
 * advance is the tick that dt milliseconds bring at a speed. Without tickMS the blocks b and next
 * tell the times; where they end it waits. Never beyond last.
 */
export function advance(tick, dt, speed, last, tickMS, b, next) {
  if (tickMS) return Math.min(tick + (dt * speed) / tickMS, last);
  const ms = next && next.first === b.last + b.step ? b.ms.concat(next.ms) : b.ms;
  const both = { first: b.first, step: b.step, frames: ms.length, ms: pace(ms) }, end = b.first + (ms.length - 1) * b.step;
  const to = tickOf(both, msOf(both, tick) + dt * speed);
  return to >= end && end + b.step > last ? last : Math.min(to, last); // last may lie behind the last frame
}
