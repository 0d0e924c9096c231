// Echo VR from above and, below that, from the side: the length of the arena (z) to the right.
import { msOf, tickOf, timeText } from "./clock.js";
import { trail } from "./columns.js";
import { clean, el } from "./dom.js";
import { grid, label } from "./heights.js";
import { dark } from "./parts.js";
import { placed } from "./view.js";

const metre = 100, trailMS = 3000;
const states = [[1, "has the disc"], [2, "blocks"], [4, "stunned"], [8, "invulnerable"]];

/** paints are those of teams, which shapes and words tell apart as well. */
const paints = () => (dark.matches ? { blue: "#6db3ff", orange: "#ffab5e" } : { blue: "#1f6fd0", orange: "#c65d00" });

/** stateText says what a player does. */
export const stateText = (s) => states.filter(([bit]) => s & bit).map(([, word]) => word).join(", ");

/** layout is where the two pictures lie: the arena as [x0, z0, x1, z1], and where height 0 is below it. */
export function layout(bounds) {
  const known = bounds?.every(Number.isFinite) && bounds[2] > bounds[0] && bounds[3] > bounds[1];
  const [x0, z0, x1, z1] = known ? bounds : [-16 * metre, -45 * metre, 16 * metre, 45 * metre];
  return { x0, x1, z0, z1, level: x1 + 14 * metre, high: 10 * metre };
}

/** before is the tick some time before another one of a block. */
const before = (b, tick, ms) => (b.ms ? tickOf(b, msOf(b, tick) - ms) : tick - ms);

export function scene(view) {
  const place = layout(view.about.bounds), score = el("p", { "data-testid": "score" }), list = el("ul", { className: "rows plain" });
  view.side("Match", "match", score, list);
  let said = "";
  const top = (x, y, z) => [z, x], side = (x, y, z) => [z, place.level - y];

  function tell(at) {
    const { blue, orange, clock, status } = at.game ?? {};
    const text = `blue ${blue ?? "?"} : ${orange ?? "?"} orange · clock ${typeof clock === "number" ? timeText(clock * 1000, true) : "?"} · ${clean(status ?? "", 40)}`;
    const players = at.entities.filter((e) => e.kind === "player");
    const key = text + JSON.stringify(players.map((e) => [e.name, e.team, e.s]));
    if (key === said) return;
    said = key;
    score.textContent = text;
    list.replaceChildren(...players.slice(0, 64).map((e) => el("li", {}, el("bdi", {}, clean(e.name, 40)), el("small", {}, ` ${clean(e.team, 12)} ${stateText(e.s ?? 0)}`))));
  }

  function frame(ctx, camera, y0, y1, text) {
    const x = camera.sx(place.z0), y = camera.sy(y0);
    ctx.strokeStyle = view.colors.faint;
    ctx.lineWidth = 1;
    ctx.strokeRect(x, y, (place.z1 - place.z0) * camera.scale, (y1 - y0) * camera.scale);
    label(ctx, text, x + 6, y + 11, view.colors, "left");
  }

  function drawTrail(ctx, camera, at, to) {
    const b = at.block, from = before(b, at.tick, trailMS);
    const old = from <= b.first ? view.blocks.look(b.first - b.step, b.step)?.block : null;
    const way = [...(old ? trail(old, -1, before(old, old.last, trailMS - (b.ms ? msOf(b, at.tick) - b.ms[0] : 0)), old.last) : []), ...trail(b, -1, from, at.tick)];
    ctx.strokeStyle = view.colors.ink;
    ctx.lineCap = "round";
    for (let i = 1; i < way.length; i++) {
      ctx.globalAlpha = i / way.length;
      ctx.lineWidth = 1 + 3 * i / way.length;
      ctx.beginPath();
      ctx.moveTo(...pixel(camera, to(...way[i - 1])));
      ctx.lineTo(...pixel(camera, to(...way[i])));
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }

  const pixel = (camera, [x, y]) => [camera.sx(x), camera.sy(y)];

  function drawDisc(ctx, x, y) {
    for (const [r, color] of [[8, view.colors.ink], [6, view.colors.paper], [3, view.colors.ink]]) {
      ctx.fillStyle = color;
      ctx.beginPath();
      ctx.arc(x, y, r, 0, 2 * Math.PI);
      ctx.fill();
    }
  }

  function drawPlayer(ctx, e, x, y, named) {
    const r = 7, s = e.s ?? 0;
    ctx.beginPath();
    if (e.team === "blue") ctx.arc(x, y, r, 0, 2 * Math.PI);
    else if (e.team === "orange") ctx.rect(x - r, y - r, 2 * r, 2 * r);
    else { ctx.moveTo(x, y - r); ctx.lineTo(x + r, y + r); ctx.lineTo(x - r, y + r); ctx.closePath(); }
    ctx.fillStyle = s & 4 ? view.colors.paper : paints()[e.team] ?? view.colors.faint;
    ctx.strokeStyle = s & 4 ? paints()[e.team] ?? view.colors.faint : view.colors.ink;
    ctx.lineWidth = s & 4 ? 3 : 1.5;
    ctx.fill();
    ctx.stroke();
    if (s & 1 || String(e.id) === String(view.follow)) {
      ctx.beginPath();
      ctx.arc(x, y, r + 5, 0, 2 * Math.PI);
      ctx.strokeStyle = String(e.id) === String(view.follow) ? view.colors.accent : view.colors.ink;
      ctx.lineWidth = 2;
      ctx.stroke();
    }
    if (!named) return;
    label(ctx, `${clean(e.name, 24)} · ${clean(e.team, 12)}`, x, y - r - 10, view.colors);
    if (s) label(ctx, stateText(s), x, y + r + 11, view.colors);
  }

  return {
    axes: ["z", "x"],
    bounds: [place.z0, place.x0, place.z1, place.level + place.high],
    kinds: ["status", "leave", "join", "team", "stun", "goal", "throw", "pause", "restart", "rules"],
    legend: "Above: from above. Below: from the side. Circle: blue, square: orange; hollow: stunned, with a ring: has the disc or is followed. The ringed disc trails its last 3 seconds.",
    draw(ctx, at, camera) {
      tell(at);
      grid(ctx, camera, view.colors, 5 * metre);
      frame(ctx, camera, place.x0, place.x1, "from above");
      frame(ctx, camera, place.level - place.high, place.level + place.high, "from the side");
      for (const [to, named] of [[top, true], [side, false]]) {
        drawTrail(ctx, camera, at, to);
        for (const e of at.entities) {
          if (e.x === null || e.z === null) continue;
          const [x, y] = pixel(camera, to(e.x, e.y, e.z));
          if (e.kind === "disc") drawDisc(ctx, x, y);
          else drawPlayer(ctx, e, x, y, named || camera.scale > 0.2);
        }
      }
    },
    entities: (at, camera) => placed(at?.entities ?? [], camera, ["z", "x"]),
    facts: (at) => ({ score: at?.game ? { blue: at.game.blue ?? null, orange: at.game.orange ?? null } : null, clock: at?.game?.clock ?? null }),
  };
}
