// The picture of a tree, made by the server, that one can walk through: by mouse, finger or keys.

const SVG = "http://www.w3.org/2000/svg";
const percent = share => `${Math.round(share * 100)} %`;

// The style of pictures is in a style sheet of the page, whose colours they follow.
export function element(text) {
  const bare = text.replace(/<style>[^]*?<\/style>/, "");  // the policy of the page refuses it even in a document apart
  const svg = document.importNode(new DOMParser().parseFromString(bare, "image/svg+xml").documentElement, true);
  svg.classList.remove("auto");
  return svg;
}

// Brackets look the same in every view: superbrackets with a hat and red, semibrackets blue, others green, an index as stars.
export function writeBrackets(svg) {
  const rows = new Map();
  for (const cell of svg.querySelectorAll("text.label")) {
    const texts = [...cell.querySelectorAll(":scope > tspan:is(.super, .semi, .naive)")].map(part => {
      const index = part.querySelector(".index")?.textContent ?? "", sign = part.textContent[0];
      return sign + (part.classList.contains("super") ? "^" : "") + "*".repeat(+index);
    });
    const text = texts.length ? texts.join("") : cell.textContent, y = cell.getAttribute("y");
    rows.set(y, [...(rows.get(y) ?? []), [cell, text]]);
  }
  for (const cells of rows.values()) {
    if (!cells.every(([, text]) => /^(?:[<>\\/]\^?\**)+$/.test(text) || text === "·") || cells[0][0].querySelector(".bracket")) continue;
    const ropes = cells.some(([, text]) => text.includes("^"));
    for (const [cell, text] of cells) cell.replaceChildren(...(text.match(/[<>\\/]\^?\**/g) ?? [text]).map(one => {
      const part = document.createElementNS(SVG, "tspan");
      part.setAttribute("class", one.includes("^") ? "super" : ropes ? "semi" : "naive");
      part.textContent = one;
      return part;
    }));
  }
}

export function describe(sentence, index) {
  if (!index) return "node 0, above the root";
  const word = sentence.words[index - 1];
  const below = sentence.words.filter(other => other.head === index).map(other => `${other.text} (${other.relation})`);
  const head = word.head ? `${word.relation} of ${sentence.words[word.head - 1].text}` : word.relation;
  return [
    `${word.index} ${word.text}`, word.upos, head, word.probability === null ? null : percent(word.probability),
    below.length ? `above ${below.join(", ")}` : null,
  ].filter(Boolean).join("; ");
}

export function subtree(sentence, index) {
  const found = new Set([index]);
  for (let grown = true; grown;) {
    grown = false;
    for (const word of sentence.words)
      if (found.has(word.head) && !found.has(word.index)) { found.add(word.index); grown = true; }
  }
  return found;
}

