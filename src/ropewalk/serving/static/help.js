// The "?" of each view: what it shows, the four words of the idea, and a picture.

import * as api from "./api.js";
import { make } from "./dom.js";
import { element, writeBrackets } from "./picture.js";

const VIEWS = {
  tree: "An arrow leads from a head to its dependent, with their relation. Click a word to see and edit it, or drag it onto its new head.",
  ropes: "The arcs are divided into ropes and arcs that lean on them. The brackets of a word say which of them begin and end there.",
  labels: "Each row has one label per word, in an encoding that writes the tree as labels. A tagger that predicts the labels is a parser.",
  steps: "The labels are read from left to right, and each bracket is put on a stack or closes an arc. Change the labels to see other trees.",
  table: "Each row is a word with its annotation. Rows with two numbers are tokens of several words.",
  conllu: "The sentences in CoNLL-U, the format of Universal Dependencies. Edits are part of it.",
  json: "The sentences as JSON, as the API returns them. Edits are part of it.",
};
const TERMS = {
  rope: "An arc on which others lean. It is written with two superbrackets, which have a hat (^).",
  structural: "A structural arc is a rope; it is drawn solid and red. Its brackets say where it begins and ends.",
  auxiliary: "An auxiliary arc leans on a rope, which covers it and shares one of its ends. It needs one semibracket, without a hat.",
  cover: "A rope cover is a set of ropes on which all other arcs lean. The proper cover has the fewest ropes, which gives the optimal encoding its 12 labels.",
};
const EXAMPLE = [["Old", 2, "amod"], ["ropes", 3, "nsubj"], ["hold", 0, "root"], ["the", 6, "det"], ["heavy", 6, "amod"], ["boats", 3, "obj"]]
  .map(([form, head, relation], place) => `${place + 1}\t${form}\t_\t_\t_\t_\t${head}\t${relation}\t_\t_\n`).join("") + "\n";

let picture = null;  // asked for once

export async function fillHelp(place, view) {
  const holder = make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Picture of ropes"});
  place.replaceChildren(make("p", {}, VIEWS[view]),
    make("dl", {}, ...Object.entries(TERMS).flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])), holder);
  picture ??= api.draw({conllu: EXAMPLE, cover: "proper", bracketing: true, tags: false}).then(([one]) => one.picture);
  try {
    const svg = element(await picture);
    writeBrackets(svg);
    holder.replaceChildren(svg);
  } catch { picture = null; holder.remove(); }
}
