// Blocks of frames (docs/tree/page.md section 3): from what the server sends to the state at a tick.

/** tile is how many numbers of a position make a tile, a block or a metre. */
export const tile = (unit) => (unit === "m" ? 100 : 32);

/** sums makes numbers of the differences of a column; null: not known. */
export function sums(column) {
  if (!column) return null;
  const out = new Float64Array(column.length);
  for (let i = 0, n = 0; i < out.length; i++) out[i] = n += column[i];
  return out;
}

/** runs spreads [n, value, n, value, …]; null: not known. No longer than limit. */
export function runs(list, limit) {
  if (!list) return null;
  const out = [];
  for (let i = 0; i + 1 < list.length; i += 2) {
    for (let n = Math.min(list[i], limit - out.length); n > 0; n--) out.push(list[i + 1]);
  }
  return out;
}

/** rows fills the rows of screens that are null because the screen before has them. */
function rows(screens) {
  let before = [];
  return screens?.map((s) => s && (before = s.map((row, i) => row ?? before[i] ?? "")));
}

/** decode makes a block of the JSON of /.view/1/frames. */
export function decode(raw) {
  const n = raw.frames;
  return {
    ...raw, last: raw.first + (n - 1) * raw.step, more: raw.events_more,
    tracks: raw.tracks.map((t) => ({ ...t, x: sums(t.x), y: sums(t.y), z: sums(t.z), a: sums(t.a), s: runs(t.s, t.n) })),
    game: raw.game && { clock: raw.game.clock, blue: runs(raw.game.blue, n), orange: runs(raw.game.orange, n), status: runs(raw.game.status, n) },
    screens: rows(raw.screens), plain: rows(raw.plain),
  };
}

/** place finds the frame of a block at a tick, and how far it is to the next one (0 to 1). */
export function place(b, tick) {
  const f = Math.max(0, (tick - b.first) / b.step);
  const i = Math.min(Math.floor(f), b.frames - 1);
  return { i, u: Math.min(f - i, 1) };
}

/** heir finds the track that goes on with the entity of t at the frame behind its last. */
function heir(b, next, t, i) {
  if (i + 1 < b.frames) return b.tracks.find((o) => o.at === i + 1 && o.id === t.id);
  return next?.step === b.step && next.first === b.last + b.step
    ? next.tracks.find((o) => o.at === 0 && o.id === t.id) : undefined;
}

const mix = (p, q, u) => p + (q - p) * u;
const turn = (p, q, u) => (p + (((q - p + 384) % 256) - 128) * u + 256) % 256;

/** entity is a track at its frame j, on the way (u) to frame k of track to. */
function entity(t, j, to, k, u, leap) {
  const e = {
    id: t.id, name: t.name, team: t.team, kind: t.kind,
    x: t.x?.[j] ?? null, y: t.y?.[j] ?? null, z: t.z?.[j] ?? null, a: t.a?.[j] ?? null, s: t.s?.[j] ?? null,
  };
  if (t.color) e.color = t.color;
  if (!to || u === 0 || e.x === null || !to.x) return e;
  const x = to.x[k], y = to.y[k];
  if (Math.hypot(x - e.x, y - e.y) > leap) return e;
  e.x = mix(e.x, x, u);
  e.y = mix(e.y, y, u);
  if (t.z && to.z) e.z = mix(e.z, to.z[k], u);
  if (t.a && to.a) e.a = turn(e.a, to.a[k], u);
  return e;
}

/**
 * stateAt is what there is at a tick, which need not be whole: straight lines between frames, none
 * across a step of more than 5 tiles a tick. next is the block behind b, if it is at hand.
 * {tick, block, frame, entities: [{id, name, team, kind, x, y, z, a, s}], game, screen, plain}
 */
export function stateAt(b, tick, next, unit) {
  const { i, u } = place(b, tick);
  const leap = 5 * tile(unit) * b.step;
  const entities = [];
  for (const t of b.tracks) {
    const j = i - t.at;
    if (j < 0 || j >= t.n) continue;
    if (j + 1 < t.n) entities.push(entity(t, j, t, j + 1, u, leap));
    else {
      const to = u > 0 ? heir(b, next, t, i) : undefined;
      entities.push(entity(t, j, to, 0, u, leap));
    }
  }
  const game = b.game && Object.fromEntries(Object.entries(b.game).map(([key, column]) => [key, column?.[i]]));
  return { tick, block: b, frame: i, entities, game, screen: b.screens?.[i] ?? null, plain: b.plain?.[i] ?? null };
}

/** places lists where [x, y, z] of an entity in a block, from tick from to tick to. */
export function places(b, id, from, to) {
  const out = [];
  for (const t of b.tracks) {
    if (t.id !== id || !t.x) continue;
    for (let j = 0; j < t.n; j++) {
      const tick = b.first + (t.at + j) * b.step;
      if (tick >= from && tick <= to) out.push([t.x[j], t.y[j], t.z ? t.z[j] : 0]);
    }
  }
  return out;
}
