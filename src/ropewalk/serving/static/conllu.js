// CoNLL-U as text: sentences, and the cells of their words.

const HEAD = 6, DEPREL = 7, MISC = 9;
const CELLS = {lemma: 2, upos: 3, feats: 5};

export function split(text) {
  const tidy = text.replace(/^\uFEFF/, "").replace(/\r\n/g, "\n");
  return tidy.split(/\n[ \t]*\n/).map(block => block.replace(/^\n+|\n+$/g, "")).filter(Boolean).map(block => block + "\n\n");
}

export function looksLikeConllu(text) {
  return /^(?:#[^\n]*\n)*1(?:-\d+)?\t[^\t\n]+(?:\t[^\t\n]*){8}$/m.test(text.replace(/\r\n/g, "\n"));
}

const isWord = line => /^\d+\t/.test(line);

export const heads = block => block.split("\n").filter(isWord).map(line => line.split("\t").slice(HEAD, DEPREL + 1));

// Hang a word on another head; what the model thought of its old place is no longer true.
export function rehang(block, word, head, relation) {
  const lines = block.split("\n").filter(line => !line.startsWith("# confidence ="));
  return lines.map(line => {
    if (!isWord(line) || parseInt(line, 10) !== word) return line;
    const cells = line.split("\t");
    cells[HEAD] = String(head);
    cells[DEPREL] = relation;
    cells[MISC] = cells[MISC].split("|").filter(part => !part.startsWith("Confidence=")).join("|") || "_";
    return cells.join("\t");
  }).join("\n");
}

// Change lemma, upos or feats of a word; nothing is written as _.
export function annotate(block, word, cells) {
  return block.split("\n").map(line => {
    if (!isWord(line) || parseInt(line, 10) !== word) return line;
    const found = line.split("\t");
    for (const [name, value] of Object.entries(cells)) found[CELLS[name]] = value || "_";
    return found.join("\t");
  }).join("\n");
}

// Features as CoNLL-U sorts them; null if they are none.
export function features(text) {
  const parts = text.split(/[|\s]+/).filter(part => part && part !== "_");
  if (!parts.every(part => /^[^=|\s]+=[^=|\s]+$/.test(part))) return null;
  const key = part => part.split("=")[0].toLowerCase();
  return parts.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0)).join("|");
}

// What keeps heads from being a tree, as sentences for people; none for a tree.
export function faults(block) {
  const rows = heads(block), above = rows.map(([head]) => /^\d+$/.test(head) ? +head : null);
  const words = block.split("\n").filter(isWord).map(line => line.split("\t")[1]);
  const roots = above.filter(head => head === 0).length;
  const without = above.filter(head => head === null).length;
  const found = roots ? [] : ["No word is the root."];
  if (without) found.push(`Words without a head: ${without}.`);
  if (roots > 1) found.push(`${roots} words are roots; a tree has one.`);
  const done = new Set([0]);
  for (let start = 1; start <= above.length; start += 1) {
    const path = [];
    let word = start;
    while (!done.has(word) && !path.includes(word)) { path.push(word); word = above[word - 1] ?? 0; }
    if (!done.has(word) && path.includes(word)) {
      const circle = path.slice(path.indexOf(word));
      found.push(`These words hang on each other in a cycle: ${[...circle, word].map(one => words[one - 1]).join(" → ")}.`);
    }
    path.forEach(one => done.add(one));
  }
  return found;
}

// Blocks in groups of at most `most` characters, at least one block each.
export function groups(blocks, most) {
  const out = [];
  let size = most;
  for (const block of blocks) {
    if (size + block.length > most) { out.push([]); size = 0; }
    out.at(-1).push(block);
    size += block.length;
  }
  return out;
}

// A text in pieces of at least `least` characters, which end with a line.
export function pieces(text, least) {
  const out = [];
  for (let start = 0; start < text.length;) {
    const line = text.indexOf("\n", start + least), end = line < 0 ? text.length : line + 1;
    out.push(text.slice(start, end));
    start = end;
  }
  return out;
}

export function differences(blocks, others) {
  let words = 0, differing = 0;
  blocks.forEach((block, number) => {
    const mine = heads(block), theirs = heads(others[number] || "");
    words += mine.length;
    mine.forEach((row, place) => { differing += !theirs[place] || row.join() !== theirs[place].join(); });
  });
  return {words, differing};
}
