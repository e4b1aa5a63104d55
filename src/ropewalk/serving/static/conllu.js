// CoNLL-U as text: sentences, and the cells of their words.

const HEAD = 6, DEPREL = 7, MISC = 9;

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

export function differences(blocks, others) {
  let words = 0, differing = 0;
  blocks.forEach((block, number) => {
    const mine = heads(block), theirs = heads(others[number] || "");
    words += mine.length;
    mine.forEach((row, place) => { differing += !theirs[place] || row.join() !== theirs[place].join(); });
  });
  return {words, differing};
}
