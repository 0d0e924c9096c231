// What happens to a recording while it is looked at: it grows, it is replaced, nobody looks.

/** isAnother tells a recording that took the place of one from that one with more behind it. */
export const isAnother = (was, is) => was.finished || is.kind !== was.kind || is.start !== was.start
  || (was.first !== null && is.first !== was.first) || (is.last ?? -1) < (was.last ?? -1);

/** watch asks for news: every 5 s at rest at the end of what is not finished, else every 30 s. */
export function watch(view) {
  let timer = 0, known = JSON.stringify(view.about), gone = false;
  const ask = async () => {
    try {
      const about = await view.source.get("about"), now = JSON.stringify(about);
      if (gone) view.fail(null);
      gone = false;
      if (now !== known && isAnother(view.about, about)) return replaced(view);
      if (now !== known) grown(view, about);
      known = now;
    } catch (error) {
      gone = true;
      view.fail(error.message);
    }
    again();
  };
  const again = () => {
    clearTimeout(timer);
    const end = !view.playing && view.tick === view.last && !view.about.finished;
    if (!document.hidden) timer = setTimeout(ask, end ? 5000 : 30000);
  };
  view.on("rest", again);
  view.on("play", again);
  document.addEventListener("visibilitychange", () => {
    view.before = null;
    if (document.hidden) view.blocks?.want([]);
    view.repaint();
    again();
  });
  again();
}

/** grown takes over what is new. What played to the end goes on. */
function grown(view, about) {
  if (!view.timed) return location.reload();
  const longer = about.last > view.last;
  view.blocks.forget(longer ? view.last : undefined); // what was missing in between may have come
  Object.assign(view, { about, first: about.first, last: about.last });
  view.tell("grow");
  if (longer) view.say("The recording goes on.");
  if (longer && view.waits) view.play(true);
  view.repaint();
}

/** replaced says so, and loads the page anew as soon as that was read. */
function replaced(view) {
  view.fail("The recording was replaced by another one: the page loads it anew.");
  setTimeout(() => location.reload(), 2000);
}
