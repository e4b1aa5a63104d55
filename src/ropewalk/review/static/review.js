// The page of a review: a card for each suspicious word; every edit keeps the tree a tree.

const SHOWN = 30;
const content = JSON.parse(find("data").textContent);
const {sentences, predicted, suspects} = content;
const outcomes = new Map(); // what was decided of each suspect, by its number
const cards = [];
let shown = 0, changed = 0, saved = true;

const forms = block => block.split("\n").filter(isWord).map(line => line.split("\t")[1]);
const named = (words, head) => head === 0 ? "0 (root)" : `${head} ${words[head - 1]}`;
const percent = share => share === null ? "unknown" : `${(100 * share).toFixed(share < 0.01 ? 3 : 1)} %`;
const title = block => (/^#\s*sent_id\s*=\s*(\S+)$/m.exec(block) || [])[1];

// Say why heads and relations are no tree, or return an empty text. Words count from 1.
function problem(tree, rootsBefore) {
  const roots = tree.flatMap(([head], place) => head === 0 ? [place + 1] : []);
  if (roots.length !== rootsBefore) {
    return roots.length ? `Words ${roots.join(" and ")} would be roots: to move the root, take the model's whole tree.`
      : "No word would be the root: to move the root, take the model's whole tree.";
  }
  for (const [place, [head, relation]] of tree.entries()) {
    if (!Number.isInteger(head) || head < 0 || head > tree.length) return `A head is a number from 0 to ${tree.length}.`;
    if (!/^[^\s|]+$/.test(relation)) return "A relation is a word without spaces, such as obj.";
    if ((head === 0) !== (relation === "root")) return `Word ${place + 1}: the relation is root if and only if the head is 0.`;
    const seen = new Set([place + 1]);
    for (let above = head; above > 0; above = tree[above - 1][0]) {
      if (seen.has(above)) return `Words ${[...seen].join(", ")} would hang on each other in a circle: choose another head.`;
      seen.add(above);
    }
  }
  return "";
}

const treeOf = number => heads(sentences[number]).map(([head, relation]) => [Number(head), relation]);

// Put rows [word, head, relation] into a sentence, or return what is wrong with that.
function apply(number, rows) {
  const before = treeOf(number);
  const tree = before.map(row => [...row]);
  for (const [word, head, relation] of rows) tree[word - 1] = [head, relation];
  const wrong = problem(tree, before.filter(([head]) => head === 0).length);
  if (wrong) return wrong;
  for (const [word, head, relation] of rows) {
    if (String(before[word - 1]) === String([head, relation])) continue;
    sentences[number] = rehang(sentences[number], word, head, relation);
    changed += 1;
    saved = false;
  }
  return "";
}

function decide(at, outcome) {
  outcomes.set(at, outcome);
  cards.forEach((card, other) => { if (suspects[other][0] === suspects[at][0]) draw(other); });
  summarise();
}

function change(at, rows, outcome) {
  const wrong = apply(suspects[at][0], rows);
  if (wrong) complain(at, wrong); else decide(at, outcome);
}

function complain(at, message) {
  const place = cards[at].querySelector(".problem");
  place.textContent = message;
  place.hidden = false;
}

const model = at => predicted[suspects[at][0]];
const actions = {
  k: at => decide(at, "kept"),
  m: at => { const word = suspects[at][1]; change(at, [[word, ...model(at)[word - 1]]], "the model's"); },
  e: at => { const form = cards[at].querySelector("form"); form.hidden = !form.hidden; if (!form.hidden) form.elements.head.focus(); },
};
const whole = at => change(at, model(at).map(([head, relation], place) => [place + 1, head, relation]), "the model's whole tree");

function edited(at, event) {
  event.preventDefault();
  const {head, relation} = event.target.elements;
  change(at, [[suspects[at][1], head.value.trim() === "" ? NaN : Number(head.value), relation.value.trim()]], "edited");
}

function draw(at) {
  const [number, word, ofHead, ofRelation] = suspects[at];
  const words = forms(sentences[number]), [head, relation] = treeOf(number)[word - 1], [best, label] = model(at)[word - 1];
  const kinds = place => [place === word && "suspect", place === head && "annotated", place === best && "predicted"].filter(Boolean);
  const text = words.flatMap((form, place) => [
    make("span", {class: kinds(place + 1).join(" ") || null}, form, make("sub", {}, String(place + 1))), " ",
  ]);
  const row = (name, one, other, first, second) => make("tr", {}, make("th", {scope: "row"}, name),
    make("td", {}, named(words, one)), make("td", {}, other), make("td", {}, first), make("td", {}, second));
  const card = make("article", {tabindex: "0", class: outcomes.has(at) ? "done" : null, "aria-label": `Word ${words[word - 1]}`},
    make("h2", {}, `${at + 1} of ${suspects.length}, sentence ${title(sentences[number]) || number + 1}, word ${word}`),
    make("p", {class: "words", dir: "auto"}, ...text),
    make("table", {}, make("tbody", {},
      row("annotation", head, relation, `head ${percent(ofHead)}`, `relation ${percent(ofRelation)}`),
      row("model", best, label, "", ""))),
    make("div", {class: "choices"},
      button("Keep", () => actions.k(at)), button("Take the model's", () => actions.m(at)), button("Edit", () => actions.e(at)),
      button("Take the model's whole tree", () => whole(at)),
      make("span", {class: "outcome"}, outcomes.has(at) ? `Decided: ${outcomes.get(at)}` : "")),
    make("form", {hidden: true, onsubmit: event => edited(at, event)},
      make("label", {}, "Head ", make("input", {name: "head", inputmode: "numeric", value: head})),
      make("label", {}, "Relation ", make("input", {name: "relation", list: "relations", value: relation})),
      make("button", {type: "submit"}, "Apply")),
    make("p", {class: "problem", role: "alert", hidden: true}));
  card.addEventListener("keydown", event => {
    if (event.target !== card || event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key](at);
    if (event.key !== "e" && outcomes.has(at)) cards[Math.min(at + 1, cards.length - 1)].focus();
  });
  if (cards[at]) cards[at].replaceWith(card); else find("cards").append(card);
  cards[at] = card;
}

function summarise() {
  find("status").textContent = `${outcomes.size} of ${suspects.length} words reviewed, ${changed} changed`
    + `${changed ? saved ? ", saved" : ", not saved yet" : ""}.`;
}

function more() {
  for (const last = Math.min(shown + SHOWN, suspects.length); shown < last; shown += 1) draw(shown);
  find("more").hidden = shown === suspects.length;
}

find("relations").append(...content.relations.map(value => make("option", {value})));
find("more").addEventListener("click", more);
find("save").addEventListener("click", () => {
  save(content.file.endsWith(".conllu") ? content.file : `${content.file}.conllu`, sentences.join(""), "text/plain;charset=utf-8");
  saved = true;
  summarise();
});
addEventListener("beforeunload", event => { if (!saved) event.preventDefault(); });
more();
summarise();
