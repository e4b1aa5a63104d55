// The page: what is typed, dropped or linked becomes CoNLL-U, and every view is drawn from that.

import { Answers } from "./answers.js";
import * as api from "./api.js";
import { annotate, differences, faults, features, groups, heads, looksLikeConllu, pieces, rehang, split } from "./conllu.js";
import { button, copy, find, make, save } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { fillHelp } from "./help.js";
import { Picture, describe, png, subtree } from "./picture.js";
import { playSteps } from "./steps.js";
import { destination } from "./transport.js";
import { upright } from "./upright.js";

const VIEWS = {
  tree: "Tree", ropes: "Ropes", labels: "Labels", steps: "Steps", table: "Table", conllu: "CoNLL-U", json: "JSON",
};
const DRAWN = new Set(["tree", "ropes", "labels"]);
const COVERS = {proper: "proper rope cover", farthest: "farthest arcs only", all: "every arc structural"};
const SIZES = {scroll: "scroll", fit: "fit the page", upright: "stand upright"};
const LYING = {scroll: SIZES.scroll, fit: SIZES.fit};  // of views that only the server draws
const PLACEHOLDER = "Type a sentence, or drop a CoNLL-U file here";
const WAIT = 140, FIRST_SHOWN = 10;
const MOST_LINKED = 8000;  // characters of a link: browsers and mail programs cut or refuse much longer ones
const MOST_ASKED = 200000;  // characters of CoNLL-U in one request, far below what servers take
const MOST_PARSED = 40000;  // characters to parse in one request, so that it takes a second or so
const MOST_LAID_OUT = 30000;  // characters of a long text that the browser lays out at once

const state = {
  text: "", given: null, model: "", against: "", view: "tree", tags: true, shares: false, cover: "proper",
  encodings: ["optimal", "four-bit", "hexatags"], steps: "optimal", pattern: "", at: "1", size: "scroll",
};
let blocks = [], before = [], after = [], others = [], known = {encodings: [], steps: []};
let matched = null;  // the words to mark by sentence, and the number of matches; null without a pattern
const compared = new Answers(), searched = new Answers();
let shown = FIRST_SHOWN, pending = null, timer = null, took = 0, chosen = null, picking = null;

// ---------------------------------------------------------------- links

const LINKED = ["view", "model", "against", "cover", "steps", "pattern", "at", "size"];
const DEFAULTS = {view: "tree", against: "", cover: "proper", steps: "optimal", pattern: "", at: "1", size: "scroll", encodings: "optimal four-bit hexatags"};

function linkOf() {
  const fields = new URLSearchParams();
  const [name, content] = isConllu() ? ["conllu", blocks.join("")] : ["text", state.text];
  if (isLinkable()) fields.set(name, content);
  for (const name of LINKED) if (state[name] !== (DEFAULTS[name] ?? null)) fields.set(name, state[name]);
  if (state.encodings.join(" ") !== DEFAULTS.encodings) fields.set("encodings", state.encodings.join(" "));
  if (!state.tags) fields.set("tags", "0");
  if (state.shares) fields.set("shares", "1");
  return `#${fields}`;
}

const isConllu = () => state.given !== null || before.length > 0;
const isLinkable = () => (isConllu() ? blocks.reduce((size, block) => size + block.length, 0) : state.text.length) <= MOST_LINKED;

function readLink() {
  const fields = new URLSearchParams(location.hash.slice(1));
  state.at = "1";
  for (const name of LINKED) if (fields.has(name)) state[name] = fields.get(name);
  if (!(state.size in SIZES)) state.size = "scroll";
  if (!(state.view in VIEWS)) state.view = "tree";
  if (!(state.cover in COVERS)) state.cover = "proper";
  if (fields.has("encodings")) state.encodings = fields.get("encodings").split(" ").filter(Boolean).slice(0, 20);
  state.tags = fields.get("tags") !== "0";
  state.shares = fields.get("shares") === "1";
  state.given = fields.get("conllu");
  state.text = state.given === null ? fields.get("text") ?? "" : "";
  return fields.has("text") || fields.has("conllu");
}

