// Requests: counted, ended with a signal, and made again while the server does not answer.

// What was fetched since the page opened. Bytes are counted as decoded.
export const fetched = { requests: 0, bytes: 0 };

// The root of the tree; a proxy may have put it below a path.
export const root = new URL("../../../", import.meta.url);

// dataURL is where the data called name of a path is, which is escaped as in the page's own URL.
export function dataURL(name, path = "", query = {}) {
  const url = new URL(`.view/1/${name}${path && "/" + path}`, root);
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(key, value);
  }
  return url;
}

// A Failure says in one sentence why there is no answer. again: asking once more may help.
export class Failure extends Error {
  constructor(sentence, again, status = 0) {
    super(sentence);
    this.again = again;
    this.status = status;
  }
}

const sentences = {
  401: "The server wants its token: reload the page to give it.",
  403: "The server refuses: its user may not read this.",
  404: "This is not there any more.",
  421: "The server does not answer to this name.",
  503: "The server is busy, or what it shows has just changed.",
  504: "The source of the recordings does not answer.",
};

// failureOf returns what an answer that is none says.
export function failureOf(status, text) {
  const line = text.split("\n", 1)[0].slice(0, 300);
  if (status === 400) return new Failure(`The address asks for something that is not there: ${line}.`, false, status);
  if (status === 500) return new Failure(`It cannot be read: ${line.replace(/^damaged: /, "")}.`, false, status);
  return new Failure(sentences[status] ?? `The server answers ${status}: ${line}`, status === 429 || status > 500, status);
}

// ask returns the body of an answer by a method of Response. With a signal that ended it throws an
// AbortError.
async function ask(url, signal, method, init) {
  fetched.requests++;
  let reply, body;
  try {
    reply = await fetch(url, { ...init, signal, credentials: "same-origin" });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Failure("The server does not answer.", true);
  }
  try {
    body = await reply[reply.ok ? method : "text"]();
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Failure("The server stopped in the middle of an answer.", true);
  }
  fetched.bytes += body.size ?? body.byteLength ?? new TextEncoder().encode(body).length;
  if (!reply.ok) throw failureOf(reply.status, body);
  return body;
}

// whole returns the value of a JSON text.
function whole(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure("The server sent half an answer.", true);
  }
}

// parse returns the value of an answer, which must be of this version.
export function parse(text) {
  const value = whole(text);
  if (value?.v !== 1) throw new Failure("The server has another version than this page: reload it.", false);
  return value;
}

// getData returns the data of a URL of dataURL.
export async function getData(url, signal) {
  return parse(await ask(url, signal, "text"));
}

// getJSON, getBlob and getRange return what the tree has; a range is of bytes from, inclusive, to
// another one, exclusive.
export const getJSON = async (url, signal) => whole(await ask(url, signal, "text"));
export const getBlob = (url, signal) => ask(url, signal, "blob");
export const getRange = (url, from, to, signal) => ask(url, signal, "text", { headers: { Range: `bytes=${from}-${to - 1}` } });

// waitOf is how many milliseconds to wait after so many failures in a row: 1 s, then twice as long
// each time, 30 s at most.
export const waitOf = (failures) => Math.min(30000, 1000 * 2 ** (failures - 1));

// persist calls make until it returns. tell hears of each failure that may pass, {sentence, wait,
// retry}, where retry() asks at once, and null once there is an answer. Others are thrown.
export async function persist(make, tell, signal) {
  for (let failures = 1; ; failures++) {
    try {
      const value = await make();
      if (failures > 1) tell(null);
      return value;
    } catch (e) {
      if (!(e instanceof Failure) || !e.again || signal?.aborted) throw e;
      await pause(waitOf(failures), signal, (retry) => tell({ sentence: e.message, wait: waitOf(failures), retry }));
    }
  }
}

// latest returns a function that runs another one with a signal, which ends when it is called again.
// How the last call fails is told.
export function latest(run, failed = () => {}) {
  let control;
  return async (...all) => {
    control?.abort();
    const { signal } = (control = new AbortController());
    await run(signal, ...all).catch((error) => signal.aborted || failed(error));
  };
}

// pause waits, until the function that it gives is called or a signal ends.
export function pause(ms, signal, give = () => {}) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const end = (then) => () => {
      clearTimeout(timer);
      then();
    };
    signal?.addEventListener("abort", end(() => reject(signal.reason)), { once: true });
    give(end(resolve));
  });
}