export class Picture {
  // `chosen(index)` is called as words get the focus or are clicked; with `picking`, it is the head of another.
  // `hung(index, head)` is called when a word or its arc is dragged onto another word.
  constructor(holder, text, sentence, chosen, hung = () => {}) {
    this.sentence = sentence;
    this.chosen = chosen;
    this.hung = hung;
    this.dragging = null;
    this.svg = element(text);
    writeBrackets(this.svg);
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("aria-label", `Tree of: ${sentence.text}. Arrow keys move along the words, up to the head and down to a dependent.`);
    holder.replaceChildren(this.svg);
    this.targets = new Map();
    for (const word of this.svg.querySelectorAll("text.word, text.node")) this.#target(word);
    this.order = [...this.targets.keys()];
    const first = this.targets.get(this.order.find(index => index > 0));
    if (first) first.setAttribute("tabindex", "0");
    this.#shares();
    this.#tokens();
    this.svg.addEventListener("keydown", event => this.#key(event));
    this.svg.addEventListener("pointerdown", event => this.#grasp(event));
    this.svg.addEventListener("pointermove", event => this.#drag(event));
    this.svg.addEventListener("pointerup", event => this.#release(event));
    this.svg.addEventListener("pointercancel", () => this.#letGo());
  }

  // A token of several words: below them in a picture that lies, beside them in one that stands.
  #tokens() {
    const tokens = this.sentence.multiword_tokens ?? [];
    if (!tokens.length) return;
    const {width, height} = this.svg.viewBox.baseVal, stands = this.svg.classList.contains("upright");
    const rows = [...this.svg.querySelectorAll("text.word, text.tag, text.label")].map(text => +text.getAttribute("y"));
    const below = Math.max(...rows) + 9;  // the lowest row; a legend stands under it
    for (const {text, first, last} of tokens) {
      const [from, to] = [first, last].map(index => this.targets.get(index)?.getBBox());
      if (!from || !to) continue;
      const group = document.createElementNS(SVG, "g"), line = document.createElementNS(SVG, "path");
      const name = document.createElementNS(SVG, "text"), x = width - 78;
      const low = Math.min(from.x, to.x), high = Math.max(from.x + from.width, to.x + to.width);
      line.setAttribute("d", stands ? `M${x - 8} ${from.y + 3}h4V${to.y + to.height - 3}h-4` : `M${low + 3} ${below}v5H${high - 3}v-5`);
      name.setAttribute("x", stands ? x : (low + high) / 2);
      name.setAttribute("y", stands ? (from.y + to.y + to.height) / 2 + 4 : below + 19);
      name.textContent = text;
      group.setAttribute("class", "token");
      group.append(line, name);
      this.svg.append(group);
    }
    if (stands) return;
    for (const legend of this.svg.querySelectorAll("g:has(> .note)")) legend.setAttribute("transform", "translate(0 22)");
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height + 22}`);
    this.svg.setAttribute("height", height + 22);
  }

  #place(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
  }

  #under(event) {
    const found = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".target");
    return [...this.targets].find(([, target]) => target === found)?.[0];
  }

  #grasp(event) {
    if (event.button !== 0 || event.pointerType === "touch") return;  // a finger scrolls
    const arc = event.target.closest("g.arc"), index = arc ? +arc.dataset.dependent : this.#under(event);
    if (index) this.dragging = {index, x: event.clientX, y: event.clientY, line: null};
  }

  #drag(event) {
    const one = this.dragging;
    if (!one || (!one.line && Math.hypot(event.clientX - one.x, event.clientY - one.y) < 8)) return;
    if (!one.line) {
      one.line = document.createElementNS(SVG, "path");
      one.line.setAttribute("class", "drag");
      this.svg.append(one.line);
      this.svg.classList.add("dragging");
      this.svg.setPointerCapture(event.pointerId);
    }
    const box = this.targets.get(one.index).getBBox(), to = this.#place(event), over = this.#under(event);
    one.line.setAttribute("d", `M${box.x + box.width / 2} ${box.y + box.height / 2}L${to.x} ${to.y}`);
    for (const [other, target] of this.targets) target.classList.toggle("picked", other === over && over !== one.index);
  }

  #release(event) {
    const one = this.dragging, over = this.#under(event);
    this.#letGo();
    if (!one?.line) return;
    this.svg.addEventListener("click", click => click.stopPropagation(), {capture: true, once: true});
    setTimeout(() => { if (over !== undefined && over !== one.index) this.hung(one.index, over); });
  }

  #letGo() {
    this.dragging?.line?.remove();
    this.dragging = null;
    this.svg.classList.remove("dragging");
    for (const target of this.targets.values()) target.classList.remove("picked");
  }

  #target(word) {
    const index = +word.dataset.node, group = document.createElementNS(SVG, "g"), box = word.getBBox();
    const rect = document.createElementNS(SVG, "rect");
    const width = Math.max(box.width + 8, 26), height = Math.max(box.height + 4, 26);
    for (const [name, value] of Object.entries({
      x: box.x + box.width / 2 - width / 2, y: box.y + box.height / 2 - height / 2, width, height, rx: 5,
    })) rect.setAttribute(name, value.toFixed(1));
    group.classList.add("target");
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "-1");
    group.setAttribute("aria-pressed", "false");
    group.setAttribute("aria-label", describe(this.sentence, index));
    word.replaceWith(group);
    group.append(rect, word);
    group.addEventListener("click", () => { group.focus(); this.chosen(index, true); });
    group.addEventListener("focus", () => { this.#rove(index); this.chosen(index, false); });
    this.targets.set(index, group);
  }

  // How sure the model is shows in the arc: faint and dotted where it is not.
  #shares() {
    for (const arc of this.svg.querySelectorAll("g.arc")) {
      const word = this.sentence.words[arc.dataset.dependent - 1];
      if (!word || +arc.dataset.head !== word.head) continue;
      const title = document.createElementNS(SVG, "title"), share = word.probability;
      const above = word.head ? this.sentence.words[word.head - 1].text : "root";
      title.textContent = `${above} → ${word.text}: ${word.relation}${share === null ? "" : `, ${percent(share)}`}`;
      arc.prepend(title);
      if (share !== null && arc.classList.contains("plain")) {
        arc.classList.toggle("unsure", share < 0.5);
        arc.style.setProperty("--share", (0.3 + 0.7 * share).toFixed(2));
      }
    }
  }

  #rove(index) {
    for (const [other, target] of this.targets) target.setAttribute("tabindex", other === index ? "0" : "-1");
  }

  #key(event) {
    const at = this.order.findIndex(index => this.targets.get(index) === document.activeElement);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const word = this.sentence.words[this.order[at] - 1];
    const below = this.sentence.words.find(other => other.head === this.order[at]);
    const to = {
      ArrowLeft: this.order[at - 1], ArrowRight: this.order[at + 1], Home: this.order[0], End: this.order.at(-1),
      ArrowUp: word && this.targets.has(word.head) ? word.head : undefined, ArrowDown: below && below.index,
    };
    if (event.key in to) {
      event.preventDefault();
      if (to[event.key] !== undefined) this.focus(to[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.chosen(this.order[at], true);
    }
  }

  // Show that the next word that is clicked becomes the head of a word; null: that is over.
  pick(index) {
    this.svg.classList.toggle("picking", index !== null);
    for (const [other, target] of this.targets) target.classList.toggle("picked", other === index);
  }

  // Show the words that a pattern matches.
  highlight(hits) {
    for (const [index, target] of this.targets) {
      target.classList.toggle("hit", hits.has(index));
      if (hits.has(index)) target.setAttribute("aria-label", `${describe(this.sentence, index)}; matches the pattern`);
    }
  }

  focus(index) {
    const target = this.targets.get(index);
    if (target) { target.focus(); target.scrollIntoView({block: "nearest", inline: "nearest"}); }
  }

  // Show a word with all below it, and the arc that it hangs on.
  mark(index) {
    const inside = index === null ? null : subtree(this.sentence, index);
    for (const [other, target] of this.targets) {
      target.classList.toggle("chosen", other === index);
      target.classList.toggle("inside", inside !== null && other !== index && inside.has(other));
      target.setAttribute("aria-pressed", String(other === index));
    }
    for (const arc of this.svg.querySelectorAll("g.arc")) {
      const head = +arc.dataset.head, dependent = +arc.dataset.dependent;
      arc.classList.toggle("own", inside !== null && dependent === index);
      arc.classList.toggle("inside", inside !== null && inside.has(head) && inside.has(dependent));
      arc.classList.toggle("dim", inside !== null && dependent !== index && !(inside.has(head) && inside.has(dependent)));
    }
  }
}

export async function png(text) {
  const image = new Image(), url = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
  try {
    await new Promise((done, failed) => { image.onload = done; image.onerror = failed; image.src = url; });
    const scale = Math.min(3, 16000 / Math.max(image.width, image.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(image.width * scale);
    canvas.height = Math.ceil(image.height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise(done => canvas.toBlob(done, "image/png"));
  } finally { URL.revokeObjectURL(url); }
}