const noteLink = () => history.replaceState(null, "", linkOf());

// ---------------------------------------------------------------- messages

function say(message) { find("status").textContent = message; }

function complain(error) {
  const problem = find("problem");
  problem.hidden = error === null;
  problem.textContent = error === null ? "" : error instanceof api.Refusal
    ? error.message : `The server does not answer (${error.message}). Is it still running?`;
}

function summary() {
  const words = blocks.reduce((count, block) => count + heads(block).length, 0);
  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const parts = [`${counted(blocks.length, "sentence")}, ${counted(words, "word")}`];
  if (state.given === null) parts.push(`parsed by ${state.model} in ${Math.max(1, Math.round(took))} ms`);
  else parts.push("trees as in the file");
  if (before.length) parts.push("edited by hand");
  if (matched) parts.push(`${matched.count} match${matched.count === 1 ? "" : "es"} in ${counted(matched.hits.size, "sentence")}`);
  const broken = blocks.filter(block => faults(block).length).length;
  if (broken) parts.push(`${counted(broken, "sentence")} without a tree`);
  if (state.against && others.length) {
    const found = differences(blocks, others);
    parts.push(`${found.differing} of ${counted(found.words, "word")} hang otherwise by ${state.against}, which is given the same words`);
  }
  say(`${parts.join("; ")}.`);
}

// ---------------------------------------------------------------- from text to trees

function later() {
  clearTimeout(timer);
  timer = setTimeout(refresh, WAIT);
}

// Only the newest question counts: what an older one answers is thrown away.
async function newest(work, failed = () => {}) {
  if (pending) pending.abort();
  const mine = pending = new AbortController();
  find("sentences").setAttribute("aria-busy", "true");
  try {
    await work(mine.signal);
    if (pending === mine) complain(null);
  } catch (error) {
    if (pending === mine && error.name !== "AbortError") { failed(); complain(error); }
  } finally {
    if (pending === mine) { pending = null; find("sentences").setAttribute("aria-busy", "false"); }
  }
}

// No tree stays that is not of what was typed or opened last.
function clear() {
  blocks = []; before = []; after = []; others = []; cards = {};
  find("sentences").replaceChildren();
  for (const name of ["undo", "redo", "more"]) find(name).hidden = true;
  find("conllu").disabled = true;
  say("");
}

function refresh() {
  clearTimeout(timer);
  before = [];
  after = [];
  shown = FIRST_SHOWN;
  stopPicking();
  chosen = null;
  return newest(async signal => {
    const begun = performance.now();
    const found = state.given !== null ? state.given
      : state.text.trim() ? await api.parse({text: state.text, model: state.model}, signal) : "";
    took = performance.now() - begun;
    blocks = split(found);
    await redraw(signal);
  }, clear);
}

async function redraw(signal) {
  const model = state.against;
  const parse = conllu => api.parse({conllu, model}, signal);
  const found = model ? await compared.of(model, blocks, MOST_PARSED, parse, done => tell("parsed", done, signal)) : [];
  others = found.flatMap(([, conllu]) => split(conllu));
  await show(signal);
}

// Say how far a file of many sentences is.
function tell(what, done, signal) {
  if (!signal.aborted && done < blocks.length) say(`${done.toLocaleString("en")} of ${blocks.length.toLocaleString("en")} sentences ${what} …`);
}

const update = () => newest(redraw);

function fieldsOf(range) {
  const fields = {conllu: range.map(number => blocks[number]).join(""), tags: state.tags};
  if (state.view === "tree" && state.shares) fields.probabilities = true;
  if (state.view === "tree" && others.length === blocks.length && others.length)
    fields.against = range.map(number => others[number]).join("");
  if (state.view === "ropes") Object.assign(fields, {cover: state.cover, bracketing: true});
  if (state.view === "labels") fields.labels = state.encodings;
  return fields;
}

