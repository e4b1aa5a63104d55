// Small helpers to make elements; text is always set as text.

export const find = id => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

export const button = (text, onclick, attributes = {}) => make("button", {type: "button", onclick, ...attributes}, text);

export function save(name, content, kind) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type: kind}));
  make("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export async function copy(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* not a secure place: the old way */ }
  const field = make("textarea", {"aria-hidden": "true", class: "hidden"});
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
