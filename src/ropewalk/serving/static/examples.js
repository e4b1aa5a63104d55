// Sentences to begin with; those of CoNLL-U have trees of their own.

const conllu = rows => rows.map(([form, upos, head, relation], place) =>
  [place + 1, form, "_", upos, "_", "_", head, relation, "_", "_"].join("\t")).join("\n") + "\n\n";

export const EXAMPLES = [
  {name: "A rope walk", text: "She walks backwards all day, twisting hemp into rope."},
  {name: "With the telescope", text: "I saw the woman on the hill with the telescope."},
  {name: "A garden path", text: "The horse raced past the barn fell."},
  {name: "Two sentences", text: "They don't twist hemp any more. The old rope still holds, though nobody knows why."},
  {name: "Crossing arcs (CoNLL-U)", conllu: conllu([
    ["A", "DET", 2, "det"], ["hearing", "NOUN", 4, "nsubj:pass"], ["is", "AUX", 4, "aux:pass"],
    ["scheduled", "VERB", 0, "root"], ["on", "ADP", 7, "case"], ["the", "DET", 7, "det"], ["issue", "NOUN", 2, "nmod"],
    ["today", "NOUN", 4, "obl:tmod"], [".", "PUNCT", 4, "punct"],
  ])},
  {name: "Right to left (CoNLL-U)", conllu: conllu([
    ["הילדה", "NOUN", 2, "nsubj"], ["שוזרת", "VERB", 0, "root"], ["חבל", "NOUN", 2, "obj"], ["ארוך", "ADJ", 3, "amod"],
    [".", "PUNCT", 2, "punct"],
  ])},
];