async function show(signal) {
  const found = await search(signal);
  const numbers = [...blocks.keys()].filter(number => !found || found.hits.has(number));
  const start = Math.min(Math.max(1, Math.trunc(+state.at) || 1), Math.max(1, numbers.length)) - 1;
  state.at = String(start + 1);
  const range = numbers.slice(start, start + shown), some = numbers.map(number => blocks[number]);
  const isText = state.view === "conllu" || state.view === "json";
  const json = state.view === "json" ? await allSentences(some, signal) : [];
  const drawn = range.length && !isText ? await api.draw(fieldsOf(range), signal) : [];
  const played = state.view === "steps"
    ? await Promise.all(range.map(number => play(blocks[number], signal))) : [];
  if (signal.aborted) return;
  matched = found;
  const kept = chosen;
  stopPicking();
  cards = {};
  options();
  find("sentences").replaceChildren();
  if (state.view === "conllu") whole(some.join(""));
  else if (state.view === "json") whole(JSON.stringify(json, null, 2));
  else drawn.forEach((one, place) => card(range[place], one, played[place]));
  if (!blocks.length) find("sentences").append(make("p", {class: "empty"}, "The tree appears here as you type."));
  else if (!numbers.length) find("sentences").append(make("p", {class: "empty"}, "No sentence matches the pattern."));
  find("more").hidden = isText || start + shown >= numbers.length;
  showPager(numbers.length, isText);
  showHistory();
  find("conllu").disabled = !blocks.length;
  summary();
  noteLink();
  if (kept && cards[kept.sentence]) {
    if (kept.focused) cards[kept.sentence].picture?.focus(kept.word);
    choose(kept.sentence, kept.word, false);
  }
}

function showPager(count, isText) {
  find("pager").hidden = isText || count < 2;
  find("at").value = state.at;
  find("at").max = count;
  find("of").textContent = `of ${count.toLocaleString("en")}${matched ? ", those that match" : ""}`;
  find("previous").disabled = +state.at <= 1;
  find("next").disabled = +state.at >= count;
}

function go(number) {
  state.at = String(number);
  chosen = null;
  update();
}

async function allSentences(chosen, signal) {
  const found = [];
  for (const some of groups(chosen, MOST_ASKED)) found.push(...await api.convert({conllu: some.join("")}, signal));
  return found;
}

// The words that match the pattern, by sentence.
async function search(signal) {
  if (!state.pattern.trim()) return null;
  const hits = new Map(), {pattern} = state;
  let start = 0, count = 0;
  const ask = conllu => api.search({conllu, pattern}, signal);
  for (const [size, matches] of await searched.of(pattern, blocks, MOST_ASKED, ask, done => tell("searched", done, signal))) {
    for (const match of matches) {
      const number = start + match.sentence - 1;
      hits.set(number, new Set([...(hits.get(number) ?? []), ...match.hits]));
    }
    count += matches.length;
    start += size;
  }
  return {hits, count};
}

function play(block, signal, labels) {
  const fields = {encoding: state.steps};
  if (labels) Object.assign(fields, {labels, words: wordsOf(block)});
  else fields.conllu = block;
  return api.steps(fields, signal).catch(error => {
    if (error instanceof api.Refusal) return {problem: error.message};
    throw error;
  });
}

const wordsOf = block => block.split("\n").filter(line => /^\d+\t/.test(line)).map(line => line.split("\t")[1]);

// The pieces of a long text are laid out when they come into view.
function whole(text) {
  const parts = pieces(text, MOST_LAID_OUT).map(piece => make("span", {class: "piece"}, piece));
  if (blocks.length) find("sentences").append(make("pre", {tabindex: "0", "aria-label": VIEWS[state.view], dir: "ltr"}, ...parts));
}

// ---------------------------------------------------------------- one sentence

let cards = {};

