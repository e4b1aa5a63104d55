// The page's requests, answered by a worker of the page itself.

export const destination = "stays in this page: it is parsed here";

const worker = new Worker(new URL("./worker.js", import.meta.url), {type: "module"});
const waiting = new Map();
let count = 0, broken = null;

function fail(message) {
  broken = new Error(message);
  for (const {failed} of waiting.values()) failed(broken);
  waiting.clear();
}

worker.onerror = event => fail(event.message || "its worker does not start");
worker.onmessage = ({data: {number, status, type, content, failure, times}}) => {
  if (times) document.documentElement.dataset.times = JSON.stringify(times);
  if (failure && !number) fail(failure);
  const one = waiting.get(number);
  waiting.delete(number);
  if (!one) return;
  if (failure) one.failed(new Error(failure));
  else one.done(new Response(content, {status, headers: {"content-type": type}}));
};

export function request(path, {method = "GET", body = "", signal} = {}) {
  const number = ++count;
  return new Promise((done, failed) => {
    if (broken) { failed(broken); return; }
    waiting.set(number, {done, failed});
    signal?.addEventListener("abort", () => {
      if (!waiting.delete(number)) return;
      worker.postMessage({drop: number});
      failed(new DOMException("a newer request came", "AbortError"));
    });
    worker.postMessage({number, method, path, body});
  });
}
