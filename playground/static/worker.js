// Python with Ropewalk's server in a worker: it answers the requests of the page without any network.

import { loadPyodide } from "../pyodide/pyodide.mjs";
import * as networks from "./networks.js";

const SITE = "/lib/python3.13/site-packages";

async function start() {
  const begun = performance.now(), times = {};
  const note = name => { times[name] = Math.round(performance.now() - begun); postMessage({times}); };
  const archive = fetch(new URL("../ropewalk.zip", import.meta.url)).then(found => found.arrayBuffer());
  const computing = networks.start().then(() => note("networks"));
  const python = await loadPyodide({indexURL: new URL("../pyodide/", import.meta.url).href});
  note("python");
  python.unpackArchive(await archive, "zip", {extractDir: SITE});
  await computing;
  python.registerJsModule("networks", networks);
  note("files");
  const answer = await python.pyimport("playground").start();
  note("model");
  return {answer, times};
}

const ready = start();
ready.then(({times}) => postMessage({times}), error => postMessage({failure: String(error)}));

let queue = Promise.resolve();  // one request at a time
const dropped = new Set();

onmessage = ({data: {number, method, path, body, drop}}) => {
  if (drop) { dropped.add(drop); return; }
  queue = queue.then(async () => {
    if (dropped.delete(number)) return;
    try {
      const {answer} = await ready;
      const [status, type, content] = await answer(method, path, body ?? "");
      postMessage({number, status, type, content});
    } catch (error) { postMessage({number, failure: String(error)}); }
    await new Promise(done => setTimeout(done));  // so that messages about dropped requests arrive
  });
};
