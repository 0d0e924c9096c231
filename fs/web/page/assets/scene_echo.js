// Echo VR from above and, below that, from the side: the length of the arena (z) to the right.
import { msOf, tickOf, timeText } from "./clock.js";
import { places } from "./columns.js";
import { clean, el } from "./dom.js";
import { box, circle, fill, frame, grid, label, path, stroke, trail } from "./draw.js";
import { dark } from "./parts.js";
import { placed } from "./view.js";

const metre = 100, trailMS = 3000;
const states = [[1, "has the disc"], [2, "blocks"], [4, "stunned"], [8, "invulnerable"]];

/** paints are those of teams, which shapes and words tell apart as well. */
const paints = () => (dark.matches ? { blue: "#6db3ff", orange: "#ffab5e" } : { blue: "#1f6fd0", orange: "#c65d00" });

/** stateText says what a player does. */
const stateText = (s) => states.filter(([bit]) => s & bit).map(([, word]) => word).join(", ");

/** layout is where the two pictures lie: the arena as [x0, z0, x1, z1], and where height 0 is below it. */
export function layout(bounds) {
  const known = bounds?.every(Number.isFinite) && bounds[2] > bounds[0] && bounds[3] > bounds[1];
  const [x0, z0, x1, z1] = known ? bounds : [-16 * metre, -45 * metre, 16 * metre, 45 * metre];
  return { x0, x1, z0, z1, level: x1 + 14 * metre, high: 10 * metre };
}

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

  function drawArena(ctx, camera, y0, y1, text) {
    frame(ctx, camera, [place.z0, y0, place.z1, y1], view.colors.faint);
    label(ctx, text, camera.sx(place.z0) + 6, camera.sy(y0) + 11, view.colors, "left");
  }

  function drawTrail(ctx, camera, at, to) {
    const b = at.block, from = msOf(b, at.tick) - trailMS, old = from < b.ms[0] ? view.blocks.look(b.first - b.step, b.step)?.block : null;
    const way = [old, b].flatMap((part) => (part?.frames ? places(part, -1, tickOf(part, from), at.tick) : []));
    trail(ctx, way.map((p) => pixel(camera, to(...p))), (i) => {
      ctx.globalAlpha = i / way.length;
      return [view.colors.ink, 1 + 3 * i / way.length];
    });
    ctx.globalAlpha = 1;
  }

  const pixel = (camera, [x, y]) => [camera.sx(x), camera.sy(y)];

  function drawDisc(ctx, x, y) {
    for (const [r, color] of [[8, view.colors.ink], [6, view.colors.paper], [3, view.colors.ink]]) {
      circle(ctx, x, y, r);
      fill(ctx, color);
    }
  }

  function drawPlayer(ctx, e, x, y, named) {
    const r = 7, s = e.s ?? 0, team = paints()[e.team] ?? view.colors.faint, followed = view.follows(e);
    if (e.team === "blue") circle(ctx, x, y, r);
    else if (e.team === "orange") box(ctx, x - r, y - r, 2 * r, 2 * r);
    else path(ctx, [x, y - r], [x + r, y + r], [x - r, y + r], [x, y - r]);
    fill(ctx, s & 4 ? view.colors.paper : team);
    stroke(ctx, s & 4 ? team : view.colors.ink, s & 4 ? 3 : 1.5);
    if (s & 1 || followed) {
      circle(ctx, x, y, r + 5);
      stroke(ctx, followed ? view.colors.accent : view.colors.ink, 2);
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
      drawArena(ctx, camera, place.x0, place.x1, "from above");
      drawArena(ctx, camera, place.level - place.high, place.level + place.high, "from the side");
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