function card(number, {picture, sentence, labels}, played) {
  const holder = make("div", {class: "scroll"}), details = make("div", {class: "details", hidden: true});
  const heading = make("h2", {id: `sentence-${number}`, dir: "auto"}, sentence.text);
  const saves = make("div", {class: "saves", role: "group", "aria-label": "Download this picture"},
    button("SVG", () => download(number, "svg")), button("PNG", () => download(number, "png")),
    button("TikZ", () => download(number, "tikz")));
  const body = make("article", {class: "sentence", "aria-labelledby": `sentence-${number}`},
    make("div", {class: "top"}, heading, DRAWN.has(state.view) ? saves : null));
  find("sentences").append(body);
  for (const fault of faults(blocks[number])) body.append(make("p", {class: "problem fault"}, fault));
  const hits = matched?.hits.get(number) ?? new Set();
  if (state.view === "table") body.append(table(sentence, hits));
  else if (state.view === "steps") body.append(stepsOf(number, played));
  else {
    body.append(holder);
    const stands = state.size === "upright" && state.view === "tree" && !others.length;
    holder.classList.toggle("fit", state.size === "fit");
    const view = new Picture(holder, stands ? upright(sentence, {tags: state.tags}) : picture, sentence,
      (word, pressed) => pick(number, word, pressed), (word, head) => { stopPicking(); rehangWord(number, word, head); });
    view.highlight(hits);
    cards[number] = {picture: view, sentence, details, body};
    body.append(details);
    if (state.view === "labels") body.append(coverage(labels));
    body.append(make("details", {class: "arcs"}, make("summary", {}, "Arcs as a table"), table(sentence, hits)));
  }
  if (sentence.probability !== null && state.view === "tree")
    heading.after(make("p", {class: "share"}, `whole tree right: ${Math.round(sentence.probability * 100)} %`));
}

const COLUMNS = {
  index: "#", text: "Word", lemma: "Lemma", upos: "UPOS", xpos: "XPOS", feats: "Features", head: "Head", relation: "Relation",
  probability: "Probability",
};

