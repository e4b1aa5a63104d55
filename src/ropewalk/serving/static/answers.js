// What the server answers about the sentences of a large file: asked for in groups, and for each group only once.

import { groups } from "./conllu.js";

export class Answers {
  #question = null;
  #known = new Map();

  // A pair of [number of sentences, answer] for each group of at most `most` characters. `ask(conllu)` is called for
  // groups that are new or changed since the last call with the same `question`, and `tell(done)` after each of them.
  async of(question, blocks, most, ask, tell) {
    if (question !== this.#question) { this.#question = question; this.#known = new Map(); }
    const known = this.#known, found = [], used = new Map();
    let done = 0;
    for (const some of groups(blocks, most)) {
      const conllu = some.join("");
      done += some.length;
      if (!known.has(conllu)) { known.set(conllu, await ask(conllu)); tell(done); }
      used.set(conllu, known.get(conllu));
      found.push([some.length, used.get(conllu)]);
    }
    if (known === this.#known) this.#known = used;  // sentences that were edited are forgotten
    return found;
  }
}
