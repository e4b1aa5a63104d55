// Every path of the API with a form to try it, from its description.

import { button, find, make } from "./dom.js";

const NEEDS_FORM = "application/x-www-form-urlencoded";

function fields(properties) {
  return make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Fields"}, make("table", {},
    make("thead", {}, make("tr", {}, ...["Field", "Kind", "Meaning"].map(name => make("th", {scope: "col"}, name)))),
    make("tbody", {}, ...Object.entries(properties).map(([name, about]) => make("tr", {},
      make("th", {scope: "row"}, name),
      make("td", {}, about.enum ? about.enum.join(", ") : [about.type].flat().join(" or ")),
      make("td", {}, about.description ?? ""))))));
}

async function send(method, path, kind, text, output) {
  output.hidden = false;
  const begun = performance.now();
  try {
    const headers = kind ? {"content-type": kind} : {};
    const response = await fetch(path.slice(1), {method: method.toUpperCase(), headers, body: kind ? text : undefined});
    let body = await response.text();
    if ((response.headers.get("content-type") ?? "").startsWith("application/json")) body = JSON.stringify(JSON.parse(body), null, 2);
    output.textContent = `${response.status} in ${Math.round(performance.now() - begun)} ms\n\n${body}`;
  } catch (error) { output.textContent = String(error); }
}

function operation(path, method, about) {
  const content = about.requestBody?.content ?? {};
  const kind = "application/json" in content ? "application/json" : NEEDS_FORM in content ? NEEDS_FORM : null;
  const schema = kind ? content[kind].schema : null;
  const example = kind === "application/json" ? JSON.stringify(content[kind].example, null, 2)
    : path === "/process" ? "data=She walks backwards.&tokenizer=&tagger=&parser=" : "";
  const name = `${method.toUpperCase()} ${path}`;
  const text = make("textarea", {rows: "7", spellcheck: "false", "aria-label": `Body for ${name}`}, example);
  const output = make("pre", {tabindex: "0", hidden: true, "aria-label": `Answer of ${name}`, role: "status"});
  return make("article", {class: "sentence"},
    make("h2", {}, name), make("p", {}, about.summary),
    schema ? make("details", {}, make("summary", {}, "Fields"), fields(schema.properties)) : null,
    kind && example ? text : null,
    make("p", {}, button("Send", () => send(method, path, kind, text.value, output), {"aria-label": `Send ${name}`})),
    output);
}

const description = await (await fetch("openapi.json")).json();
find("paths").append(...Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).filter(([method, about]) => method === "post" || !about.parameters)
    .map(([method, about]) => operation(path, method, about))));
find("paths").setAttribute("aria-busy", "false");