function table(sentence, hits) {
  const there = Object.keys(COLUMNS).filter(name => sentence.words.some(word => (word[name] ?? null) !== null));
  const cell = (word, name) => {
    const value = word[name] ?? "";
    if (name === "head") return word.head ? `${word.head} ${sentence.words[word.head - 1].text}` : "0 root";
    if (name === "feats") return Object.entries(value).map(pair => pair.join("=")).join(" ");
    return name === "probability" && value !== "" ? value.toFixed(2) : String(value);
  };
  return make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Table of: ${sentence.text}`},
    make("table", {},
      make("thead", {}, make("tr", {}, ...there.map(name => make("th", {scope: "col"}, COLUMNS[name])))),
      make("tbody", {}, ...sentence.words.flatMap(word => [
        ...(sentence.multiword_tokens ?? []).filter(token => token.first === word.index).map(token => tokenRow(token, there)),
        make("tr", {class: hits.has(word.index) ? "hit" : null}, ...there.map(name =>
          make(name === "text" ? "th" : "td", name === "text" ? {scope: "row", dir: "auto"} : {dir: "auto", class: name === "index" ? "index" : null}, cell(word, name)))),
      ]))));
}

// The row of a token of several words, before them.
const tokenRow = ({first, last, text}, columns) => make("tr", {class: "token"}, ...columns.map(name =>
  name === "text" ? make("th", {scope: "row", dir: "auto"}, text) : make("td", {class: "index"}, name === "index" ? `${first}-${last}` : "")));

function coverage(labels) {
  return make("ul", {class: "coverage"}, ...labels.map(one => make("li", {class: one.covered ? "good" : "bad"},
    make("b", {}, one.encoding), one.covered ? ": this tree comes back from its labels."
      : one.columns.length ? `: does not cover this tree (${one.why}). The labels are of a tree with arcs lifted.`
        : `: no labels, since ${one.why}.`)));
}

function stepsOf(number, played) {
  const root = make("div", {class: "steps", tabindex: "-1"});
  const fill = (found, typed = null) => {
    const field = make("input", {type: "text", value: typed ?? (found.labels ?? []).join(" "), spellcheck: "false", dir: "ltr",
      onkeydown: event => event.stopPropagation(), "aria-invalid": found.problem ? "true" : null,
      onchange: async event => {
        const labels = event.target.value;
        fill(await play(blocks[number], undefined, labels.split(/\s+/).filter(Boolean)), labels);
      }});
    const label = make("label", {class: "wide"}, "Labels, to be changed as you like", field);
    if (found.problem) {  // the labels stay, to be mended
      root.replaceChildren(make("p", {class: "problem", role: "alert"}, found.problem), label);
      return;
    }
    const template = document.createElement("template");
    template.innerHTML = found.html;
    template.content.querySelectorAll("style").forEach(style => style.remove());
    template.content.querySelectorAll("svg.ropewalk").forEach(svg => svg.classList.remove("auto"));
    root.replaceChildren(template.content, label);
    if (found.lifted) root.prepend(make("p", {class: "problem"}, "This tree had to be lifted: the labels are of another one."));
    playSteps(root, root, found.steps);
  };
  fill(played);
  return root;
}

// ---------------------------------------------------------------- words: look at them, and hang them elsewhere

function pick(number, word, pressed) {
  if (picking && pressed && picking.sentence === number) {
    const {word: hung} = picking;
    stopPicking();
    if (word !== hung) rehangWord(number, hung, word);
    else choose(number, word, true);
    return;
  }
  if (picking && picking.sentence === number) { say(`${describe(cards[number].sentence, word)}. Enter makes it the head.`); return; }
  if (word) choose(number, word, true);
}

// While a head is chosen, the sentence says so, and every word is a place to hang the word on.
function startPicking(number, word) {
  stopPicking();
  picking = {sentence: number, word: word.index};
  const {picture, body} = cards[number];
  const asked = `Choose the head of ${word.text}: click a word, or move to it and press Enter. Escape leaves it as it is.`;
  const root = button("Make it the root", () => { stopPicking(); rehangWord(number, word.index, 0); });
  const cancel = button("Cancel", () => { stopPicking(); say("Nothing was changed."); picture.focus(word.index); });
  body.querySelector(".top").after(make("div", {class: "mode"}, make("p", {}, asked), root, cancel));
  picture.pick(word.index);
  say(asked);
  picture.focus(word.index);
}

function stopPicking() {
  if (!picking) return;
  const there = cards[picking.sentence];
  picking = null;
  there?.picture.pick(null);
  there?.body.querySelector(".mode")?.remove();
}

function choose(number, word, focused) {
  for (const [other, {picture, details}] of Object.entries(cards)) if (+other !== number) { picture.mark(null); details.hidden = true; }
  const {picture, sentence, details} = cards[number];
  if (!sentence.words[word - 1]) return;
  chosen = {sentence: number, word, focused};
  picture.mark(word);
  details.hidden = false;
  details.replaceChildren(...about(number, sentence, sentence.words[word - 1]));
}

function about(number, sentence, word) {
  const to = index => button(sentence.words[index - 1].text, () => cards[number].picture.focus(index), {class: "link", dir: "auto"});
  const below = sentence.words.filter(other => other.head === word.index);
  const inside = subtree(sentence, word.index);
  const rows = [
    ["Part of speech", [word.upos, word.xpos].filter(Boolean).join(" ") || "–"],
    ["Lemma", word.lemma], ["Features", Object.entries(word.feats ?? {}).map(pair => pair.join("=")).join(" ")],
    ["Head", word.head ? to(word.head) : "none: it is a root"],
    ["Relation", word.relation],
    ["Probability", word.probability === null ? null : `${(word.probability * 100).toFixed(1)} %`],
    ["Dependents", below.length ? make("span", {}, ...below.flatMap((other, place) => place ? [", ", to(other.index)] : [to(other.index)])) : "none"],
    ["Subtree", sentence.words.filter(other => inside.has(other.index)).map(other => other.text).join(" ")],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  const head = make("select", {}, make("option", {value: "0", selected: word.head === 0}, "0 root"),
    ...sentence.words.filter(other => other.index !== word.index).map(other =>
      make("option", {value: other.index, selected: other.index === word.head}, `${other.index} ${other.text}`)));
  const relation = make("input", {type: "text", value: word.relation, list: "relations", size: "12", spellcheck: "false"});
  const change = () => rehangWord(number, word.index, +head.value, relation.value.trim());
  head.addEventListener("change", change);
  relation.addEventListener("change", change);
  const choice = make("select", {onchange: event => annotateWord(number, word.index, {upos: event.target.value})},
    ...[...new Set(["", word.upos ?? "", ...UPOS.split(" ")])].map(name => make("option", {value: name, selected: name === (word.upos ?? "")}, name || "–")));
  const text = (name, value, size, change) => make("input", {type: "text", value, size, spellcheck: "false", autocomplete: "off",
    "data-cell": name, onchange: event => change(event.target.value.trim())});
  const lemma = text("lemma", word.lemma ?? "", "12", value => annotateWord(number, word.index, {lemma: value}));
  const feats = text("feats", Object.entries(word.feats ?? {}).map(pair => pair.join("=")).join("|"), "28", value => {
    const tidy = features(value);
    if (tidy === null) say("Features are pairs such as Case=Nom|Number=Sing.");
    else annotateWord(number, word.index, {feats: tidy});
  });
  const choosing = button("Choose its head in the picture", () => startPicking(number, word));
  return [
    make("h3", {dir: "auto"}, word.text),
    make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {dir: "auto"}, value)])),
    make("div", {class: "row edit", role: "group", "aria-label": `Edit the arc of ${word.text}`},
      make("label", {}, "Hang it on ", head), make("label", {}, "as ", relation), choosing),
    make("div", {class: "row", role: "group", "aria-label": `Edit the annotation of ${word.text}`},
      make("label", {}, "UPOS ", choice), make("label", {}, "Lemma ", lemma), make("label", {}, "Features ", feats)),
  ];
}

function rehangWord(number, word, head, relation = null) {
  const [oldHead, oldRelation] = heads(blocks[number])[word - 1];
  const name = relation || oldRelation;
  const named = relation !== null && relation !== oldRelation ? relation
    : head === 0 ? "root" : oldHead === "0" && name === "root" ? "dep" : name;
  if (+oldHead === head && named === oldRelation) return;
  if (!/^[^\s|]+$/.test(named)) { say("A relation is one word, such as nsubj or obl:tmod."); return; }
  replaceBlock(number, word, rehang(blocks[number], word, head, named));
}

function annotateWord(number, word, cells) {
  if (Object.values(cells).some(value => /[\t\n]/.test(value))) { say("An annotation has no tabs and no line ends."); return; }
  replaceBlock(number, word, annotate(blocks[number], word, cells));
}

// One edit; those before it can be undone.
function replaceBlock(number, word, block) {
  if (block === blocks[number]) return;
  before.push([...blocks]);
  after = [];
  blocks[number] = block;
  chosen = {sentence: number, word, focused: true};
  update();
}

// One edit back, or one of those undone again.
function step(from, to) {
  if (!from.length) return;
  to.push(blocks);
  blocks = from.pop();
  stopPicking();
  showHistory();
  if (find("undo").hidden) find("text").focus();
  update();
}

function showHistory() {
  find("undo").hidden = find("redo").hidden = !before.length && !after.length;
  find("undo").disabled = !before.length;
  find("redo").disabled = !after.length;
}

// ---------------------------------------------------------------- downloads

async function download(number, form) {
  const fields = {...fieldsOf([number]), theme: "light", form: form === "tikz" ? "tikz" : "svg"};
  try {
    const [{picture}] = await api.draw(fields);
    if (form === "png") save(`tree-${number + 1}.png`, await png(picture));
    else save(`tree-${number + 1}.${form === "tikz" ? "tex" : "svg"}`, picture, form === "tikz" ? "text/x-tex" : "image/svg+xml");
  } catch (error) { complain(error); }
}

// ---------------------------------------------------------------- the choices of a view

function options() {
  const active = document.activeElement?.closest?.("#options") ? document.activeElement.dataset.option : null;
  const box = (name, label) => make("label", {}, make("input", {type: "checkbox", checked: state[name], "data-option": name,
    onchange: event => { state[name] = event.target.checked; update(); }}), ` ${label}`);
  const select = (name, label, choices) => make("label", {}, `${label} `, make("select", {"data-option": name,
    onchange: event => { state[name] = event.target.value; update(); }},
  ...Object.entries(choices).map(([value, text]) => make("option", {value, selected: state[name] === value}, text))));
  const rows = {
    tree: () => [box("tags", "Parts of speech"), box("shares", "Probabilities"), select("size", "Long trees", SIZES),
      state.against ? make("span", {class: "legend"}, `dashed, green: only in ${state.given === null ? state.model : "the file"}; ` +
        `red, below the words: only by ${state.against}`) : null,
      make("span", {class: "legend"}, make("i", {class: "faint-line", "aria-hidden": "true"}), "faint, dotted: the model is unsure")],
    ropes: () => [box("tags", "Parts of speech"), select("cover", "Cover", COVERS), select("size", "Long trees", LYING),
      make("span", {class: "legend"}, "red: structural arcs, the ropes; dashed: arcs that lean on them")],
    labels: () => [select("size", "Long trees", LYING), make("fieldset", {}, make("legend", {}, "Encodings"), ...known.encodings.map(one =>
      make("label", {title: one.covers}, make("input", {type: "checkbox", "data-option": `encoding-${one.name}`,
        checked: state.encodings.includes(one.name), onchange: event => {
          state.encodings = event.target.checked ? [...state.encodings, one.name] : state.encodings.filter(name => name !== one.name);
          update();
        }}), ` ${one.name}`)))],
    steps: () => [select("steps", "Encoding", Object.fromEntries(known.steps.map(name => [name, name]))),
      make("span", {class: "legend"}, "← → move, Space plays")],
  };
  find("options").replaceChildren(...(rows[state.view] ?? (() => []))().filter(Boolean));
  if (active) find("options").querySelector(`[data-option="${CSS.escape(active)}"]`)?.focus();
}

function tabs() {
  const names = Object.keys(VIEWS);
  const turn = (name, focus) => {
    state.view = name;
    stopPicking();
    chosen = null;
    for (const other of names) {
      const tab = find(`tab-${other}`);
      tab.setAttribute("aria-selected", String(other === name));
      tab.setAttribute("tabindex", other === name ? "0" : "-1");
    }
    find("panel").setAttribute("aria-labelledby", `tab-${name}`);
    if (!find("help").hidden) fillHelp(find("help"), name);
    if (focus) find(`tab-${name}`).focus();
  };
  find("tabs").replaceChildren(...names.map((name, place) => make("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel",
    onclick: () => { turn(name, false); update(); },
    onkeydown: event => {
      const to = {ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: names.length - 1}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      turn(names.at(to % names.length), true);
      update();
    },
  }, VIEWS[name])));
  turn(state.view, false);
}

// ---------------------------------------------------------------- beginning

async function open(file) {
  const text = await file.text();
  if (/[\0\uFFFD]/.test(text.slice(0, MOST_ASKED))) {
    clear();
    complain(new api.Refusal(`${file.name} is no text in UTF-8; expected CoNLL-U or plain text.`));
    return;
  }
  state.at = "1";
  if (!looksLikeConllu(text)) {
    state.text = text;
    state.given = null;
  } else take(text);
  apply();
}

function take(text) {
  state.given = text;
  state.text = "";
}

const THEMES = {"": "as the system has them", light: "light", dark: "dark"};
function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  find("theme").setAttribute("aria-label", `Colours: ${THEMES[name]}`);
  try { localStorage.setItem("ropewalk-theme", name); } catch { /* nothing is kept then */ }
}

function wire() {
  const text = find("text");
  text.addEventListener("input", () => {
    state.at = "1";
    state.given = looksLikeConllu(text.value) ? text.value : null;
    state.text = state.given === null ? text.value : "";
    later();
  });
  for (const name of ["model", "against"]) find(name).addEventListener("change", event => {
    state[name] = event.target.value;
    if (name === "model" && state.given === null) refresh(); else update();
  });
  find("example").addEventListener("change", event => {
    const example = EXAMPLES[event.target.value];
    if (!example) return;
    state.at = "1";
    if (example.conllu) take(example.conllu);
    else { state.given = null; state.text = example.text; }
    apply();
  });
  find("pattern").addEventListener("change", event => {
    state.pattern = event.target.value;
    state.at = "1";
    shown = FIRST_SHOWN;
    chosen = null;
    update();
  });
  find("file").addEventListener("change", event => { if (event.target.files[0]) open(event.target.files[0]); event.target.value = ""; });
  find("undo").addEventListener("click", () => step(before, after));
  find("redo").addEventListener("click", () => step(after, before));
  find("previous").addEventListener("click", () => go(+state.at - 1));
  find("next").addEventListener("click", () => go(+state.at + 1));
  find("at").addEventListener("change", event => go(event.target.value));
  find("explain").addEventListener("click", event => {
    const help = find("help");
    help.hidden = !help.hidden;
    event.currentTarget.setAttribute("aria-expanded", String(!help.hidden));
    if (!help.hidden) fillHelp(help, state.view);
  });
  find("more").addEventListener("click", () => { shown += FIRST_SHOWN * 2; update(); });
  find("conllu").addEventListener("click", () => save("trees.conllu", blocks.join(""), "text/plain"));
  find("link").addEventListener("click", async () => {
    noteLink();
    if (!isLinkable()) { say("This is too long for a link: download the CoNLL-U, and send the file."); return; }
    say(await copy(location.href) ? "The link is copied: it holds the sentence and this view." : "Copy the link from the address bar.");
  });
  find("theme").addEventListener("click", () => {
    const names = Object.keys(THEMES);
    theme(names[(names.indexOf(document.documentElement.dataset.theme ?? "") + 1) % names.length]);
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    if (picking) { stopPicking(); say("Nothing was changed."); }
    else if (chosen && cards[chosen.sentence]) {
      cards[chosen.sentence].picture.mark(null);
      cards[chosen.sentence].details.hidden = true;
      chosen = null;
    }
  });
  let depth = 0;
  const drop = find("drop");
  document.addEventListener("dragenter", event => { event.preventDefault(); depth += 1; drop.hidden = false; });
  document.addEventListener("dragleave", () => { depth -= 1; drop.hidden = depth > 0 ? drop.hidden : true; });
  document.addEventListener("dragover", event => event.preventDefault());
  document.addEventListener("drop", event => {
    event.preventDefault();
    depth = 0;
    drop.hidden = true;
    if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
  });
  window.addEventListener("hashchange", () => { if (location.hash !== linkOf()) { readLink(); apply(); } });
}

function apply() {
  find("text").placeholder = state.given === null ? PLACEHOLDER : "CoNLL-U is shown below; type to parse text instead";
  find("text").value = state.text;
  find("pattern").value = state.pattern;
  find("model").value = state.model;
  find("against").value = state.against;
  tabs();
  refresh();
}

async function begin() {
  try { theme(localStorage.getItem("ropewalk-theme") ?? ""); } catch { theme(""); }
  find("destination").textContent = destination;
  const linked = readLink();
  wire();
  tabs();
  try {
    const [about, encodings] = await Promise.all([api.get("models"), api.get("encodings")]);
    known = encodings;
    const names = about.models.map(one => one.name);
    if (!names.includes(state.model)) state.model = about.default;
    if (!names.includes(state.against)) state.against = "";
    const named = one => [one.name, one.language].filter(Boolean).join(", ");
    find("model").append(...about.models.map(one => make("option", {value: one.name}, named(one))));
    find("against").append(make("option", {value: ""}, "nothing"), ...about.models.map(one => make("option", {value: one.name}, named(one))));
    find("version").textContent = `Ropewalk ${about.version}.`;
  } catch (error) { complain(error); return; }
  find("example").append(...EXAMPLES.map((example, place) => make("option", {value: place}, example.name)));
  document.body.append(make("datalist", {id: "relations"}, ...RELATIONS.split(" ").map(name => make("option", {value: name}))));
  if (!linked) state.text = EXAMPLES[0].text;
  apply();
}

const UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X";
const RELATIONS = "acl acl:relcl advcl advmod amod appos aux aux:pass case cc ccomp clf compound conj cop csubj dep det " +
  "discourse dislocated expl fixed flat goeswith iobj list mark nmod nmod:poss nsubj nsubj:pass nummod obj obl obl:agent " +
  "obl:tmod orphan parataxis punct reparandum root vocative xcomp";

begin();
