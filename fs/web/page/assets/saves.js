// What changed from one save of NetHack to the next.

const groups = ["game", "hero", "attributes", "conducts", "location"];

/** changes lists the scalars of two states that differ: [{path, from, to}], in the order of the later one. */
export function changes(before, now) {
  const all = [];
  if (!before || !now) return all;
  for (const group of groups) {
    const keys = new Set([...Object.keys(now[group] ?? {}), ...Object.keys(before[group] ?? {})]);
    for (const key of keys) {
      const from = before[group]?.[key] ?? null, to = now[group]?.[key] ?? null;
      if (from !== to && typeof (to ?? from) !== "object") all.push({ path: `${group}.${key}`, from, to });
    }
  }
  return all;
}

const bucs = { blessed: "blessed ", uncursed: "uncursed ", cursed: "cursed " };

/** itemText is a thing of the pack as the game would list it. */
export function itemText(i) {
  const sign = typeof i.enchantment === "number" ? `${i.enchantment < 0 ? "−" : "+"}${Math.abs(i.enchantment)} ` : "";
  const notes = [i.worn && `worn: ${i.worn}`, i.name && `named ${i.name}`, ...(i.flags ?? [])].filter(Boolean).join(", ");
  return `${i.letter ?? "?"} - ${i.quantity ?? 1} ${i.buc_known ? bucs[i.buc] ?? "" : ""}${sign}${i.object ?? i.class ?? "thing"}${notes ? ` (${notes})` : ""}`;
}

/** heroText says who the hero is and how well, a line each. */
export function heroText(s) {
  const h = s.hero, a = s.attributes, l = s.location;
  if (!h) return ["This save cannot be read."];
  return [
    `${h.name}, ${[h.gender, h.alignment, h.race, h.role].filter(Boolean).join(" ")}`,
    `hit points ${h.hp} of ${h.hp_max}, power ${h.power} of ${h.power_max}, level ${h.level}`,
    a ? Object.entries(a).map(([k, n]) => `${k} ${n}`).join(" ") : "",
    l ? `${l.dungeon_name ?? "dungeon " + l.dungeon}, level ${l.level}, depth ${l.depth}` : "",
    `turn ${s.turn}${h.occupation ? ", " + h.occupation : ""}`,
  ].filter(Boolean);
}
