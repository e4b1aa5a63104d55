// A tree that stands upright: one word below the other, with arcs on the left, for sentences wider than the screen.

const ROW = 30, LEVEL = 13, EDGE = 14, APART = 5, LETTER = 9.5, TAG = 7, TOKENS = 90;

// The level of each arc: above all shorter ones that it covers or meets.
function levels(arcs) {
  const found = new Map(), done = [];
  for (const arc of [...arcs].sort((a, b) => a.high - a.low - (b.high - b.low))) {
    const under = done.filter(other => other.low < arc.high && arc.low < other.high).map(other => found.get(other));
    found.set(arc, 1 + Math.max(0, ...under));
    done.push(arc);
  }
  return found;
}

const escaped = text => String(text).replace(/[&<>"]/g, one => `&#${one.charCodeAt(0)};`);

export function upright(sentence, {tags}) {
  const {words} = sentence;
  const arcs = words.filter(word => word.head).map(word => (
    {word, low: Math.min(word.head, word.index), high: Math.max(word.head, word.index)}));
  const level = levels(arcs), left = EDGE + 26 + LEVEL * Math.max(1, ...level.values());
  const widest = LETTER * Math.max(...words.map(word => word.text.length)), second = left + 10 + widest + 18;
  const y = index => EDGE + ROW * (index - 0.5);
  const tip = (x, at) => `<path class="tip" d="M${x} ${at}l-7 -3.5v7z"/>`;
  const drawn = arcs.map(arc => {
    const {word} = arc, x = left - LEVEL * level.get(arc), down = word.index > word.head ? 1 : -1;
    const from = y(word.head) + APART * down, to = y(word.index) - APART * down;
    return `<g class="arc plain" data-head="${word.head}" data-dependent="${word.index}">` +
      `<path class="line" d="M${left} ${from}H${x}V${to}H${left - 6}"/>${tip(left, to)}</g>`;
  });
  const roots = words.filter(word => !word.head).map(word =>
    `<g class="arc plain" data-head="0" data-dependent="${word.index}">` +
    `<path class="line" d="M${EDGE} ${y(word.index)}H${left - 6}"/>${tip(left, y(word.index))}</g>`);
  const texts = words.map(word => {
    const tag = tags && word.upos ? `${word.upos} ` : "";
    return `<text class="word" data-node="${word.index}" x="${left + 8}" y="${y(word.index) + 6}">${escaped(word.text)}</text>` +
      `<text class="tag" x="${second}" y="${y(word.index) + 5}">${escaped(tag + word.relation)}</text>`;
  });
  const width = second + TAG * Math.max(...words.map(word => word.relation.length + 1 + (word.upos ?? "").length)) +
    (sentence.multiword_tokens?.length ? TOKENS : EDGE);
  const height = 2 * EDGE + ROW * words.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="ropewalk upright" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}">${roots.join("")}${drawn.join("")}${texts.join("")}</svg>`;
}
